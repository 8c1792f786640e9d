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
from whorl.codegen.memory import is_supported
from whorl.debug import Debug
from whorl.errors import TimeLimitError
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Load, Var, index_const
from whorl.kernel.outline import may_stay_unoptimised
from whorl.kernel.program import For, Program, Statement, Store, While
from whorl.llvm.module import Effort, Source
from whorl.runtime.compiled import direct_call, improving
from whorl.runtime.compiled.background import compile_in_background
from whorl.runtime.compiled.compile_graph import WEIGHT_OF_FUNCTIONS
from whorl.runtime.compiled.improving import OFTEN, SECONDS_PER_BYTE, SECONDS_PER_STEP
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


PRODUCT = """shape = Constant <value = int64[2] {64, 64}> ()
  weights = ConstantOfShape <value = float[1] {0.5}> (shape)
  b = MatMul (a, weights)
  waves = Div"""


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
    entry = next(iter(used._fast_path.launches.values())).launch
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
    launch.improving.seconds = 1.0
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
    for part in (direct_call, improving):
        monkeypatch.setattr(part, "debug", Debug)
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


@pytest.mark.parametrize("of_op", [True, False])
def test_loop_over_time_is_never_compiled_quickly_and_one_of_an_op_may_be(of_op: bool) -> None:
    count = Var(INT64, "count", False)
    loop = While([], Apply(BOOL, "lt", (count, index_const(8))), applying("add"), of_op=of_op)
    assert may_stay_unoptimised(loop) is of_op


UNARY = ("Acosh", "Atan", "Cos", "Erf", "Exp", "Log", "Mish", "Sigmoid", "Sinh", "Softplus", "Sqrt", "Tanh")
"""Ops that compute a function, or several."""


@pytest.mark.parametrize("dtype", ["float", "double"])
@pytest.mark.parametrize("op", [*UNARY, "Pow"])
def test_functions_have_the_same_bits_before_they_are_optimised(op: str, dtype: str) -> None:
    text = f"""main ({dtype}[n, 4] x)
        => ({dtype}[n, 4] y, {dtype}[n, 1] first, {dtype}[4, n] columns, {dtype}[m, 4] twice) {{
      y = {op} ({"x, x" if op == "Pow" else "x"})
      zero = Constant <value = int64[1] {{0}}> ()
      one = Constant <value = int64[1] {{1}}> ()
      first = Slice (x, zero, one, one)
      columns = Transpose <perm = [1, 0]> (x)
      twice = Concat <axis = 0> (x, x)
    }}"""
    used = whorl.InferenceSession(model(text).SerializeToString())
    rng = np.random.default_rng(0)
    x = rng.normal(size=(999, 4)) * 10.0 ** rng.integers(-9, 5, (999, 4))
    x = x.astype(np.float32 if dtype == "float" else np.float64)
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42, -1e-42, 104.0, -104.0, -88.0, 1.0, -1.0]
    x[: len(special), 0] = special
    quick = bits(used.run(None, {"x": x}))
    assert len(launch_of(used).code.quick) == 5
    assert bits(used.run(None, {"x": x})) == quick
    assert not launch_of(used).code.quick


def exponentials() -> whorl.InferenceSession:
    """A session in which one nest of several computes functions, after a run of a small shape."""
    used = whorl.InferenceSession(model(STRAIGHT.replace("Div (more, x)", "Exp (more)")).SerializeToString())
    used.run(None, feeds(7))
    return used


def rows_worth(used: whorl.InferenceSession) -> int:
    """Rows for which the nest with functions loses what it takes to optimise it."""
    text = max(len(s.text) for s in launch_of(used).code.quick.values() if "alwaysinline" in s.text)
    return round(SECONDS_PER_BYTE * text / (4 * WEIGHT_OF_FUNCTIONS * SECONDS_PER_STEP))


def test_nest_that_would_lose_more_than_it_costs_is_optimised_before_its_first_run() -> None:
    used = exponentials()
    all_quick, rows = len(launch_of(used).code.quick), 2 * rows_worth(used)
    large = bits(used.run(None, feeds(rows)))
    assert len(launch_of(used).code.quick) == all_quick - 1
    assert not any("alwaysinline" in source.text for source in launch_of(used).code.quick.values())
    assert bits(used.run(None, feeds(rows))) == large
    assert not launch_of(used).code.quick


def test_what_runs_of_earlier_shapes_lost_counts() -> None:
    used = exponentials()
    all_quick, rows, shapes = len(launch_of(used).code.quick), rows_worth(used), 0
    while len(launch_of(used).code.quick) == all_quick:
        shapes += 1
        used.run(None, feeds(rows // 6 + shapes))
    assert 3 <= shapes <= 7


def test_steps_are_counted_for_powers_of_two_alone() -> None:
    used = exponentials()
    for rows in range(2, 64):
        if rows != 7:
            used.run(None, feeds(rows))
    launch = launch_of(used)
    assert launch.code.quick
    assert len(launch.counted) <= 6


def test_steps_inside_a_nest_count_and_not_only_what_it_writes() -> None:
    text = STRAIGHT.replace("(float[n, 4] x)", "(float[n, 4] x, int64[k, k] a)")
    text = text.replace("float[n, 4] waves)", "float[n, 4] waves, int64[k, k] b)")
    text = text.replace("waves = Div", "b = MatMul (a, a) waves = Div")
    used = whorl.InferenceSession(model(text).SerializeToString())
    used.run(None, {**feeds(7), "a": np.ones((3, 3), np.int64)})
    all_quick = len(launch_of(used).code.quick)
    result = used.run(None, {**feeds(8), "a": np.ones((300, 300), np.int64)})[-1]
    assert (result == 300).all()
    assert len(launch_of(used).code.quick) == all_quick - 1


def test_a_program_with_a_loop_of_its_own_is_never_compiled_quickly() -> None:
    x, y = Buffer("x", FLOAT32, (8,)), Buffer("y", FLOAT32, (8,))
    assert not emit(Program([], [x, y], [], applying("add"))).quick


def test_nests_that_only_call_kernels_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = STRAIGHT.replace("(float[n, 4] x)", "(float[n, 4] x, float[n, 64] a)")
    text = text.replace("float[n, 4] waves)", "float[n, 4] waves, float[n, 64] b)").replace("waves = Div", PRODUCT)
    compiled: list[Effort] = []

    def spy(sources: list[Source]) -> list[bytes]:
        compiled.extend(source.effort for source in sources if "packed_matmul" in source.text and "nest" in source.text)
        return objects(sources)

    objects = target.object_codes
    monkeypatch.setattr(target, "object_codes", spy)
    used = whorl.InferenceSession(model(text).SerializeToString())
    inputs = {**feeds(7), "a": np.ones((7, 64), np.float32)}
    first = bits(used.run(None, inputs))
    assert bits(used.run(None, inputs)) == first
    assert compiled == [Effort.GLUE]


@pytest.mark.skipif(
    not is_supported(), reason="the linker of this package is for other systems: LLVM links on this one"
)
def test_what_is_not_optimised_is_one_object_until_its_parts_are() -> None:
    used = session()
    used.run(None, feeds(7))
    code = launch_of(used).code
    quick = set(code.quick)
    assert len(quick) > 2 and quick.isdisjoint(code.keys) and 0 in code.keys
    used.run(None, feeds(7))
    assert quick <= launch_of(used).code.keys.keys()
