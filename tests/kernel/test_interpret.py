"""The interpreter of kernel programs: statements, exact scalars, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whorl.errors import VerifyError
from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.interpret import Outcome, interpret
from whorl.kernel.program import Assign, Fail, For, Program, RunOp, Statement, Store, Swap, When, While
from whorl.kernel.watched_memory import Path, WatchedMemory
from whorl.ops.elementwise.arithmetic import Neg

F32, I64, BOOL = (np.dtype(t) for t in ("float32", "int64", "bool"))
N = Var(I64, "n", False)
I, J, V = Var(I64, "i", False), Var(I64, "j", False), Var(F32, "v", False)
X, Y = Buffer("x", F32, (2, 3)), Buffer("y", F32, (2, 3))
SCRATCH = Buffer("s", F32, (2, 3))
ZERO, ONE = index_const(0), index_const(1)


def run(*body: Statement, n: int = 0, calls: list[RunOp] | None = None) -> Outcome:
    program = Program([N], [X, Y], [SCRATCH], list(body), calls or [])
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    return interpret(program, [n], [x, np.zeros_like(x)])


def apply(op: str, *args: Expr, dtype: Any = None) -> Apply:
    return Apply(args[0].dtype if dtype is None else np.dtype(dtype), op, args)


def copy(row: Expr, column: Expr) -> list[Statement]:
    return [Store(Y, (row, column), Load(F32, X, (row, column)))]


def test_nest_copies_tensor() -> None:
    outcome = run(For(I, index_const(2), [For(J, index_const(3), copy(I, J), parallel=True)], parallel=True))
    assert outcome.status == 0
    np.testing.assert_array_equal(outcome.arrays[1], outcome.arrays[0])


def test_parallel_loop_runs_backwards() -> None:
    body: list[Statement] = [Assign(N, I)]
    assert run(For(I, index_const(3), body)).scalars == [2]
    assert run(For(I, index_const(3), body, parallel=True)).scalars == [0]


def test_last_index_may_run_over_axes_of_index_zero() -> None:
    assert run(*copy(ZERO, index_const(5))).arrays[1][1, 2] == 5
    with pytest.raises(VerifyError, match=r"x\[1, 3\] is at \[1, 3\] of \[2, 3\]"):
        run(*copy(ONE, index_const(3)))


def test_index_is_read_once_also_behind_axes_of_index_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []
    touch = WatchedMemory.touch

    def count(memory: WatchedMemory, path: Path, position: int, writes: bool, name: str) -> None:
        reads.extend([position] * (name == "i" and not writes))
        touch(memory, path, position, writes, name)

    monkeypatch.setattr(WatchedMemory, "touch", count)
    i = Buffer("i", I64, (1,))
    body: list[Statement] = [Store(Y, (ZERO, Load(I64, i, (ZERO,))), Const(F32, 1))]
    arrays = [np.array([4]), np.zeros((2, 3), np.float32)]
    outcome = interpret(Program([], [i, Y], [], body), [], arrays)
    assert (outcome.arrays[1][1, 1], reads) == (1, [0])


@pytest.mark.parametrize("count", [1, 60, 5000])
def test_expression_is_as_deep_as_it_may_be_and_its_parts_are_computed_once(count: int) -> None:
    value, total = Load(F32, X, (ZERO, ONE)), Apply(I64, "add", (N, ZERO))
    for _ in range(count):
        value, total = apply("min", value, value), apply("add", total, ONE)
    outcome = run(Store(Y, (ZERO, ZERO), value), Assign(N, total), n=7)
    assert (outcome.scalars, outcome.arrays[1][0, 0]) == ([7 + count], 1)


def test_swap_trades_memory() -> None:
    outcome = run(Swap(X, Y), *copy(ZERO, ONE))
    assert outcome.arrays[1][0, 1] == 0 and outcome.arrays[0][0, 2] == 0 and outcome.arrays[1][0, 2] == 2


def test_while_stops_before_its_body() -> None:
    count = Assign(N, apply("add", N, ONE))
    loop = While([count], apply("lt", N, index_const(4), dtype=BOOL), [count])
    assert run(loop).scalars == [5]


def test_failure_ends_program_with_its_status() -> None:
    outcome = run(When(apply("eq", N, ZERO, dtype=BOOL), [Fail(3)], []), Assign(N, ONE))
    assert (outcome.status, outcome.scalars) == (3, [0])


def test_op_runs_on_buffers_or_ends_program() -> None:
    negate = RunOp(Neg(), [X], [SCRATCH])
    value = Store(Y, (ONE, ONE), Load(F32, SCRATCH, (ONE, ONE)))
    assert run(negate, value, calls=[negate]).arrays[1][1, 1] == -4
    short = Buffer("t", F32, (3,))
    x, y = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)
    wrong = RunOp(Neg(), [X], [short])
    assert interpret(Program([], [X, Y], [short], [wrong], [wrong]), [], [x, y]).status == 1


def test_element_that_no_one_wrote_is_refused() -> None:
    with pytest.raises(VerifyError, match=r"s\[0, 1\] at \[0, 1\] was never written"):
        run(Assign(V, Load(F32, SCRATCH, (ZERO, ONE))))


def test_variable_without_value_is_refused() -> None:
    with pytest.raises(VerifyError, match="'v' has no value"):
        run(Store(X, (ZERO, ZERO), V))


def test_array_of_other_type_is_refused() -> None:
    with pytest.raises(VerifyError, match="the array of 'x' is not what was declared"):
        interpret(Program([], [X], [], []), [], [np.zeros((2, 3))])


def results(*body: Statement) -> Outcome:
    """Run on two buffers of which the second one is a result."""
    return interpret(Program([], [X, Y], [], list(body), [], [Y]), [], [np.ones((2, 3), np.float32) for _ in (X, Y)])


def test_result_with_an_element_that_is_never_stored_is_refused():
    first_row = For(J, index_const(3), copy(ZERO, J), parallel=True)
    with pytest.raises(VerifyError, match="3 of 6 elements of the result 'y' were never stored"):
        results(first_row)
    results(first_row, For(J, index_const(3), copy(ONE, J), parallel=True))


def test_failed_program_owes_no_result():
    assert results(Fail(1)).status == 1


@pytest.mark.parametrize(
    "body",
    [
        [Store(X, (ZERO, ZERO), Load(F32, Y, (I, ZERO)))],
        [Store(X, (I, ZERO), Load(F32, X, (apply("sub", ONE, I), ZERO)))],
        [For(J, index_const(3), [Store(X, (ZERO, J), Load(F32, Y, (I, J)))], parallel=True)],
    ],
    ids=["two writes", "a read and a write", "inside another loop"],
)
def test_iterations_of_a_parallel_loop_that_meet_are_refused(body):
    loop = For(I, index_const(2), body, parallel=True)
    with pytest.raises(VerifyError, match="iterations of a parallel loop meet in element"):
        run(loop)
    run(For(I, index_const(2), body))


def test_parallel_loops_one_after_the_other_may_use_the_same_elements():
    rows = [
        For(I, index_const(2), [For(J, index_const(3), copy(I, J), parallel=True)], parallel=True) for _ in range(2)
    ]
    assert run(*rows).status == 0
