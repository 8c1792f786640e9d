"""Regions measured in onnxruntime: those that are faster are embedded, the others stay."""

from functools import partial

import numpy as np
import onnx
import pytest
from compilers import needs_linker
from onnx_text import model

import whorl
from whorl.api import measuring
from whorl.api.measuring import Measured

pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
pytestmark = needs_linker
TEXT = """main (float[n] x, int64 k, bool c) => (float[n] y, float[m] z) {
    w = Mul (x, scale)
    [add] y = Loop (k, "", w) <body = step (int64 i, bool go, float[n] h) => (bool on, float[n] a) {
        on = Identity (go)
        p = Add (h, x)
        a = Tanh (p)
    }>
    v = MatMul (y, square)
    [pick] z = If (c) <
        then_branch = yes () => (float[n] s) { s = Neg (v) },
        else_branch = no () => (float[n] t) { t = Abs (v) }>
}"""
FEEDS = {"x": np.linspace(-1, 1, 8, dtype=np.float32), "k": np.array(40), "c": np.array(True)}


def proto() -> onnx.ModelProto:
    made = model(TEXT)
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.float32([0.5]), "scale"))
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(8, dtype=np.float32), "square"))
    return made


def test_loop_is_measured_with_the_values_it_has_in_the_model(tmp_path):
    made = whorl.embed(proto(), tmp_path / "out.onnx", inputs=FEEDS, everything=True)
    loop, branch = (region.measured for region in made.regions)
    assert loop is not None and loop.iterations == 40 and min(loop.before_ns, loop.after_ns) > 0
    assert branch is not None and branch.iterations is None and branch.after_ns > 0
    assert all(region.op_type for region in made.regions)


def test_rounds_that_other_processes_disturb_do_not_count(monkeypatch):
    """Runs take 30 us and 5 us, two of three of them 1 ms more."""
    clock, runs = [0], [0]

    def run(nanoseconds: int) -> None:
        runs[0] += 1
        clock[0] += nanoseconds + (1_000_000 if runs[0] % 3 else 0)

    monkeypatch.setattr(measuring.time, "perf_counter_ns", lambda: clock[0])
    monkeypatch.setattr(measuring, "_MOST", 1)
    assert measuring._times([partial(run, 30_000), partial(run, 5_000)]) == [30_000, 5_000]


def test_no_iterations_are_none(tmp_path):
    made = whorl.embed(proto(), tmp_path / "out.onnx", only=["add"], inputs=FEEDS | {"k": np.array(0)}, everything=True)
    assert made.regions[0].measured is not None and made.regions[0].measured.iterations == 0
    assert made.regions[1].measured is None


@pytest.mark.parametrize("everything", [False, True])
def test_slower_regions_stay(tmp_path, monkeypatch, everything):
    times = iter([(2.0, 1.0), (1.0, 2.0)])

    def measure(*_):
        return Measured(None, *next(times))

    monkeypatch.setattr(measuring, "_measure", measure)
    made = whorl.embed(proto(), tmp_path / "out.onnx", inputs=FEEDS, everything=everything)
    assert [region.reason for region in made.regions] == ["", "" if everything else "is no faster embedded"]
    assert made.regions[1].measured == Measured(None, 1.0, 2.0)
    kinds = [node.op_type for node in onnx.load(made.model).graph.node]
    assert ("If" in kinds) is not everything and "Loop" not in kinds
    options = measuring.Onnxruntime().package.SessionOptions()
    options.register_custom_ops_library(made.library)
    session = measuring.Onnxruntime().package.InferenceSession(made.model, options)
    expected = whorl.InferenceSession(proto()).run(None, FEEDS)
    for e, actual in zip(expected, session.run(None, FEEDS), strict=True):
        np.testing.assert_allclose(actual, e, rtol=1e-5)


def test_nothing_to_embed_measures_nothing(tmp_path):
    made = whorl.embed(proto(), tmp_path / "out.onnx", keep=["add", "pick"], inputs=FEEDS)
    assert not made.library and [region.measured for region in made.regions] == [None, None]


def test_inputs_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(whorl.CompileError) as error:
        whorl.embed(proto(), tmp_path / "out.onnx", inputs=FEEDS | {"x": np.ones(3, np.float32)})
    assert error.value.message.startswith("the model does not run in onnxruntime: ")


def test_missing_package_is_named(monkeypatch):
    def refuse(name: str):
        raise ImportError(name)

    monkeypatch.setattr(measuring.importlib, "import_module", refuse)
    with pytest.raises(whorl.CompileError) as error:
        measuring.Onnxruntime()
    assert str(error.value) == "onnxruntime is not installed\n  fix: pip install onnxruntime, or do not measure"
