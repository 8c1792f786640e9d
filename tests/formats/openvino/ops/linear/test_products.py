"""Matrix products."""

import numpy as np
import pytest
from formats.openvino.one_layer import check_layer, check_node

from whorl.ops.linear.products import Gemm, MatMul, MatMulInteger, QLinearMatMul

NUMBERS = np.random.default_rng(3)


def normal(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("a", "b", "flags"),
    [
        ((2, 3), (3, 4), "nn"),
        ((3, 2), (4, 3), "tt"),
        ((3,), (4, 3), "tt"),
        ((5, 2, 3), (3,), "nt"),
        ((5, 3, 2), (5, 3, 4), "tn"),
    ],
)
def test_mat_mul_turns_the_last_two_axes_of_what_is_no_vector(a: tuple, b: tuple, flags: str) -> None:
    check_layer("MatMul", 1, [normal(*a), normal(*b)], {"transpose_a": flags[0] == "t", "transpose_b": flags[1] == "t"})


@pytest.mark.parametrize(("a", "b"), [((2, 3), (3, 4)), ((3,), (3,)), ((2, 1, 2, 3), (5, 3, 4)), ((2, 0), (0, 3))])
def test_mat_mul_written(a: tuple, b: tuple) -> None:
    check_node(MatMul(), [normal(*a), normal(*b)])


def test_mat_mul_of_integers_is_exact() -> None:
    big = np.array([[9001, -8999, 7], [5003, 9007, -1]], np.int32)
    check_node(MatMul(), [big, big.T.copy()])
    check_node(MatMul(), [big[0], big[1]])


@pytest.mark.parametrize("shape", [(4,), (2, 1), (), None], ids=str)
def test_gemm_written(shape: tuple | None) -> None:
    c = [] if shape is None else [normal(*shape).reshape(shape)]
    check_node(Gemm(alpha=0.5, beta=0.25, transA=1, transB=1), [normal(3, 2), normal(4, 3), *c])


def test_integer_products_written_are_exact() -> None:
    a, b = (NUMBERS.integers(0, 256, shape).astype(np.uint8) for shape in ((7, 600), (600, 5)))
    zeros = np.array(3, np.uint8), np.array(200, np.uint8)
    check_node(MatMulInteger(), [a, b, *zeros], dynamic=[False])
    scales = [np.array(s, np.float32) for s in (0.5, 0.25, 16)]
    inputs = [a[:, :30], scales[0], zeros[0], b[:30], scales[1], zeros[1], scales[2], np.array(90, np.uint8)]
    check_node(QLinearMatMul(), inputs, dynamic=[False])
