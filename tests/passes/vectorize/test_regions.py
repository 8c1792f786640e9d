"""Bodies of many rows: branches inside, and what keeps them."""

from passes.vectorize.programs import reason


def test_branches_that_may_fail_are_not_computed_for_rows_that_do_not_take_them():
    text = """main(%x: float32[n, 3], %k: int64[n], %c: bool[n]) {
      %r: float32[n] = Loop(_, _, %x, %k, %c) {scanned = (Scanned(), Scanned(), Scanned()), collected = (Collected(),)}
      body(%i: int64[], %g: bool[], %v: float32[3], %m: int64[], %d: bool[]) {
        %q: float32[] = If "pick" (%d, %v, %m)
        then(%a: float32[3], %p: int64[]) {
          %w: int64[] = Pow(%p, %p)
          %b: float32[] = Cast(%w) {to = float32}
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
    assert reason(text) == "If 'pick' is taken by some rows: Pow 'w' may fail on values that it does not see now"
