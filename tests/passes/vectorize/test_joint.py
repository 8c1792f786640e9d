"""Layers in the place of what is carried, and who reads it."""

import numpy as np
from passes.bits import copied, interpreted
from passes.programs import read
from passes.vectorize.programs import kinds, vectorized

TEXT = """main(%x: float32[n, 2, 3], %h: float32[2, 3], %r: float32[3, 3]) {
  %l: float32[2, 3], %k: float32[2, 3], %y: float32[n, 2, 3] = Loop(_, _, %h, %h, %x, %r)
    {carried = 2, scanned = (Scanned(),), collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[2, 3], %b: float32[2, 3], %v: float32[2, 3], %r: float32[3, 3]) {
    %p: float32[2, 3] = MatMul(%s, %r)
    %a: float32[2, 3] = Add(%p, %v)
    %t: float32[2, 3] = Tanh(%a)
    %q: float32[2, 3] = MatMul(%b, %r)
    %c: float32[2, 3] = Add(%q, %t)
    %d: float32[2, 3] = Relu(%c)
    %o: float32[2, 3] = Sub(%d, %s)
    return %g, %t, %d, %o
  }
  return l = %l, k = %k, y = %y
}"""


def test_layers_on_each_other_become_ops_one_after_the_other():
    module, remaining = vectorized(TEXT)
    assert not remaining and list(kinds(module)).count("RNN") == 2
    rng = np.random.default_rng(0)
    for count in (0, 1, 4):
        shapes = {"x": (count, 2, 3), "h": (2, 3), "r": (3, 3)}
        feeds = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        for expected, actual in zip(interpreted(copied(read(TEXT)), feeds), interpreted(module, feeds), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
