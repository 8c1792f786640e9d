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


@pytest.mark.parametrize("mapped", [m for m in itertools.product((False, True), repeat=3) if any(m)])
def test_bounds_of_a_clip_belong_to_the_row(mapped):
    check_op("Clip({0}, {1}, {2})", [X, np.float32(-0.5), np.float32(2)], mapped, "float32[2, 3]")
    if mapped[0] or mapped[2]:
        check_op("Clip({0}, _, {1})", [X, np.array([2], np.float32)], [mapped[0], mapped[2]], "float32[2, 3]")


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
def test_slope_and_gate_fit_what_is_shared(mapped):
    check_op("PRelu({0}, {1})", [X, X[0]], mapped, "float32[2, 3]")
    check_op("SwiGLU({0}, {1})", [X, X + 1], mapped, "float32[2, 3]")


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
def test_only_the_type_of_the_second_operand_counts(mapped):
    check_op("CastLike({0}, {1})", [X, np.array([1, 2])], mapped, "int64[2, 3]")


def test_bits_of_each_element_are_read_anew():
    check_op("BitCast({0}) {{to = int32}}", [X], [True], "int32[2, 3]")
