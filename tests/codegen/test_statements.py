"""Statements: control flow, failures and polls, compiled and run."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.running import run_program
from whorl.codegen.emit import emit, emit_numbered
from whorl.codegen.statuses import FIRST_FAILURE
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import TRUE, Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.program import Assign, Fail, For, Poll, Program, Store, Swap, Take, When, While
from whorl.kernel.vectors import INTERLEAVED
from whorl.llvm.module import Machine

MACHINE = Machine(32, True)
N, I = Var(INT64, "n", False), Var(INT64, "i", False)


def below(a: Expr, b: Expr) -> Expr:
    return Apply(BOOL, "lt", (a, b))


def plus(a: Expr, b: int) -> Expr:
    return Apply(INT64, "add", (a, index_const(b)))


@pytest.mark.parametrize(("extent", "total"), [(5, 15), (0, 0), (-3, 0)])
def test_for_runs_its_extent_or_not_at_all(extent: int, total: int) -> None:
    body = [Assign(N, plus(N, 3))]
    assert run_program(Program([N], [], [], [For(I, index_const(extent), body)]), 0)[1].tolist() == [total]


def test_while_tests_before_each_run() -> None:
    loop = While([], below(N, index_const(10)), [Assign(N, plus(N, 4))])
    assert [run_program(Program([N], [], [], [loop]), n)[1][0] for n in (0, 10)] == [12, 10]


@pytest.mark.parametrize(("n", "expected"), [(1, 101), (9, 209)])
def test_when_takes_one_branch(n: int, expected: int) -> None:
    when = When(below(N, index_const(5)), [Assign(N, plus(N, 100))], [Assign(N, plus(N, 200))])
    assert run_program(Program([N], [], [], [when]), n)[1].tolist() == [expected]


def test_swap_exchanges_what_later_statements_read() -> None:
    a, b = Buffer("a", FLOAT32, (1,)), Buffer("b", FLOAT32, (1,))
    x, y = np.array([1], np.float32), np.array([2], np.float32)
    zero = (index_const(0),)
    doubled = Apply(FLOAT32, "mul", (Load(FLOAT32, a, zero), Const(FLOAT32, 2.0)))
    run_program(Program([], [a, b], [], [Swap(a, b), Store(a, zero, doubled)]), x, y)
    assert (x[0], y[0]) == (1, 4)


def test_failure_ends_the_program_at_once() -> None:
    body = [When(below(N, index_const(0)), [Fail(7)], []), Assign(N, index_const(1))]
    program = Program([N], [], [], body)
    assert run_program(program, -5) == (7, np.array([-5]))
    assert run_program(program, 5) == (0, np.array([1]))


def test_numbered_failures_have_statuses_in_order() -> None:
    fails = [Fail(1, reason="first"), Fail(1, reason="second")]
    body = [When(TRUE, [fail], []) for fail in fails]
    module, failures = emit_numbered(Program([], [], [], body), MACHINE)
    assert failures == fails
    assert all(f"ret i64 {FIRST_FAILURE + n}" in str(module) for n in range(2))
    assert str(module).startswith("define internal i64 @whorl_run(")


def test_poll_with_fuel_left_does_not_ask() -> None:
    assert run_program(Program([N], [], [], [Poll(1), Assign(N, index_const(3))]), 0)[1].tolist() == [3]


def test_take_has_no_code() -> None:
    a, b = Buffer("a", FLOAT32, (1,)), Buffer("b", FLOAT32, (1,))
    with pytest.raises(TypeError, match="a Take is merged into its uses before code is written"):
        emit(Program([], [a, b], [], [Take(a, b)]), MACHINE)


@pytest.mark.parametrize(("extent", "count"), [(1 << 20, INTERLEAVED[0][1]), (200, INTERLEAVED[1][1]), (8, 0)])
def test_long_loops_that_call_functions_are_interleaved(extent: int, count: int) -> None:
    x = Buffer("x", FLOAT32, (extent,))
    store = Store(x, (I,), Apply(FLOAT32, "exp", (Load(FLOAT32, x, (I,)),)))
    text = str(emit(Program([], [x], [], [For(I, index_const(extent), [store], parallel=True)]), MACHINE))
    assert ("llvm.loop.interleave.count" in text) == bool(count)
    assert not count or f'"llvm.loop.interleave.count", i32 {count}' in text
