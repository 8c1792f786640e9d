"""Loops inside maps: rows that go on alike, rows that end apart, and what keeps them."""

import numpy as np
import pytest
from passes.bits import assert_same_bits, copied, interpreted
from passes.programs import read
from passes.vectorize.programs import vectorized

from whorl.ops.control.flow import Loop

MAP = """main(%x: float32[n, 3], %m: int64[n], %c: bool[n], %yes: bool[]) {{
  %r: float32[n, 3], %q: float32[n] = Loop "rows" (_, _, %x, %m, %c, %yes)
    {{scanned = (Scanned(), Scanned(), Scanned()), collected = (Collected(), Collected())}}
  body(%i: int64[], %g: bool[], %v: float32[3], %k: int64[], %d: bool[], %on: bool[]) {{
    %four: int64[] = Constant() {{value = int64[] <4>}}
    %two: float32[] = Constant() {{value = float32[] <2>}}
    %one: float32[] = Constant() {{value = float32[] <1>}}
    %p: float32[3], %t: float32[] = Loop "inner" ({trip}, {condition}, %v, %one, %two) {{carried = 2}}
    body(%j: int64[], %o: bool[], %s: float32[3], %e: float32[], %w: float32[]) {{
      %u: float32[3] = Mul(%s, %w)
      %f: float32[] = Add(%e, %w)
      %a: float32[] = ReduceMax(%u) {{keepdims = 0}}
      %h: float32[] = Constant() {{value = float32[] <100>}}
      %low: bool[] = Less(%a, %h)
      %b: bool[] = Less(%f, %h)
      return {answer}, {states}
    }}
    return %g, %p, %t
  }}
  return r = %r, q = %q
}}"""


def feeds(count):
    x = np.arange(3 * count, dtype=np.float32).reshape(count, 3) + 1
    numbers = np.arange(count)
    return {"x": x, "m": numbers * 3 % 7 - 1, "c": numbers % 3 != 0, "yes": np.array(True)}


@pytest.mark.parametrize(
    ("trip", "condition", "answer", "states"),
    [
        ("%four", "_", "%o", "%u, %f"),
        ("%four", "_", "%low", "%u, %f"),
        ("%four", "%on", "%b", "%u, %f"),
        ("%k", "_", "%o", "%u, %f"),
        ("%k", "%on", "%low", "%u, %f"),
        ("%k", "%d", "%low", "%u, %f"),
        ("_", "%on", "%low", "%u, %f"),
        ("_", "%d", "%low", "%u, %f"),
        ("_", "%d", "%b", "%u, %a"),
    ],
)
@pytest.mark.parametrize("count", [0, 1, 5])
def test_each_row_goes_as_far_as_it_would_alone(trip, condition, answer, states, count):
    text = MAP.format(trip=trip, condition=condition, answer=answer, states=states)
    module, remaining = vectorized(text)
    assert "Loop 'rows'" not in remaining
    assert sum(isinstance(node.op, Loop) for node in module.nodes()) <= 1
    assert_same_bits(interpreted(copied(read(text)), feeds(count)), interpreted(module, feeds(count)))


def test_value_that_no_row_changes_is_carried_once():
    module, _ = vectorized(MAP.format(trip="%four", condition="%on", answer="%b", states="%u, %f"))
    (loop,) = (node for node in module.nodes() if isinstance(node.op, Loop))
    assert [str(value.type) for value in loop.inputs[2:4] if value] == ["float32[n, 3]", "float32[]"]


LEAVING = """main(%x: float32[n, 3], %m: int64[n]) {{
  %r: {outer} = Loop "rows" (_, _, %x, %m) {{scanned = (Scanned(), Scanned()), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %v: float32[3], %k: int64[]) {{
    %p: {inner} = Loop "inner" (%k, _, %v) {{{how}}}
    body(%j: int64[], %o: bool[], %s: {inner}) {{
      {update}
      return %o, %t
    }}
    return %g, %p
  }}
  return r = %r
}}"""


LATE = "%q: int64[] = Pow(%j, %j)\n %z: float32[] = Cast(%q) {to = float32}\n %t: float32[3] = Mul(%s, %z)"
"""It may fail at iterations that a row does not have."""


@pytest.mark.parametrize(
    ("how", "update", "why"),
    [
        (
            "carried = 1",
            LATE,
            "may fail on values that it does not see now",
        ),
        (
            "carried = 1",
            "%t: float32[*] = Concat(%s, %s) {axis = 0}",
            "Loop 'inner': carried value 0 has the shape [2*s.0] or [s.0]",
        ),
        ("last = 1", "%t: float32[3] = Exp(%s)", "collects a different number of values for each row"),
    ],
)
def test_rows_that_cannot_wait_are_the_reason(how, update, why):
    is_open = "Concat" in update
    inner, outer = ("float32[*]", "float32[*]") if is_open else ("float32[3]", "float32[n, 3]")
    text = LEAVING.format(how=how, update=update, inner=inner, outer=outer)
    assert why in vectorized(text)[1]["Loop 'rows'"]
