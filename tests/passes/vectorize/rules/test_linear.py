"""Products of many rows. The numbers are small integers, so that every order of a sum gives the same."""

import itertools

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_op


def whole(*shape):
    return (np.arange(np.prod(shape)) % 7 - 3).reshape(shape).astype(np.float32)


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize(
    ("a", "b"), [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((3,), (5, 3, 4))]
)
def test_rows_are_matrices_side_by_side(mapped, a, b):
    check_op("MatMul({0}, {1})", [whole(*a), whole(*b)], mapped)


@pytest.mark.parametrize("mapped", [m for m in itertools.product((False, True), repeat=3) if any(m)])
@pytest.mark.parametrize("transposed", [(0, 0), (1, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_products_with_factors_and_sums(mapped, transposed, dtype):
    a, b = (x.T if flag else x for x, flag in zip((whole(2, 3), whole(3, 4)), transposed, strict=True))
    op = f"{{{{transA = {transposed[0]}, transB = {transposed[1]}, alpha = 2, beta = 3}}}}"
    for c in (whole(4), whole(2, 1), whole(2, 4), whole(1)[0]):
        operands = [np.ascontiguousarray(x).astype(dtype) for x in (a, b)]
        check_op(
            f"Gemm({{0}}, {{1}}, {{2}}) {op}",
            [*operands, np.asarray(c).astype(dtype)],
            mapped,
            f"{operands[0].dtype}[*]",
        )


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("equation", ["ij,jk->ik", "ij,jk", "ij,jk->", "...j,jk->...k", "a j, j k -> k a"])
def test_rows_have_a_label_of_their_own(mapped, equation):
    check_op(f'Einsum({{0}}, {{1}}) {{{{equation = "{equation}"}}}}', [whole(2, 3), whole(3, 4)], mapped)


@pytest.mark.parametrize("mapped", [m for m in itertools.product((False, True), repeat=4) if any(m)])
@pytest.mark.parametrize(("first", "second"), [((), ()), ((2,), (4,)), ((1,), (1, 4))])
def test_zero_points_belong_to_the_row(mapped, first, second):
    zeros = [np.resize(np.array([3, -1], np.int8), shape) for shape in (first, second)]
    operands = [whole(2, 3).astype(np.int8), whole(3, 4).astype(np.int8), *zeros]
    check_op("MatMulInteger({0}, {1}, {2}, {3})", operands, mapped, "int32[*]")


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize(("a", "b"), [((2, 3), (3, 4)), ((3,), (3, 4))])
def test_scales_that_rows_share_belong_to_all(mapped, a, b):
    zero, scale = np.int8(1), np.float32(0.5)
    operands = [whole(*a).astype(np.int8), scale, zero, whole(*b).astype(np.int8), scale, zero, scale, zero]
    every = [mapped[0], False, False, mapped[1], False, False, False, False]
    check_op("QLinearMatMul({0}, {1}, {2}, {3}, {4}, {5}, {6}, {7})", operands, every, "int8[*]")


def test_determinants_belong_to_the_matrices():
    check_op("Det({0})", [whole(2, 2, 2)], [True])
