"""How far another order of a sum may lead: at least as far as one does, and not much farther than sums are long."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whorl.api.tracing.reordering import ROUNDING, Reordering, reordering
from whorl.ir.graph import Node, Op
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.linear.einsum import Einsum
from whorl.ops.linear.products import Gemm, MatMul
from whorl.ops.reduce.cumulative import CumSum
from whorl.ops.reduce.reductions import ReduceMean, ReduceSum
from whorl.ops.windows.convolution import Conv

RNG = np.random.default_rng(3)


def normal(*shape: int, dtype: str = "float32") -> np.ndarray:
    return RNG.normal(size=shape).astype(dtype)


def of(op: Op, operands: list[Any], a: np.ndarray, b: np.ndarray, theirs: list[Any] | None = None) -> Reordering:
    result = reordering(Node(op, []), operands, theirs or operands, (a, b))
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("op", "operands", "terms"),
    [
        (MatMul(), [normal(5, 300), normal(300, 7)], 301),
        (Gemm(alpha=-0.5, transB=1), [normal(5, 64), normal(7, 64), normal(7)], 66),
        (Einsum(equation="bi,bj->ij"), [normal(100, 3), normal(100, 4)], 101),
        (Conv(), [normal(1, 8, 9, 9), normal(2, 8, 3, 3)], 73),
        (CumSum(), [normal(50), np.array(0)], 51),
        (ReduceSum(), [normal(40, 50), None], 2001),
        (ReduceMean(), [normal(40, 50), None], 2001),
    ],
)
def test_rounded_sum_and_exact_one_are_within_the_bound(op: Op, operands: list[Any], terms: int) -> None:
    wide = [x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype == np.float32 else x for x in operands]
    rounded, exact = np.asarray(op.run(*operands)), np.asarray(op.run(*wide)).astype(np.float32)
    order = of(op, operands, rounded, exact)
    assert (order.terms, order.explains) == (terms, True)
    wrong = exact + np.maximum(1, np.abs(exact))
    assert not of(op, operands, rounded, wrong).explains


def test_two_orders_of_one_sum_are_within_the_bound_and_a_lost_term_is_not() -> None:
    terms = normal(4096)
    forward, backward = np.float32(0), np.float32(0)
    for a, b in zip(terms, terms[::-1], strict=True):
        forward, backward = forward + a, backward + b
    results = np.array(forward), np.array(backward)
    assert of(ReduceSum(keepdims=0), [terms, None], *results).explains
    lost = np.array(forward - np.abs(terms).max())
    assert not of(ReduceSum(keepdims=0), [terms, None], results[0], lost).explains


def test_differences_of_operands_are_carried_on() -> None:
    a, b = normal(4, 16), normal(16, 3)
    other = a + np.float32(1e-4)
    first, second = a @ b, other @ b
    assert not of(MatMul(), [a, b], first, second).explains
    assert of(MatMul(), [a, b], first, second, [other, b]).explains


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_bound_is_that_of_the_element_type(dtype: str) -> None:
    ones = np.ones((1, 9), dtype)
    order = of(ReduceSum(), [ones, None], ones[:, :1], ones[:, :1])
    unit = ROUNDING[dtype]
    assert order.bound == pytest.approx(2 * 10 * unit / (1 - 10 * unit) * 9)


def test_ops_that_add_nothing_up_and_sums_too_long_for_their_type_have_no_bound() -> None:
    x = normal(3)
    assert reordering(Node(Add(), []), [x, x], [x, x], (x, x)) is None
    long = np.ones(5000, np.float16)
    total = np.array(5000, np.float16)
    assert reordering(Node(ReduceSum(keepdims=0), []), [long, None], [long, None], (total, total)) is None
