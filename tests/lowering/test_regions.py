"""Branches and loops inside a program: what is carried, captured, collected and read before it is overwritten."""

import numpy as np
import pytest

from lowering.graphs import check, lowered
from whorl.kernel.interpret import interpret
from whorl.lowering.expressions import Unsupported

STATES = """
main(%n: int64[], %x: {t}, %y: {t}) {{
  %a: {t}, %b: {t}, %c: {t} = Loop(%n, _, %x, %y, %x) {{carried = 3}}
  body(%i: int64[], %go: bool[], %p: {t}, %q: {t}, %r: {t}) {{
    %s: {t} = Sub(%q, %r)
    return %go, %q, %p, %s
  }}
  return a = %a, b = %b, c = %c
}}
"""
TYPES = {
    "float32[]": np.float32(1.5),
    "float32[1]": np.ones(1, np.float32),
    "float32[3]": np.arange(3, dtype=np.float32),
    "float32[0]": np.zeros(0, np.float32),
    "int8[2, 2]": np.full((2, 2), 100, np.int8),
    "float16[2]": np.array([np.nan, -0.0], np.float16),
    "float64[1, 1]": np.full((1, 1), np.inf),
}


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("trips", [0, 1, 2, 5, -1])
def test_states_that_are_exchanged_are_all_read_before_any_is_written(type, trips):
    x = TYPES[type]
    with np.errstate(all="ignore"):
        check(STATES.format(t=type), {"n": np.array(trips), "x": np.asarray(x), "y": np.asarray(x + x)}, known=("n",))


DELAYED = """
main(%n: int64[], %x: float32[3]) {
  %a: float32[3], %b: float32[3], %all: float32[k, 3], %old: float32[k, 3] = Loop(%n, _, %x, %x)
    {carried = 2, collected = (Collected(), Collected(reverse = True))}
  body(%i: int64[], %go: bool[], %p: float32[3], %q: float32[3]) {
    %f: float32[] = Cast(%i) {to = float32}
    %s: float32[3] = Add(%p, %f)
    %t: float32[3] = Mul(%s, %q)
    return %go, %s, %p, %t, %q
  }
  return a = %a, b = %b, all = %all, old = %old
}
"""


@pytest.mark.parametrize("trips", [0, 1, 4])
def test_state_of_the_iteration_before_is_what_it_was(trips):
    check(DELAYED, {"n": np.array(trips), "x": np.arange(3, dtype=np.float32)}, known=("n",))


SCATTERED = """
main(%n: int64[], %x: float32[3], %i: int64[1], %u: float32[1]) {
  %y: float32[3] = Loop(%n, _, %x, %i, %u) {carried = 1}
  body(%k: int64[], %go: bool[], %s: float32[3], %j: int64[1], %v: float32[1]) {
    %a: float32[3] = Neg(%s)
    %b: float32[3] = ScatterElements(%a, %j, %v)
    %c: float32[3] = ScatterElements(%b, %j, %v) {reduction = "add"}
    %d: float32[3] = Add(%c, %s)
    return %go, %d
  }
  return y = %y
}
"""


@pytest.mark.parametrize("trips", [0, 1, 4])
def test_scattered_results_of_each_iteration_are_scattered_into_again(trips):
    feeds = {"n": np.array(trips), "x": np.arange(3, dtype=np.float32), "i": np.array([1]), "u": np.ones(1, "f")}
    check(SCATTERED, feeds, known=("n",))


CHOICE = """
main(%c: bool[{one}], %x: {t}, %y: {t}, %z: int32[]) {{
  %p: {t}, %q: {t}, %r: int32[] = If(%c, %x, %y, %z)
  then_branch(%a: {t}, %b: {t}, %d: int32[]) {{
    %s: {t} = Add(%a, %b)
    %u: {t} = Exp(%s)
    return %s, %b, %d
  }}
  else_branch(%a: {t}, %b: {t}, %d: int32[]) {{
    %e: int32[] = Div(%d, %d)
    return %b, %a, %e
  }}
  return p = %p, q = %q, r = %r
}}
"""


@pytest.mark.parametrize("one", ["", "1", "1, 1"])
@pytest.mark.parametrize("go", [True, False])
@pytest.mark.parametrize("type", [t for t in TYPES if "int" not in t])
def test_branch_gives_tensors_numbers_and_what_it_captured(one, go, type):
    condition = np.full((1,) * len(one.replace(", ", "")), go)
    x = np.asarray(TYPES[type])
    check(CHOICE.format(one=one, t=type), {"c": condition, "x": x, "y": -x, "z": np.array(7, np.int32)})


def test_branch_that_is_not_taken_does_not_fail():
    feeds = {"c": np.array(True), "x": np.zeros(3, np.float32), "y": np.ones(3, np.float32), "z": np.array(0, np.int32)}
    text = CHOICE.format(one="", t="float32[3]")
    graph = check(text, feeds)
    arrays = [feeds[list(feeds)[n]] for n in graph.inputs] + [*graph.arrays]
    outputs = [np.empty(t.shape, t.dtype) for t in graph.outputs]
    (where,) = (n for n, array in enumerate(arrays) if array is feeds["c"])
    arrays[where] = np.array(False)
    assert interpret(graph.program, [], [*arrays, *outputs]).status != 0


SCANNED = """
main(%x: float32[{shape}], %h: float32[2]) {{
  %y: float32[2], %l: float32[2], %all: float32[{out}] = Loop(_, _, %h, %x)
    {{carried = 1, last = 1, scanned = (Scanned(axis = {axis}, reverse = {back}),),
    collected = (Collected(axis = {to}, reverse = {turned}),)}}
  body(%i: int64[], %go: bool[], %s: float32[2], %v: float32[2]) {{
    %a: float32[2] = Sub(%v, %s)
    return %go, %a, %s, %a
  }}
  return y = %y, l = %l, all = %all
}}
"""


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize(("axis", "to"), [(0, 0), (1, 1), (-1, -2), (-2, -1)])
@pytest.mark.parametrize(("back", "turned"), [(False, False), (True, False), (False, True)])
def test_slices_along_any_axis_and_direction(steps, axis, to, back, turned):
    shape, out = ([steps, 2] if n in (0, -2) else [2, steps] for n in (axis, to))
    text = SCANNED.format(shape=str(shape)[1:-1], out=str(out)[1:-1], axis=axis, to=to, back=back, turned=turned)
    x = np.arange(2 * steps, dtype=np.float32).reshape(shape)
    check(text, {"x": x, "h": np.array([-1, 7], np.float32)})


NESTED = """
main(%n: int64[], %m: int64[], %x: float32[2], %w: float32[2]) {
  %y: float32[2], %all: float32[k, 2] = Loop(%n, _, %x, %m, %w) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %go: bool[], %s: float32[2], %t: int64[], %v: float32[2]) {
    %a: float32[2] = Loop(%t, _, %s, %v, %i) {carried = 1}
    body(%j: int64[], %on: bool[], %p: float32[2], %u: float32[2], %o: int64[]) {
      %k: int64[] = Add(%j, %o)
      %f: float32[] = Cast(%k) {to = float32}
      %q: float32[2] = Mul(%p, %u)
      %r: float32[2] = Add(%q, %f)
      return %on, %r
    }
    %b: float32[2] = Sub(%a, %s)
    return %go, %b, %a
  }
  return y = %y, all = %all
}
"""


@pytest.mark.parametrize("outer", [0, 1, 3])
@pytest.mark.parametrize("inner", [0, 1, 2])
def test_inner_loop_captures_and_begins_anew_each_time(outer, inner):
    feeds = {"n": np.array(outer), "m": np.array(inner), "x": np.array([1, -2], np.float32)}
    check(NESTED, feeds | {"w": np.array([0.5, 2], np.float32)}, known=("n", "m"))


STOPPING = """
main(%most: int64[], %on: bool[], %x: float32[], %limit: float32[]) {
  %y: float32[], %i: int64[] = Loop(%most, %on, %x, %most, %limit) {carried = 2}
  body(%i: int64[], %go: bool[], %s: float32[], %c: int64[], %l: float32[]) {
    %t: float32[] = Add(%s, %s)
    %d: bool[] = Less(%t, %l)
    return %d, %t, %i
  }
  return y = %y, i = %i
}
"""


@pytest.mark.parametrize(("most", "limit"), [(9, 10), (2, 10), (9, 0), (0, 10), (9, np.nan)])
@pytest.mark.parametrize("on", [True, False])
def test_condition_and_trip_count_end_a_loop(most, limit, on):
    feeds = {"most": np.array(most), "on": np.array(on), "x": np.float32(1), "limit": np.float32(limit)}
    check(STOPPING, {name: np.asarray(value) for name, value in feeds.items()})


def test_node_without_a_form_that_is_not_pure_is_refused_with_its_name():
    text = "main(%x: float32[2]) {\n  %y: float32[2] = RandomNormalLike(%x)\n  return y = %y\n}"
    with pytest.raises(Unsupported, match="RandomNormalLike is not pure and has no native form"):
        lowered(text, {"x": np.zeros(2, np.float32)})


def test_output_that_nothing_reads_takes_no_memory():
    text = """
main(%x: float32[4, 4]) {
  %a: float32[2, 4], %b: float32[2, 4] = Split(%x) {output_count = 2}
  %e: float32[4, 4] = Exp(%x)
  return b = %b
}
"""
    graph = check(text, {"x": np.arange(16, dtype=np.float32).reshape(4, 4)})
    assert not graph.program.scratch and "exp" not in str(graph.program)
