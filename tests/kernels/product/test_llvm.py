"""Machine code of products, for vectors of every width and every element type of packed weights."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from onnx_text import model

import whorl
from kernels.runs import check_kernel, machine, run_kernel
from whorl.codegen.target import host
from whorl.ir.dtypes import BY_NAME
from whorl.kernels.kernel import ANY
from whorl.kernels.product.layout import pack_matrix, words_of
from whorl.kernels.product.llvm import define_packed_matmul, row_blocks
from whorl.llvm.module import Machine, Module


def multiplied(a: np.ndarray, b: np.ndarray, kernel: str, width: int = 32, target: Machine | None = None) -> np.ndarray:
    """a @ b by the machine code of a kernel; packed weights have panels so wide."""
    (rows, inner), columns = a.shape, b.shape[1]
    result = np.full(rows * columns, np.nan, a.dtype)
    if kernel == "packed_matmul":
        arrays = [result, a.reshape(-1), pack_matrix(b, width).reshape(-1)]
        run_kernel(kernel, arrays, (rows, inner, columns, width), target)
    else:
        run_kernel(kernel, [result, a.reshape(-1), b.reshape(-1)], (inner, columns), target)
    return result.reshape(rows, columns)


@pytest.mark.parametrize("rows", [*range(1, 30), 96, 97])
def test_rows_are_cut_into_blocks_of_almost_equal_height(rows: int) -> None:
    first, heights = 0, []
    for height, start, count in row_blocks(rows, 6):
        assert start == first and height <= 6
        heights.append(height)
        first += height * count
    assert first == rows and max(heights) - min(heights) <= 1


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("rows", "inner", "columns"),
    [(1, 9, 33), (1, 0, 5), (1, 17, 100), (2, 40, 64), (3, 8, 35), (7, 17, 100), (13, 3, 65), (32, 50, 96)],
)
def test_kernel_error_is_bounded_for_every_vector_width(
    rows: int, inner: int, columns: int, dtype: str, width: int
) -> None:
    if width > host().vector_bytes:
        pytest.skip("the machine has no vectors of this width")
    target = machine(width)
    rng = np.random.default_rng(rows)
    a, b = rng.standard_normal((rows, inner)).astype(dtype), rng.standard_normal((inner, columns)).astype(dtype)
    exact = a.astype(np.longdouble) @ b.astype(np.longdouble)
    bound = inner * np.finfo(dtype).eps * (np.abs(a).astype(np.longdouble) @ np.abs(b))
    for panel in (32, 64) if rows <= 3 else (32,):
        assert np.all(np.abs(multiplied(a, b, "packed_matmul", panel, target) - exact) <= bound), panel
    if rows == 1:
        assert np.all(np.abs(multiplied(a, b, "vector_matmul", target=target) - exact) <= bound)


@pytest.mark.parametrize(
    ("stored", "has_half"), [("float16", True), ("float16", False), ("bfloat16", True), ("int8", True), ("uint8", True)]
)
@pytest.mark.parametrize(("rows", "panel"), [(1, 64), (2, 32), (7, 32)])
def test_narrow_panels_are_widened_exactly(stored: str, has_half: bool, rows: int, panel: int) -> None:
    target = machine(has_half=has_half)
    rng = np.random.default_rng(rows)
    a = rng.standard_normal((rows, 20)).astype(np.float32)
    b = (rng.standard_normal((20, 70)) * 10.0 ** rng.integers(-7, 4, (20, 70))).astype(BY_NAME[stored])
    if "int" in stored:
        b = rng.integers(0, 256, (20, 70)).astype(stored)
    wide = multiplied(a, b.astype(np.float32), "packed_matmul", panel, target)
    np.testing.assert_array_equal(multiplied(a, b, "packed_matmul", panel, target), wide)


def test_row_of_a_product_does_not_depend_on_the_other_rows() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((17, 60)).astype(np.float32), rng.standard_normal((60, 70)).astype(np.float32)
    whole = multiplied(a, b, "packed_matmul")
    for count in (1, 2, 5):
        np.testing.assert_array_equal(multiplied(a[:count], b, "packed_matmul"), whole[:count])


@pytest.mark.parametrize(("columns", "tiles"), [(1, 3), (8, 3), (9, 4), (ANY, 4)])
def test_columns_that_fit_in_a_vector_have_tiles_of_their_own(columns: int, tiles: int) -> None:
    module = Module(machine(32))
    define_packed_matmul(module, [np.dtype(np.float32)] * 3, (ANY, ANY, columns, 64))
    assert sum(name.startswith("@whorl.tile.") for name in module.definitions) == tiles


@pytest.mark.parametrize("columns", [3, 4, 16, 17, 67])
def test_product_of_few_columns_is_exact_for_any_rows(columns: int) -> None:
    text = f"product (float[n, 40] x, float[40, {columns}] w) => (float[n, {columns}] y) {{ y = MatMul(x, w) }}"
    session = whorl.InferenceSession(model(text))
    rng = np.random.default_rng(columns)
    w = rng.integers(-9, 9, (40, columns)).astype(np.float32)
    for rows in (0, 1, 3, 31, 32, 45, 130, 192, 193, 400, 577):
        x = rng.integers(-9, 9, (rows, 40)).astype(np.float32)
        np.testing.assert_array_equal(session.run(None, {"x": x, "w": w})[0], x @ w)


@pytest.mark.parametrize(
    ("width", "has_dots"), [(16, True), (32, True), (64, True), (16, False), (32, False), (64, False)]
)
@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 9, 33), (2, 0, 5), (7, 17, 100), (13, 4, 65), (32, 50, 96)])
def test_dot_products_of_bytes_are_exact(rows: int, inner: int, columns: int, width: int, has_dots: bool) -> None:
    if width > host().vector_bytes:
        pytest.skip("the machine has no vectors of this width")
    target = replace(machine(width), dot_bytes=host().dot_bytes if has_dots else 0)
    rng = np.random.default_rng(inner)
    a, b = rng.integers(0, 256, (rows, inner), np.uint8), rng.integers(-128, 128, (inner, columns)).astype(np.int8)
    a[:, ::2], b[:, ::3] = 255, -128
    words, panels = words_of(a.T).T, pack_matrix(words_of(b), 32)
    result = np.zeros(rows * columns, np.int32)
    arrays = [result, np.ascontiguousarray(words).reshape(-1), panels.reshape(-1)]
    check_kernel("packed_dots", arrays, (rows, words.shape[1], columns, 32), target)
    assert (result.reshape(rows, columns) == a.astype(np.int32) @ b.astype(np.int32)).all()


@pytest.mark.parametrize("rows", [193, 400, 577])
def test_rows_of_several_blocks_equal_a_part_of_them_and_two_threads(rows: int) -> None:
    proto = model("product (float[n, 300] x, float[300, 200] w) => (float[n, 200] y) { y = MatMul(x, w) }")
    rng = np.random.default_rng(rows)
    x, w = rng.standard_normal((rows, 300), np.float32), rng.standard_normal((300, 200), np.float32)
    results: list[np.ndarray] = []
    for threads in (1, 2):
        options = whorl.SessionOptions()
        options.intra_op_num_threads = threads
        session = whorl.InferenceSession(proto, options)
        results += [session.run(None, {"x": x[first:], "w": w})[0] for first in (0, 150, 0)]
    for result in results:
        np.testing.assert_array_equal(result, results[0][rows - len(result) :])
