"""Products of concatenated tensors as sums of products, where one part can then leave the loop."""

import numpy as np
import pytest
from passes.bits import copied, interpreted
from passes.programs import read

from whorl.ir.graph import Module
from whorl.ir.verify import verify
from whorl.lowering.split_concat_matmul import LEAST_WIDTH, MOST_PARTS, split_matmul_of_concat


def split(text: str) -> tuple[Module, list[str]]:
    """The program after its products are taken apart, where the weights are fixed, and its ops."""
    module = read(text)
    result = copied(module)
    split_matmul_of_concat(result.main, [v for v in result.main.arguments if v.name in ("w", "b")])
    verify(result)
    rng = np.random.default_rng(0)
    feeds = {
        v.name: rng.integers(-3, 4, [2 if not isinstance(n, int) else n for n in v.type.shape]).astype(v.type.dtype)  # type: ignore[union-attr]
        for v in module.main.arguments
    }
    for a, b in zip(interpreted(module, feeds) or (), interpreted(result, feeds) or (), strict=True):
        np.testing.assert_array_equal(b, a)
    return result, [node.op.name for node in result.main.nodes]


def product(
    op: str = "MatMul(%c, %w)", rows: str = "1, ", widths=(8, 16), axis: int = -1, dtype="float32", w="24, 12", more=""
):
    names = [f"x{k}" for k in range(len(widths))]
    arguments = ", ".join(f"%{n}: {dtype}[{rows}{width}]" for n, width in zip(names, widths, strict=True))
    parts = ", ".join(f"%{n}" for n in names)
    return f"""main({arguments}, %w: {dtype}[{w}]{more}) {{
  %c: {dtype}[{rows}{sum(widths)}] = Concat({parts}) {{axis = {axis}}}
  %y: {dtype}[{rows}12] = {op}
  return y = %y
}}"""


SPLIT = {
    "product": product(),
    "axis_from_the_front": product(axis=1),
    "vector": product(rows="", axis=0),
    "named_rows": product(rows="N, "),
    "ranks": product(rows="1, 2, "),
    "double": product(dtype="float64"),
    "gemm": product("Gemm(%c, %w, %b) {alpha = 0.5, beta = 2.0}", more=", %b: float32[12]"),
    "gemm_of_a_transposed_matrix": product("Gemm(%c, %w) {transB = 1}", w="12, 24"),
    "three": product(widths=(8, 8, 8)),
}
WHOLE = {
    "narrow_part": product(widths=(LEAST_WIDTH - 1, 25 - LEAST_WIDTH)),
    "many_parts": product(widths=(8,) * (MOST_PARTS + 1), w=f"{8 * (MOST_PARTS + 1)}, 12"),
    "many_rows": product(rows="400, "),
    "no_rows": product(rows="0, "),
    "integers": product(dtype="int32"),
    "turned": product("Gemm(%c, %w) {transA = 1}", rows="24, ", widths=(8, 4), w="24, 12").replace(
        "[24, 12] = G", "[12, 12] = G"
    ),
    "rows_side_by_side": product(axis=0, rows="2, ", widths=(24, 24))
    .replace("[2, 48]", "[4, 24]")
    .replace("[2, 12]", "[4, 12]"),
}


@pytest.mark.parametrize("text", SPLIT.values(), ids=SPLIT)
def test_product_of_parts_is_a_sum_of_their_products(text):
    result, ops = split(text)
    count = ops.count("MatMul") + ops.count("Gemm")
    assert count == text.count("%x") // 2 and ops[-1] == "Add" and ops.count("Add") == count - 1
    assert result.main.results[0].name == "y" and result.main.results[0].owner is result.main.nodes[-1]


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_product_that_is_not_worth_it_remains(text):
    _, ops = split(text)
    assert ops == ["Concat", ops[-1]] and ops[-1] in ("MatMul", "Gemm")


def test_product_of_fixed_parts_or_by_a_changing_matrix_remains():
    assert split(
        product()
        .replace("%x0:", "%b:")
        .replace("(%x0, %x1)", "(%b, %b)")
        .replace("[1, 24] =", "[1, 16] =")
        .replace("w: float32[24", "w: float32[16")
    )[1] == ["Concat", "MatMul"]
    assert split(product().replace("%w", "%v"))[1] == ["Concat", "MatMul"]
