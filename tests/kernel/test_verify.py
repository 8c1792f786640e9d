"""The rules of kernel programs, each broken once."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.errors import VerifyError
from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import TRUE, Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.program import Assign, Fail, For, Program, RunOp, Statement, Store, Swap, When, While
from whorl.kernel.verify import parts_in_order, verify_program
from whorl.ops.elementwise.arithmetic import Identity

F32, I64, BOOL = (np.dtype(t) for t in ("float32", "int64", "bool"))
N, GO = Var(I64, "n", False), Var(BOOL, "go", False)
X, Y, BITS = Buffer("x", F32, (4,)), Buffer("y", F32, (4,)), Buffer("bits", BOOL, (2,))
I, V, W = Var(I64, "i", False), Var(F32, "v", False), Var(F32, "w")
ONE, ZERO = Const(F32, 1.0), index_const(0)
SET = Assign(V, ONE)


def program(*body: Statement) -> Program:
    return Program([N, GO], [X, Y], [BITS], list(body))


def error(*body: Statement) -> str:
    with pytest.raises(VerifyError) as caught:
        verify_program(program(*body))
    return caught.value.message


def apply(op: str, *args: Expr, dtype: np.dtype = F32) -> Apply:
    return Apply(dtype, op, args)


def test_sound_program_passes() -> None:
    total = apply("add", V, Load(F32, X, (I,)))
    verify_program(
        program(
            SET,
            For(I, N, [Assign(V, total), Store(Y, (I,), V)]),
            While([Assign(W, V)], apply("lt", W, ONE, dtype=BOOL), [SET]),
            When(GO, [Swap(X, Y)], [Fail()]),
            For(Var(I64, "j", False), N, [Assign(V, ONE), Store(X, (ZERO,), V)], parallel=True),
        )
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([Store(X, (ZERO,), V)], "v may have no value in v"),
        ([When(GO, [SET]), Store(X, (ZERO,), V)], "v may have no value in v"),
        ([For(I, N, [SET]), Store(X, (ZERO,), V)], "v may have no value in v"),
        ([Assign(W, ONE), Assign(W, ONE)], "'w' is assigned twice"),
        ([Assign(Var(F32, "n"), ONE)], "two variables are called 'n'"),
        ([SET, For(I, N, [Assign(V, apply("add", V, ONE))], parallel=True)], "v may have no value in add(v, 1.0)"),
        ([For(I, N, [Assign(I, ZERO)])], "'i' counts and is assigned"),
        ([For(V, N)], "'v' counts and is float32, or has a value already"),
        ([Store(X, (ZERO,), ZERO)], "0 is int64, expected float32"),
        ([Store(X, (), ONE)], "'x' has 1 axes, the index 0"),
        ([Store(Buffer("z", F32, ()), (), ONE)], "'z' is not declared"),
        ([Store(X, (ZERO,), Load(F32, BITS, (ZERO,)))], "bits[0] reads a bool with 1 axes"),
        ([Store(X, (ZERO,), Load(F32, X, (ONE,)))], "an index of x[1.0] is not int64"),
        ([Swap(X, BITS)], "'x' and 'bits' trade memory and are not alike"),
        ([Fail(0)], "a failure has status 0"),
        ([RunOp(Identity(), [X], [Y])], "a call has no number"),
        ([Assign(V, apply("twice", ONE))], "twice(1.0): there is no such operation"),
        ([Assign(V, apply("add", ONE))], "add(1.0): takes no 1 operands"),
        ([Assign(V, apply("add", ONE, ZERO))], "add(1.0, 0): operands are float32, int64"),
        ([Assign(V, apply("add", ZERO, ZERO))], "add(0, 0): gives no float32"),
        ([Assign(V, apply("lt", ONE, ONE))], "lt(1.0, 1.0): gives no float32"),
        ([Assign(V, apply("select", V, V, V))], "select(v, v, v): chooses by a bool among two of the result's type"),
        ([Assign(V, apply("and", ONE, ONE))], "and(1.0, 1.0): works on bits"),
        ([Assign(V, apply("rem", ONE, ONE))], "rem(1.0, 1.0): works on integers"),
        ([Assign(GO, apply("add", TRUE, TRUE, dtype=BOOL))], "add(True, True): works on numbers"),
        ([Assign(N, apply("exp", ZERO, dtype=I64))], "exp(0): works on floats"),
        ([Assign(GO, apply("cast", ONE, dtype=BOOL))], "cast<bool>(1.0): does not convert to that"),
        ([When(ONE)], "1.0 is float32, expected bool"),
    ],
)  # fmt: skip
def test_broken_rule_is_named(body: list[Statement], message: str) -> None:
    assert error(*body) == message


def test_buffer_declared_twice_is_named() -> None:
    with pytest.raises(VerifyError, match="a buffer is declared twice"):
        verify_program(Program([], [X, X], [], []))


def test_parts_that_were_seen_are_left_out() -> None:
    x, y = Var(INT64, "x"), Var(INT64, "y")
    total = Apply(INT64, "add", (x, y))
    square = Apply(INT64, "mul", (total, total))
    seen: set[Expr] = set()
    assert parts_in_order(total, seen) == [x, y, total]
    assert parts_in_order(square, seen) == [square]
    assert parts_in_order(square, seen) == parts_in_order(x, seen) == []
    assert parts_in_order(square) == [x, y, total, square] and parts_in_order(x) == [x]
