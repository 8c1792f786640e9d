"""Elementwise ops of many rows: operands of other ranks are aligned behind the axis of the rows."""

import itertools

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_op

X = np.array([[0.5, -1, 3], [2, -0.0, 7]], np.float32)


@pytest.mark.parametrize("mapped", [m for m in itertools.product((False, True), repeat=2) if any(m)])
@pytest.mark.parametrize("other", [X, X[:, :1], X[0], X[0, 0]], ids=lambda x: str(np.shape(x)))
def test_operands_broadcast_as_in_one_row(mapped, other):
    check_op("Add({0}, {1})", [X, np.asarray(other)], mapped, "float32[2, 3]")
    check_op("Sub({1}, {0})", [X, np.asarray(other)], mapped, "float32[2, 3]")


@pytest.mark.parametrize("op", ["Exp", "Identity", "Not", "Cast"])
def test_ops_of_one_operand(op):
    if op == "Not":
        check_op("Not({0})", [X > 1], [True], "bool[2, 3]")
    elif op == "Cast":
        check_op("Cast({0}) {{to = int64}}", [X], [True], "int64[2, 3]")
    else:
        check_op(f"{op}({{0}})", [X], [True], "float32[2, 3]")
