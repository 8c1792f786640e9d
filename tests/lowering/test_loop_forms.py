"""Loops whose slices keep their axis, that concatenate, or give values of the last iteration: native as interpreted."""

import itertools

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.ir.dtypes import BY_NAME
from whorl.ir.parse import parse_module
from whorl.ir.types import Known, TensorType
from whorl.ir.verify import verify
from whorl.kernel.interpret import interpret
from whorl.kernel.verify import verify_program
from whorl.lowering.graphs import lower_graph
from whorl.ops.control.flow import Loop
from whorl.ops.control.iteration import Iteration
from whorl.runtime.compiled.loop_slices import LoopSlices, _shapes_of
from whorl.runtime.interpreter.step import Frame, Run
from whorl.runtime.limits import UNLIMITED
from whorl.runtime.session import Session

FORM = """
main(%x: {d}[*], %h: {d}[*], %n: int64[]) {{
  %y: {d}[*], %last: {d}[*], %joined: {d}[*], %stacked: {d}[*] = Loop({n}, _, %h, %x)
  {{carried = 1, scanned = (Scanned(axis = {axis}, reverse = {back}, keep_axis = True, part = {part}),), collected = (
  Collected(axis = {out}, reverse = {turned}, stack = False, part = {rows}), Collected(axis = {out}, reverse = {turned})
  ), last = 1, slices_suffice = {suffice}}}
  body(%i: int64[], %go: bool[], %s: {d}[*], %p: {d}[*]) {{
    %a: {d}[*] = Add(%s, %p)
    %b: {d}[*] = Mul(%p, %s)
    return %go, %a, %b, %a, %b
  }}
  return y = %y, last = %last, joined = %joined, stacked = %stacked
}}
"""
NESTED = """
main(%x: float32[6, 2], %h: float32[2, 2], %n: int64[]) {
  %y: float32[*], %seen: float32[*] = Loop(%n, _, %h, %x) {carried = 1, collected = (Collected(stack = False),)}
  body(%i: int64[], %go: bool[], %s: float32[*], %u: float32[*]) {
    %t: float32[*], %last: float32[*], %joined: float32[*] = Loop(_, _, %s, %u)
    {carried = 1, scanned = (Scanned(keep_axis = True, part = 2, reverse = True),), last = 1,
    collected = (Collected(axis = 1, stack = False, reverse = True, part = 2),)}
    body(%j: int64[], %on: bool[], %v: float32[*], %p: float32[*]) {
      %w: float32[*] = Add(%v, %p)
      %m: float32[*] = Mul(%p, %p)
      return %on, %w, %m, %w
    }
    %z: float32[*] = Add(%t, %last)
    return %go, %z, %joined
  }
  return y = %y, seen = %seen
}
"""
GROWING = """
main(%x: float32[N, 2], %h: float32[M, 2], %n: int64[]) {
  %y: float32[*], %last: float32[*] = Loop(%n, _, %h, %x) {carried = 1, last = 1}
  body(%i: int64[], %go: bool[], %s: float32[*], %u: float32[*]) {
    %a: float32[*] = Concat(%s, %u) {axis = 0}
    %b: float32[*] = Add(%a, %a)
    return %go, %a, %b
  }
  return y = %y, last = %last
}
"""
SCALARS = """
main(%x: float32[N], %h: float32[], %n: int64[]) {
  %y: float32[], %last: float32[], %all: float32[*] = Loop(%n, _, %h, %x)
  {carried = 1, last = 1, scanned = (Scanned(),), collected = (Collected(stack = False, reverse = True, part = 1),)}
  body(%i: int64[], %go: bool[], %s: float32[], %p: float32[]) {
    %a: float32[] = Add(%s, %p)
    %b: float32[] = Mul(%p, %s)
    return %go, %a, %b, %a
  }
  return y = %y, last = %last, all = %all
}
"""


def form(axis: int, back: bool, part: int, out: int, turned: bool, trips: int, dtype: str = "float32", **how):
    """The text of a loop over parts of a tensor of rank 3, and its feeds."""
    rng = np.random.default_rng(0)
    piece = [2, 3, 2]
    piece[axis] = part
    whole = list(piece)
    whole[axis] = part * trips + how.pop("rest", 0)
    trip = how.pop("trip", None)
    text = FORM.format(
        d=dtype, axis=axis, back=back, part=part, out=out, turned=turned, rows=how.pop("rows", piece[out]),
        n="_" if trip is None else "%n", suffice=how.pop("suffice", False),
    )  # fmt: skip
    numpy_type = BY_NAME[dtype]
    x, h = (rng.integers(0, 4, shape).astype(numpy_type) for shape in (whole, piece))
    return text, {"x": x, "h": h, "n": np.array(trips if trip is None else trip)}


def by_slices(text: str, feeds: dict[str, np.ndarray]) -> list[np.ndarray] | None:
    """The outputs of the program's loop in slices, the first of two iterations; None if one fails."""
    module = parse_module(text)
    node = module.main.nodes[0]
    assert isinstance(node.op, Loop)
    inputs = [None if v is None else feeds[v.name] for v in node.inputs]
    iteration = Iteration(node.op, inputs, (0, 0))
    runner = LoopSlices(node, 0, True)
    runner.lengths[_shapes_of(iteration)] = 2
    rows = runner.run(iteration, Frame("body", 0), Run(UNLIMITED), True)
    return None if rows is None else [*iteration.state, *iteration.last, *iteration.collected(rows)]


def by_graph(text: str, feeds: dict[str, np.ndarray]) -> list[np.ndarray] | None:
    """The outputs of the whole program as one kernel program, interpreted; None if that failed."""
    known = {"n": feeds["n"].astype(object)}
    facts = [Known(TensorType(x.dtype, x.shape), known.get(name)) for name, x in feeds.items()]
    graph = lower_graph(parse_module(text).main, facts)
    verify_program(graph.program)
    values = list(feeds.values())
    outputs = [np.empty(t.shape, t.dtype) for t in graph.outputs]
    arrays = [*(values[n].copy() for n in graph.inputs), *graph.arrays, *outputs]
    outcome = interpret(graph.program, [], arrays)
    return None if outcome.status else outcome.arrays[len(arrays) - len(outputs) :]


def expected(text: str, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    module = parse_module(text)
    verify(module)
    return Session(module, backend="interpreter").execute(None, feeds)


def same(actual: list[np.ndarray] | None, required: list[np.ndarray]) -> None:
    assert actual is not None
    for f, w in zip(actual, required, strict=True):
        assert (f.dtype, f.shape) == (w.dtype, w.shape)
        np.testing.assert_array_equal(f, w)


FORMS = list(itertools.product(range(3), (False, True), (1, 2), range(3), (False, True), (1, 2, 3)))


@pytest.mark.parametrize(("axis", "back", "part", "out", "turned", "trips"), FORMS[::5])
def test_loop_of_a_graph_equals_the_interpreter(axis, back, part, out, turned, trips):
    text, feeds = form(axis, back, part, out, turned, trips)
    same(by_graph(text, feeds), expected(text, feeds))


@pytest.mark.parametrize("case", FORMS[::17], ids=str)
def test_loop_of_its_own_equals_the_interpreter(case):
    text, feeds = form(*case)
    same(by_slices(text, feeds), expected(text, feeds))


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint64", "float64"])
def test_element_types(dtype):
    text, feeds = form(1, True, 2, 1, True, 3, dtype)
    required = expected(text, feeds)
    same(by_graph(text, feeds), required)
    same(by_slices(text, feeds), required)


REMAINING = """
main(%x: {d}[4, 3], %h: {d}[1, 3], %q: {d}[4], %n: int64[]) {{
  %y: {d}[1, 3], %old: {d}[1, 3], %last: {d}[], %rows: {d}[N, 3], %row: {d}[1, M] = Loop(%n, _, %h, %x, %q)
  {{carried = 1, last = 2, scanned = (Scanned(keep_axis = True, reverse = True), Scanned()), collected = (
  Collected(stack = False, part = 1, reverse = True), Collected(axis = 1, stack = False, part = 3))}}
  body(%i: int64[], %go: bool[], %s: {d}[1, 3], %p: {d}[1, 3], %z: {d}[]) {{
    return %go, %p, %s, %z, %p, %s
  }}
  return y = %y, old = %old, last = %last, rows = %rows, row = %row
}}
"""


@pytest.mark.parametrize("dtype", sorted(set(BY_NAME) - {"complex64", "complex128", "string"}))
def test_every_element_type_is_retained(dtype):
    rng, kind = np.random.default_rng(0), BY_NAME[dtype]
    shapes = {"x": (4, 3), "h": (1, 3), "q": (4,)}
    feeds = {name: rng.integers(0, 2, shape).astype(np.float32).astype(kind) for name, shape in shapes.items()}
    text, feeds = REMAINING.format(d=dtype), feeds | {"n": np.array(3)}
    actual = by_slices(text, feeds)
    assert actual is not None
    for f, e in zip(actual, expected(text, feeds), strict=True):
        assert (f.dtype, f.shape, f.tobytes()) == (e.dtype, e.shape, e.tobytes())


@pytest.mark.parametrize("trip", [1, 2, 3])
def test_fewer_iterations_than_slices(trip):
    text, feeds = form(0, True, 2, 0, True, 3, trip=trip, suffice=True, rest=1)
    required = expected(text, feeds)
    assert required[2].shape[0] == 2 * trip
    same(by_graph(text, feeds), required)
    same(by_slices(text, feeds), required)


def test_more_iterations_than_slices_fail():
    text, feeds = form(0, False, 1, 0, False, 3, trip=4, suffice=True)
    with pytest.raises(RunError, match="iteration 3 takes a slice of scanned input 0, which has 3"):
        expected(text, feeds)
    assert by_graph(text, feeds) is None
    with pytest.raises(RunError, match="iteration 3 takes a slice"):
        Session(parse_module(text), backend="native").execute(None, feeds)


def test_slices_that_need_not_suffice_end_the_loop():
    text, feeds = form(0, False, 1, 0, False, 3, trip=4)
    same(by_graph(text, feeds), expected(text, feeds))


@pytest.mark.parametrize("run", ["interpreter", "native"])
def test_no_iteration_has_no_last_value(run):
    text, feeds = form(0, False, 1, 0, False, 0)
    with pytest.raises(RunError, match="no iteration ran, so there is no last value"):
        Session(parse_module(text), backend=run).execute(None, feeds)


@pytest.mark.parametrize("run", ["interpreter", "native"])
def test_no_iteration_concatenates_nothing(run):
    text, feeds = form(1, False, 2, 1, True, 0)
    text = text.replace("%last: float32[*], ", "").replace(", last = 1", "").replace("last = %last, ", "")
    text = text.replace("return %go, %a, %b, %a, %b", "return %go, %a, %a, %b")
    y, combined, stacked = Session(parse_module(text), backend=run).execute(None, feeds)
    np.testing.assert_array_equal(y, feeds["h"])
    assert (combined.shape, stacked.shape) == ((2, 0, 2), (2, 0, 2, 2))


@pytest.mark.parametrize("run", ["interpreter", "native"])
def test_rest_of_a_scanned_input_is_refused(run):
    text, feeds = form(0, False, 2, 0, False, 2, rest=1)
    message = r"each iteration must be the same size: length \(5\) of axis 0 .* is not divisible by step \(2\)"
    with pytest.raises(RunError, match=message):
        Session(parse_module(text), backend=run).execute(None, feeds)


@pytest.mark.parametrize("run", ["interpreter", "native"])
def test_element_with_other_rows_is_refused(run):
    text, feeds = form(0, False, 2, 0, False, 2, rows=1)
    with pytest.raises(RunError, match="1 is expected, but actual: 2"):
        Session(parse_module(text), backend=run).execute(None, feeds)


@pytest.mark.parametrize("trips", [1, 2, 5])
def test_nested_loops_equal_the_interpreter(trips):
    feeds = {"x": np.arange(12, dtype=np.float32).reshape(6, 2), "h": np.ones((2, 2), np.float32), "n": np.array(trips)}
    required = expected(NESTED, feeds)
    same(by_slices(NESTED, feeds), required)
    same(by_graph(NESTED, feeds), required)


@pytest.mark.parametrize("trips", [1, 2, 40])
def test_last_value_of_changing_length(trips):
    feeds = {"x": np.ones((3, 2), np.float32), "h": np.zeros((1, 2), np.float32), "n": np.array(trips)}
    same(by_slices(GROWING, feeds), expected(GROWING, feeds))
    same(Session(parse_module(GROWING), backend="native").execute(None, feeds), expected(GROWING, feeds))


@pytest.mark.parametrize("trips", [1, 2, 7])
def test_scalars_are_stacked(trips):
    feeds = {"x": np.arange(7, dtype=np.float32), "h": np.array(2, np.float32), "n": np.array(trips)}
    required = expected(SCALARS, feeds)
    assert required[2].shape == (trips,)
    same(by_slices(SCALARS, feeds), required)
    same(by_graph(SCALARS, feeds), required)
    same(Session(parse_module(SCALARS), backend="native").execute(None, feeds), required)


def test_long_loop_in_slices_of_time_after_interpreted_iterations():
    text, feeds = form(0, True, 2, 1, True, 500)
    required = expected(text, feeds)
    session = Session(parse_module(text), backend="native")
    for _ in range(3):
        same(session.execute(None, feeds), required)
