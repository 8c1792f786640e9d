"""Programs as text, and what a program knows of itself."""

from __future__ import annotations

import pytest

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Load, Var, index_const
from whorl.kernel.program import (
    Assign,
    Call,
    Fail,
    For,
    Poll,
    Program,
    Reserve,
    RunOp,
    Statement,
    Store,
    Swap,
    Take,
    When,
    While,
    text_of,
)
from whorl.ops.elementwise.arithmetic import Neg

I, N, GO = Var(INT64, "i", False), Var(INT64, "n", False), Var(BOOL, "go", False)
V = Var(FLOAT32, "v")
X, Y = Buffer("x", FLOAT32, (None, 3)), Buffer("y", FLOAT32, ())
GROWING = Buffer("g", FLOAT32, (N, 1), True)
ONE = Const(FLOAT32, 1.0)
CALL = RunOp(Neg(), [X, None], [GROWING, Y])
WORK: list[Statement] = [Poll(3), Poll(3, N)]

LINES: list[tuple[Statement, str]] = [
    (Assign(V, Load(FLOAT32, X, (I, index_const(2)))), "v = x[i, 2]"),
    (Store(Y, (), ONE), "y[] = 1.0"),
    (For(I, N, [Store(Y, (), ONE)], True), "parallel for i < n:\n  y[] = 1.0"),
    (For(I, index_const(0)), "for i < 0:"),
    (When(GO, [Fail()]), "if go:\n  fail 1"),
    (When(GO, [Fail()], [Fail(3)]), "if go:\n  fail 1\nelse:\n  fail 3"),
    (While([Assign(V, ONE)], GO, [Fail()]), "while:\n  v = 1.0\n  stop unless go\n  fail 1"),
    (Swap(X, Y), "swap x, y"),
    (Take(X, Y), "x = take y"),
    (Reserve(GROWING, N), "reserve g, n"),
    (CALL, "g, y = run Neg(x, _)"),
    (Call("matmul", [(X, (I, index_const(0)))], (4, N)), "matmul(x[i, 0], 4, n)"),
    (WORK[0], "poll 3"),
    (WORK[1], "poll 3 * n"),
    (Assign(V, Apply(FLOAT32, "cast", (I,))), "v = cast<float32>(i)"),
]


@pytest.mark.parametrize(("statement", "text"), LINES, ids=[type(s).__name__ for s, _ in LINES])
def test_statement_prints_as_it_is_written(statement: Statement, text: str) -> None:
    assert text_of([statement]) == text


def test_program_prints_what_it_declares() -> None:
    program = Program([N, GO], [X], [GROWING, Y], [Store(Y, (), ONE)])
    assert str(program).split("\n") == [
        "scalar n: int64",
        "scalar go: bool",
        "buffer x: float32[?, 3]",
        "scratch g: float32[n, 1], grows",
        "scratch y: float32[]",
        "y[] = 1.0",
    ]
    assert program.growing == [GROWING]


def test_blocks_are_not_shared_between_statements() -> None:
    first, second = For(I, N), For(I, N)
    first.body.append(Fail())
    assert not second.body and When(GO).then is not When(GO).then


def test_numbers_that_only_the_run_knows_are_replaced() -> None:
    call = Call("matmul", [(X, ())], (4, N, 2))
    assert call.numbers_or(-1) == (4, -1, 2) and call.dtype == FLOAT32


def test_failure_names_the_iterations_around_it() -> None:
    around = (("body of Loop 'a'", I), ("then_branch of If 'c'", None), ("body of Loop 'b'", N))
    assert Fail(1, "why", "Gather 'g'", around).iterations == [I, N]
    assert Fail().iterations == []
