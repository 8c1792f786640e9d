"""Scalar expressions and the buffers that they read."""

import pytest

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import (
    FALSE,
    FUNCTIONS,
    OPS,
    TRUE,
    Apply,
    Buffer,
    Const,
    Expr,
    Load,
    Var,
    index_const,
    is_true,
    text,
)

N, M = Var(INT64, "n"), Var(INT64, "m")


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((), []),
        ((5,), ["1"]),
        ((2, 3, 4), ["12", "4", "1"]),
        ((None, 3), ["3", "1"]),
        ((2, 0, 4), ["4", "4", "1"]),
        ((1, 1), ["1", "1"]),
        ((2, N), ["n", "1"]),
        ((2, N, 1), ["n", "1", "1"]),
        ((2, 3, N), ["mul(n, 3)", "n", "1"]),
        ((N, M, 2), ["mul(2, m)", "2", "1"]),
    ],
)
def test_strides_are_row_major(shape, strides):
    shown = [text(s) if isinstance(s, Expr) else str(s) for s in Buffer("b", FLOAT32, shape).strides]
    assert [s.replace("mul(3, n)", "mul(n, 3)").replace("mul(m, 2)", "mul(2, m)") for s in shown] == strides


@pytest.mark.parametrize(
    ("expr", "shown"),
    [
        (index_const(-3), "-3"),
        (Const(FLOAT32, float("nan")), "nan"),
        (TRUE, "True"),
        (N, "n"),
        (Load(FLOAT32, Buffer("b", FLOAT32, ()), ()), "b[]"),
        (Load(FLOAT32, Buffer("b", FLOAT32, (2, 3)), (N, index_const(1))), "b[n, 1]"),
        (Apply(FLOAT32, "cast", (N,)), "cast<float32>(n)"),
        (Apply(BOOL, "lt", (N, Apply(INT64, "neg", (M,)))), "lt(n, neg(m))"),
    ],
)
def test_expression_prints_as_a_call(expr, shown):
    assert text(expr) == shown


def test_what_is_no_expression_does_not_print():
    with pytest.raises(TypeError, match="is no expression"):
        text(Expr(INT64))


def test_expressions_and_buffers_are_compared_by_identity():
    assert index_const(1) != index_const(1) and len({index_const(1), index_const(1)}) == 2
    assert Buffer("b", FLOAT32, ()) != Buffer("b", FLOAT32, ())


def test_only_the_constant_true_is_true():
    assert is_true(TRUE) and is_true(Const(BOOL, True))
    assert not is_true(FALSE) and not is_true(index_const(1)) and not is_true(Var(BOOL, "go"))


def test_functions_are_operations():
    assert FUNCTIONS < OPS and {"add", "select", "cast"} <= OPS - FUNCTIONS
