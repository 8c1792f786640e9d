"""Constants that would make a model much larger are written as the ops that they were computed from."""

import numpy as np
from passes.programs import read

import whorl
from whorl.passes import unfold_constants
from whorl.passes.context import PassOptions
from whorl.passes.pipeline import optimize

GROWN = """main(%x: float32[{length}]) {{
  %a: float32[2] = Constant() {{value = float32[2] <1 2>}}
  %r: int64[1] = Constant() {{value = int64[1] <{times}>}}
  %t: float32[{length}] = Tile(%a, %r)
  %n: float32[{length}] = Sin(%t)
  %y: float32[{length}] = Add(%x, %n)
  return y = %y
}}"""


def optimized(times: int, **options):
    module = read(GROWN.format(times=times, length=2 * times))
    report = optimize(module, PassOptions(verify=True, **options))
    return module, report


def ops(module) -> list[str]:
    return [node.op.name for node in module.main.nodes if node.inputs]


def test_small_results_are_folded():
    assert ops(optimized(1000)[0]) == ["Add"]


def test_result_that_takes_too_much_room_becomes_its_ops_again(monkeypatch):
    monkeypatch.setattr(unfold_constants, "ROOM", 1 << 22)
    module, report = optimized(1 << 20)
    assert ops(module) == ["Tile", "Sin", "Add"]
    assert dict(report.skipped) == {("Sin", "the result would add 8 MiB to the file"): 1}
    x = np.zeros(1 << 21, np.float32)
    np.testing.assert_array_equal(whorl.run(module, {"x": x})["y"][:4], np.sin(np.float32([1, 2, 1, 2])))


def test_result_that_fits_remains_folded(monkeypatch):
    monkeypatch.setattr(unfold_constants, "ROOM", 1 << 24)
    assert ops(optimized(1 << 20)[0]) == ["Add"]


def test_expansion_bound_of_the_caller_has_instead(monkeypatch):
    monkeypatch.setattr(unfold_constants, "ROOM", 1 << 22)
    assert ops(optimized(1 << 20, expansion_bound=1e9)[0]) == ["Add"]


def test_absurd_results_are_never_computed():
    module, report = optimized(1 << 45)
    assert ops(module) == ["Tile", "Sin", "Add"]
    assert ("Sin", f"the result would add {1 << 28} MiB to the file") in report.skipped
