"""The matrices by which values of a body depend on one of them."""

import numpy as np
import pytest
from passes.bits import interpreted
from passes.programs import read

from whorl.ir.build import Builder
from whorl.ir.infer import Inference
from whorl.passes.vectorize.batched import Batched
from whorl.passes.vectorize.linear_maps import Dependence, Map, NoMap

TEXT = """main(%x: float32[1, 3], %w: float32[3, 4], %u: float32[4, 3], %e: float32[5, 4], %b: float32[4],
     %z: float32[1, 2]) {{
  %k: int64[1] = Constant() {{value = int64[1] <1>}}
  %l: int64[1] = Constant() {{value = int64[1] <3>}}
  {lines}
  return r = %r
}}"""
PRODUCT = "%p: float32[1, 4] = MatMul(%x, %w)"
W = np.arange(12, dtype=np.float32).reshape(3, 4)
E = np.arange(20, dtype=np.float32).reshape(5, 4)
MATRICES = {
    "product": ([PRODUCT, "%r: float32[1, 4] = Add(%b, %p)"], W),
    "gemm": (["%r: float32[1, 4] = Gemm(%x, %u, %b) {transB = 1}"], W),
    "einsum": (['%r: float32[1, 4] = Einsum(%x, %w) {equation = "ab,bc->ac"}'], W),
    "columns": ([PRODUCT, "%r: float32[1, 2] = Slice(%p, %k, %l, %k)"], W[:, 1:3]),
    "rows": (["%c: float32[1, 5] = Concat(%z, %x) {axis = 1}", "%r: float32[1, 4] = MatMul(%c, %e)"], E[2:]),
}


def dependence(lines):
    module = read(TEXT.format(lines="\n  ".join(lines)))
    region = module.main
    known = {value: Batched(value, is_mapped=False) for value in region.arguments[1:]}
    return module, Dependence(region, region.arguments[0], known, Builder(region, Inference()))


@pytest.mark.parametrize("name", MATRICES)
def test_matrix_of_a_product_is_its_rows_and_columns(name):
    lines, expected = MATRICES[name]
    module, maps = dependence(lines)
    module.main.results = [maps.matrix(module.main.results[0])]
    zeros = {value.name: np.zeros(value.type.shape, np.float32) for value in module.main.arguments}
    (actual,) = interpreted(module, zeros | {"w": W, "u": W.T.copy(), "e": E})
    np.testing.assert_array_equal(actual, expected)


def test_value_itself_has_no_matrix():
    one = "%o: float32[1] = Constant() {value = float32[1] <1>}"
    module, maps = dependence([one, "%r: float32[1, 3] = Add(%x, %o)"])
    assert maps.map(module.main.results[0]) == Map(None)
    with pytest.raises(NoMap):
        maps.matrix(module.main.results[0])


@pytest.mark.parametrize(
    "lines",
    [
        ["%r: float32[1, 3] = Exp(%x)"],
        ["%r: float32[1, 3] = Add(%x, %x)"],
        [PRODUCT, "%r: float32[1, 4] = Mul(%p, %b)"],
        [PRODUCT, "%r: float32[1, 4] = Sub(%b, %p)"],
        [PRODUCT, "%q: float32[1, 3] = MatMul(%p, %u)", "%r: float32[1, 3] = Add(%q, %x)"],
    ],
)
def test_other_dependences_have_no_matrix(lines):
    module, maps = dependence(lines)
    with pytest.raises(NoMap):
        maps.map(module.main.results[0])
