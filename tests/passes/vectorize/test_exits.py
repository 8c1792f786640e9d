"""Loops that end early: the conditions of all iterations say when."""

import numpy as np
import pytest
from passes.vectorize.programs import check, reason

TEXT = """main(%x: float32[n], %k: int64[{k}], %yes: bool[], %most: int64[]) {{
  %s: float32[], %c: int64[], %v: float32[m] = Loop({trip}, %yes, %zero, %none, %x, %k)
    {{carried = 2, scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[], %c: int64[], %e: float32[], %q: int64[{k}]) {{
    %t: float32[] = Add(%s, %e)
    %one: int64[] = Constant() {{value = int64[] <1>}}
    %d: int64[] = Add(%c, %one)
    {condition}
    return %o, %t, %d, %t
  }}
  return s = %s, c = %c, v = %v
}}"""
START = "%zero: float32[] = Constant() {value = float32[] <0>}\n%none: int64[] = Constant() {value = int64[] <0>}\n"
SUM_BELOW = "%l: float32[] = Constant() {value = float32[] <2>}\n%o: bool[] = Less(%t, %l)"


def text(condition: str, trip: str = "_", k: str = "4") -> str:
    program = TEXT.format(condition=condition, trip=trip, k=k)
    return program.replace("  %s: float32[], %c", f"  {START}  %s: float32[], %c", 1)


FEEDS = [
    {"x": np.array(x, np.float32), "k": np.arange(4), "yes": yes, "most": most}
    for x in ([], [5], [1, 0.5], [1, 1, 1, 1], [0.5, 0.25, 9, 1])
    for yes in (True, False)
    for most in (0, 2, 9)
]


def test_sum_that_gets_to_a_limit_ends_the_loop():
    check(text(SUM_BELOW), *FEEDS)
    check(text(SUM_BELOW, "%most"), *FEEDS)


def test_index_that_only_later_iterations_have_outside_is_clamped():
    condition = (
        "%w: int64[] = Gather(%q, %i)\n%h: int64[] = Constant() {value = int64[] <2>}\n%o: bool[] = Less(%w, %h)"
    )
    check(text(condition), *FEEDS)


def test_what_ends_it_without_a_closed_form_is_the_reason():
    other = "%u: float32[] = Mul(%t, %t)\n" + SUM_BELOW.replace("%t,", "%u,")
    program = text(other).replace("return %o, %t", "return %o, %u")
    assert reason(program) == "its body may end it: carried value 's' has no closed form"


def test_loop_that_nothing_else_bounds_remains():
    program = """main(%x: float32[], %yes: bool[]) {
      %r: float32[] = Loop(_, %yes, %x) {carried = 1}
      body(%i: int64[], %g: bool[], %s: float32[]) {
        %o: bool[] = Less(%s, %s)
        return %o, %s
      }
      return r = %r
    }"""
    assert reason(program) == "its body may end it: nothing else bounds it"


@pytest.mark.parametrize("power", ["%p: int64[] = Pow(%i, %i)"])
def test_node_that_may_fail_beyond_the_end_is_the_reason(power):
    condition = f"{power}\n%o: bool[] = Less(%i, %p)"
    why = "its condition is computed for all iterations: Pow 'p' may fail on values that it does not see now"
    assert reason(text(condition)) == f"its body may end it: {why}"
