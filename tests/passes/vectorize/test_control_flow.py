"""Which loops of a module go, and what is said of those that stay."""

from passes.vectorize.programs import kinds, vectorized

TWO = """main(%x: float32[n, 3], %h: float32[3]) {
  %q: float32[n, 3] = Loop "map" (_, _, %x) {scanned = (Scanned(),), collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %v: float32[3]) {
    %b: float32[3] = Exp(%v)
    return %g, %b
  }
  %r: float32[3] = Loop "chain" (_, _, %h, %q) {carried = 1, scanned = (Scanned(),)}
  body(%i: int64[], %g: bool[], %s: float32[3], %v: float32[3]) {
    %a: float32[3] = Mul(%s, %v)
    %t: float32[3] = Tanh(%a)
    return %g, %t
  }
  return r = %r
}"""


def test_each_loop_is_looked_at_for_itself():
    module, remaining = vectorized(TWO)
    assert remaining == {"Loop 'chain'": "carried value 's' has no closed form"}
    assert [kind for kind in kinds(module) if kind in ("Exp", "Loop")] == ["Exp", "Loop"]


def test_limit_ends_the_edits():
    module, _ = vectorized(TWO, limit=0)
    assert list(kinds(module)).count("Loop") == 2
