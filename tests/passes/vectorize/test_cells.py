"""Recurrent cells written as loops: an RNN."""

import numpy as np
import pytest
from passes.bits import copied, interpreted
from passes.programs import read
from passes.vectorize.programs import kinds, reason, vectorized

BODY = """main(%x: float32[n, m, 3], %h: float32[m, 3], %r: float32[3, 3], %b: float32[3]) {{
  %l: float32[m, 3], %y: float32[n, m, 3] = Loop(_, _, %h, %x, %r, %b)
    {{carried = 1, scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[m, 3], %v: float32[m, 3], %r: float32[3, 3], %b: float32[3]) {{
    {update}
    return %g, %t, %t
  }}
  return l = %l, y = %y
}}"""
PRODUCT, GEMM = "%p: $ = MatMul(%s, %r)", "%p: $ = Gemm(%s, %r, %b) {transB = 1}"
RNG = np.random.default_rng(0)


def text(*lines: str) -> str:
    return BODY.format(update="\n    ".join(lines).replace("$", "float32[m, 3]"))


@pytest.mark.parametrize("activation", ["Tanh", "Relu", "Sigmoid"])
@pytest.mark.parametrize(
    "lines", [(PRODUCT, "%a: $ = Add(%v, %p)", "%z: $ = Add(%a, %b)"), (GEMM, "%z: $ = Add(%p, %v)")]
)
def test_activation_of_a_sum_with_a_product_is_an_rnn(lines, activation):
    program = text(*lines, f"%t: $ = {activation}(%z)")
    module, remaining = vectorized(program)
    assert not remaining and "RNN" in kinds(module) and "Loop" not in kinds(module)
    for count, batch in ((0, 2), (1, 1), (5, 3)):
        shapes = {"x": (count, batch, 3), "h": (batch, 3), "r": (3, 3), "b": (3,)}
        feeds = {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        for expected, actual in zip(interpreted(copied(read(program)), feeds), interpreted(module, feeds), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "lines",
    [
        (PRODUCT, "%a: $ = Add(%s, %p)", "%t: $ = Tanh(%a)"),
        (PRODUCT, "%a: $ = Add(%p, %p)", "%t: $ = Tanh(%a)"),
        (PRODUCT, "%a: $ = Mul(%v, %p)", "%t: $ = Tanh(%a)"),
        (PRODUCT, "%a: $ = Add(%v, %p)", "%t: $ = Exp(%a)"),
    ],
)
def test_other_updates_have_no_closed_form(lines):
    assert reason(text(*lines)) == "carried value 's' has no closed form"
