"""Programs are compiled quickly first, and optimised once a shape comes again: results keep their bits."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.codegen import target
from whorl.codegen.emit import emit
from whorl.debug import Debug
from whorl.errors import TimeLimitError
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Load, Var, index_const
from whorl.kernel.outline import may_stay_unoptimised
from whorl.kernel.program import For, Program, Statement, Store
from whorl.llvm.module import Effort
from whorl.runtime.compiled import improving
from whorl.runtime.compiled.background import compile_in_background
from whorl.runtime.compiled.improving import OFTEN
from whorl.runtime.compiled.launch import Launch

STRAIGHT = """main (float[n, 4] x) => (float[4, n] columns, float[m, 4] twice, float[n, 1] first, float[n, 4] waves) {
  squares = Mul (x, x)
  columns = Transpose <perm = [1, 0]> (squares)
  twice = Concat <axis = 0> (squares, x)
  zero = Constant <value = int64[1] {0}> ()
  one = Constant <value = int64[1] {1}> ()
  first = Slice (x, zero, one, one)
  more = Add (x, squares)
  waves = Div (more, x)
}"""


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No code is known but what the test compiles."""
    target._recent.clear()
    target._linked.clear()
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path / "cache"))


def session(backend: str = "native") -> whorl.InferenceSession:
    options = whorl.SessionOptions()
    options.intra_op_num_threads, options.backend = 1, backend
    return whorl.InferenceSession(model(STRAIGHT).SerializeToString(), options)


def feeds(rows: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(rows).normal(size=(rows, 4)).astype(np.float32)}


def bits(results: list[np.ndarray]) -> list[bytes]:
    return [x.tobytes() for x in results]


def launch_of(used: whorl.InferenceSession) -> Launch:
    """The one program of a session."""
    assert used._fast_path is not None
    (entry, _), *_ = used._fast_path.launches.values()
    return entry.launch


def test_second_run_of_a_shape_is_of_optimised_code_with_the_same_bits() -> None:
    used = session()
    expected = bits(used.run(None, feeds(7)))
    quick = launch_of(used).code
    assert quick.quick
    used.run(None, feeds(8))
    assert launch_of(used).code is quick
    assert bits(used.run(None, feeds(7))) == expected
    assert launch_of(used).code is not quick
    assert not launch_of(used).code.quick
    assert bits(used.run(None, feeds(7))) == expected


def test_shapes_that_are_all_new_are_optimised_once_they_took_long() -> None:
    used = session()
    for rows in range(2, 12):
        used.run(None, feeds(rows))
    launch = launch_of(used)
    assert launch.improving is not None
    launch.improving.seconds = launch.improving.worth
    used.run(None, feeds(12))
    assert launch.improving is None
    assert not launch.code.quick


def test_code_from_the_disk_is_optimised_too_and_then_read_from_there() -> None:
    expected = bits(session().run(None, feeds(5)))
    target._linked.clear()
    target._recent.clear()
    later = session()
    for _ in range(OFTEN):
        assert bits(later.run(None, feeds(5))) == expected
    assert later._whole is None
    assert not launch_of(later).code.quick
    target._linked.clear()
    target._recent.clear()
    last = session()
    assert bits(last.run(None, feeds(5))) == expected
    assert not launch_of(last).code.quick


def test_what_the_interpreter_serves_for_meanwhile_is_optimised_at_once() -> None:
    used = session("auto")
    used.run(None, feeds(5))
    compile_in_background(bool).result()
    used.run(None, feeds(5))
    assert not launch_of(used).code.quick


def test_runs_beside_the_one_that_optimises_have_the_same_results() -> None:
    used = session()
    expected = bits(used.run(None, feeds(300)))
    with ThreadPoolExecutor(4) as pool:
        assert all(bits(x) == expected for x in pool.map(lambda _: used.run(None, feeds(300)), range(200)))
    assert not launch_of(used).code.quick


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_children_of_a_fork_optimise_for_themselves() -> None:
    used = session()
    expected = bits(used.run(None, feeds(5)))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            same = all(bits(used.run(None, feeds(5))) == expected for _ in range(OFTEN))
            status = 0 if same and not launch_of(used).code.quick else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_code_that_cannot_be_optimised_goes_on_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    used = session()
    expected = bits(used.run(None, feeds(5)))

    def fail(*_: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(target, "_machine_code_of", fail)
    monkeypatch.setattr(improving, "debug", Debug)
    for _ in range(OFTEN + 1):
        assert bits(used.run(None, feeds(5))) == expected
    assert launch_of(used).improving is None


def test_time_limits_hold_while_code_is_optimised(monkeypatch: pytest.MonkeyPatch) -> None:
    used = session()
    expected = bits(used.run(None, feeds(5)))
    real, goes_on = target._machine_code_of, threading.Event()

    def slow(module: object, effort: Effort) -> bytes:
        goes_on.wait(10)
        return real(module, effort)

    monkeypatch.setattr(target, "_machine_code_of", slow)
    options = whorl.RunOptions()
    options.timeout = 0.05
    with pytest.raises(TimeLimitError):
        used.run(None, feeds(5), options)
    goes_on.set()
    assert bits(used.run(None, feeds(5))) == expected


def applying(op: str, count: int = 2) -> list[Statement]:
    x, y, k = Buffer("x", FLOAT32, (8,)), Buffer("y", FLOAT32, (8,)), Var(INT64, "k")
    both = Load(FLOAT32, x, (k,)), Load(FLOAT32, y, (k,))
    return [For(k, index_const(8), [Store(y, (k,), Apply(FLOAT32, op, both[:count]))])]


@pytest.mark.parametrize(("op", "may_stay"), [("add", True), ("mul", True), ("sum", False), ("maximum", False)])
def test_what_the_optimiser_may_choose_among_is_never_compiled_quickly(op: str, may_stay: bool) -> None:
    assert may_stay_unoptimised(applying(op)[0]) is may_stay


def test_functions_are_never_compiled_quickly() -> None:
    assert not may_stay_unoptimised(applying("exp", 1)[0])
    assert may_stay_unoptimised(applying("neg", 1)[0])


def test_a_program_with_a_loop_of_its_own_is_never_compiled_quickly() -> None:
    x, y = Buffer("x", FLOAT32, (8,)), Buffer("y", FLOAT32, (8,))
    assert not emit(Program([], [x, y], [], applying("add"))).quick
