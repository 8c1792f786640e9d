"""Bodies of many rows: branches and loops inside, and what keeps them."""

import pytest
from passes.vectorize.programs import reason, vectorized

INNER = """main(%x: float32[n, 3], %k: int64[n], %yes: bool[]) {{
  %r: float32[n, 3] = Loop "rows" (_, _, %x, %k, %yes) {{scanned = (Scanned(), Scanned()), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %v: float32[3], %m: int64[], %on: bool[]) {{
    %four: int64[] = Constant() {{value = int64[] <4>}}
    %q: float32[3] = Loop "inner" ({trip}, {go}, %v) {{carried = 1}}
    body(%j: int64[], %o: bool[], %s: float32[3]) {{
      %t: float32[3] = Exp(%s)
      %a: float32[] = ReduceMax(%t) {{keepdims = 0}}
      %b: bool[] = Less(%a, %a)
      return {answer}, %t
    }}
    return %g, %q
  }}
  return r = %r
}}"""


@pytest.mark.parametrize(
    ("trip", "go", "answer", "why"),
    [
        ("%m", "_", "%o", "Loop 'inner' runs a different number of times for each row"),
        ("%four", "%on", "%b", "Loop 'inner' may end at a different iteration for each row"),
    ],
)
def test_loops_inside_have_to_run_alike_for_all_rows(trip, go, answer, why):
    remaining = vectorized(INNER.format(trip=trip, go=go, answer=answer))[1]
    assert remaining["Loop 'rows'"] == why


def test_branches_that_may_fail_are_not_computed_for_rows_that_do_not_take_them():
    text = """main(%x: float32[n, 3], %k: int64[n], %c: bool[n]) {
      %r: float32[n] = Loop(_, _, %x, %k, %c) {scanned = (Scanned(), Scanned(), Scanned()), collected = (Collected(),)}
      body(%i: int64[], %g: bool[], %v: float32[3], %m: int64[], %d: bool[]) {
        %q: float32[] = If "pick" (%d, %v, %m)
        then(%a: float32[3], %p: int64[]) {
          %b: float32[] = Gather(%a, %p)
          return %b
        }
        else(%a: float32[3], %p: int64[]) {
          %b: float32[] = ReduceMax(%a) {keepdims = 0}
          return %b
        }
        return %g, %q
      }
      return r = %r
    }"""
    assert reason(text) == "If 'pick' is taken by some rows: Gather 'b' may fail on values that it does not see now"
