"""Sessions and libraries of loops that keep slice axes, concatenate or give last values."""

import numpy as np
import pytest
from compilers import needs_linker

import whorl
from whorl.errors import IterationLimitError, RunError
from whorl.ir.parse import parse_module
from whorl.runtime.limits import Limits
from whorl.runtime.session import Session

LONG = """
main(%x: float32[N, 2], %y: float32[2, N], %n: int64[], %h: float32[1, 2]) {
  %s: float32[1, 2], %last: float32[2, 1], %rows: float32[A, 2], %columns: float32[2, B] = Loop(%n, _, %h, %x, %y)
  {carried = 1, last = 1, scanned = (Scanned(keep_axis = True), Scanned(axis = 1, reverse = True, keep_axis = True)),
  collected = (Collected(stack = False, part = 1), Collected(axis = 1, reverse = True, stack = False, part = 1)),
  slices_suffice = True}
  body(%i: int64[], %go: bool[], %a: float32[1, 2], %p: float32[1, 2], %q: float32[2, 1]) {
    %half: float32[] = Constant() {value = float32[] <0.5>}
    %b: float32[1, 2] = Mul(%a, %half)
    %c: float32[1, 2] = Add(%b, %p)
    %d: float32[2, 1] = Neg(%q)
    return %go, %c, %d, %c, %d
  }
  return s = %s, last = %last, rows = %rows, columns = %columns
}
"""
READ = """
main(%x: float32[N], %table: float32[5], %n: int64[]) {
  %last: float32[1], %all: float32[A] = Loop "read" (%n, _, %x, %table)
  {last = 1, scanned = (Scanned(keep_axis = True),), collected = (Collected(stack = False, part = 1),)}
  body(%i: int64[], %go: bool[], %p: float32[1], %t: float32[5]) {
    %r: float32[] = Gather "row" (%t, %i)
    %s: float32[1] = Add(%p, %r)
    return %go, %s, %s
  }
  return last = %last, all = %all
}
"""


def feeds(length: int, trips: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((length, 2)), rng.standard_normal((2, length))
    passed = {"x": x, "y": y, "h": np.ones((1, 2))}
    return {name: value.astype(np.float32) for name, value in passed.items()} | {"n": np.array(trips)}


def same(actual: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for f, e in zip(actual, expected, strict=True):
        assert (f.dtype, f.shape) == (e.dtype, e.shape)
        np.testing.assert_array_equal(f, e)


@pytest.mark.parametrize(("length", "trips"), [(1, 1), (3, 2), (70_000, 70_000), (70_001, 69_999)])
def test_loop_of_any_length(length, trips):
    passed = feeds(length, trips)
    native, interpreted = (Session(parse_module(LONG), backend=name) for name in ("native", "interpreter"))
    expected = interpreted.execute(None, passed)
    assert expected[3].shape == (2, trips)
    for _ in range(2):
        same(native.execute(None, passed), expected)


def test_one_session_takes_lengths_that_change():
    native, interpreted = (Session(parse_module(LONG), backend=name) for name in ("native", "interpreter"))
    for length in (1, 2, 5, 9, 12, 15, 20, 21, 30, 31, 32, 50):
        passed = feeds(length, length)
        same(native.execute(None, passed), interpreted.execute(None, passed))


def test_slices_that_run_out_fail_at_their_iteration():
    session = Session(parse_module(LONG), backend="native")
    for _ in range(2):
        with pytest.raises(
            RunError, match=r"Loop 's' \(iteration 5000\): iteration 5000 takes a slice of scanned input 0"
        ):
            session.execute(None, feeds(5000, 6000))


def test_error_inside_names_its_iteration():
    x, table = np.zeros(9, np.float32), np.arange(5, dtype=np.float32)
    for backend in ("native", "interpreter"):
        session = Session(parse_module(READ), backend=backend)
        with pytest.raises(RunError, match=r"Gather 'row' in body of Loop 'read' \(iteration 5\)"):
            session.execute(None, {"x": x, "table": table, "n": np.array(9)})
        last, combined = session.execute(None, {"x": x, "table": table, "n": np.array(5)})
        assert last.tolist() == [4]
        assert combined.tolist() == [0, 1, 2, 3, 4]


def test_iterations_are_limited():
    session = Session(parse_module(LONG), backend="native")
    limits = Limits(max_iterations=100)
    with pytest.raises(IterationLimitError):
        session.execute(None, feeds(5000, 5000), limits)


@needs_linker
def test_library_gives_what_a_session_gives(tmp_path):
    whorl.compile(parse_module(LONG), tmp_path / "m.so", dims={"N": 6}, inputs={"n": 4})
    passed = feeds(6, 4)
    expected = Session(parse_module(LONG), backend="interpreter").execute(None, passed)
    library = whorl.load_compiled(tmp_path / "m.so")
    same(library.run(None, {k: v for k, v in passed.items() if k in {a.name for a in library.get_inputs()}}), expected)
    whorl.compile(parse_module(LONG), tmp_path / "open.so")
    library = whorl.load_compiled(tmp_path / "open.so")
    same(library.run(None, passed), expected)
    with pytest.raises(RunError, match="Loop 's'"):
        library.run(None, feeds(3, 4))
