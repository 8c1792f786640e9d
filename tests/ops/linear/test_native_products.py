"""Native matrix products, interpreted: by sums, by loops, by kernels and from panels, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from native_forms import run_form
from onnx_text import model
from runtime.native_sessions import session

from whorl.ir.dtypes import FLOAT32
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View
from whorl.lowering.builder import KernelBuilder
from whorl.ops.linear.native_products import block_rows, multiply_views, pack_columns, product_lengths
from whorl.ops.native.index_maps import transpose_view

RNG = np.random.default_rng(0)


def whole(*shape: int, dtype: type = np.float32) -> np.ndarray:
    """Whole numbers, whose sums are exact in any order."""
    return RNG.integers(-3, 4, shape).astype(dtype)


SHAPES = [
    ((2, 3), (3, 2)), ((1, 5), (5, 1)), ((3, 9), (9, 20)), ((1, 40), (40, 20)), ((13, 8), (8, 17)), ((4,), (4,)),
    ((4,), (4, 3)), ((2, 1, 3, 4), (5, 4, 2)), ((2, 3, 4), (4, 6)), ((0, 3), (3, 2)), ((2, 0), (0, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_product_of_any_ranks_is_that_of_numpy(left: tuple[int, ...], right: tuple[int, ...], dtype: type) -> None:
    a, b = whole(*left, dtype=dtype), whole(*right, dtype=dtype)
    np.testing.assert_array_equal(run_form(multiply_views, a, b), np.matmul(a, b))
    assert product_lengths(left, right) == np.matmul(a, b).shape


@pytest.mark.parametrize("rows", [1, 3, 13])
def test_product_with_a_transposed_matrix(rows: int) -> None:
    def write(k: KernelBuilder, a: View, b: View) -> View:
        return multiply_views(k, a, transpose_view(k, b, (1, 0)))

    a, b = whole(rows, 24), whole(30, 24)
    np.testing.assert_array_equal(run_form(write, a, b), a @ b.T)


def test_product_with_panels_made_before() -> None:
    def write(k: KernelBuilder, a: View, b: View) -> View:
        return multiply_views(k, a, b, k.view_of(pack_columns(k, b, 8)))

    a, b = whole(6, 5), whole(5, 19)
    np.testing.assert_array_equal(run_form(write, a, b), a @ b)


@pytest.mark.parametrize(("columns", "zeros"), [(3, 13), (16, 0), (70, 10), (64, 0), (129, 15)])
def test_vectors_behind_the_last_column_are_filled_with_zeros(columns: int, zeros: int) -> None:
    """What was not written may not be read here."""

    def write(k: KernelBuilder, b: View) -> View:
        panels, width = pack_columns(k, b, 64), k.const(64)

        def at(index: Index) -> Expr:
            row, column = index
            panel = k.div(column, width)
            return k.load(panels, (panel, row, k.sub(column, k.mul(panel, width))))

        return k.view(b.dtype, (5, columns + zeros), at, 1)

    b = whole(5, columns)
    np.testing.assert_array_equal(run_form(write, b), np.pad(b, ((0, 0), (0, zeros))))


@pytest.mark.parametrize("rows", [1, 23, 145, 1000, 4097])
def test_blocks_of_rows_are_about_equal_and_bounded(rows: int) -> None:
    height = block_rows(rows, 512, FLOAT32)
    assert 1 <= height <= 144
    blocks = -(-rows // height)
    assert rows > (blocks - 1) * height and (blocks == 1 or height * blocks - rows < height)


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 16, 17, 40])
@pytest.mark.parametrize("is_fixed", [True, False])
def test_product_of_any_number_of_rows_by_few_columns(columns: int, is_fixed: bool) -> None:
    """Rows from 32 on take panels, and one vector holds the columns where there are at most as many as lanes."""
    matrix = whole(5, columns)
    elements = ", ".join(map(str, matrix.ravel().astype(int).tolist()))
    inputs = "float[n, 5] x" if is_fixed else f"float[n, m] x, float[m, {columns}] w"
    constants = f"<float[5, {columns}] w = {{{elements}}}>" if is_fixed else ""
    made = session(model(f"main ({inputs}) => (float[n, {columns}] y) {constants} {{ y = MatMul(x, w) }}"))
    for rows in (1, 2, 31, 32, 33, 100, 205):
        x = whole(rows, 5)
        (y,) = made.run(None, {"x": x} if is_fixed else {"x": x, "w": matrix})
        np.testing.assert_array_equal(y, x @ matrix)
    assert {verdict.how for verdict in made.explain()} == {"native"}
