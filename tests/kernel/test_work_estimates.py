"""Estimates of work: numbers where lengths are known, else expressions of what is known before the statements."""

from __future__ import annotations

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Expr, Load, Var, index_const, text
from whorl.kernel.program import For, Statement, Store, When, While
from whorl.kernel.work_estimates import SIDE_BY_SIDE, WorkEstimates, add, apply, divide, multiply

N, I, J = (Var(INT64, name, False) for name in "nij")
X = Buffer("x", FLOAT32, (None,))


def store(value: Expr | None = None) -> Statement:
    return Store(X, (I,), value or Load(FLOAT32, X, (I,)))


def squared(count: int) -> Expr:
    value: Expr = Load(FLOAT32, X, (I,))
    for _ in range(count):
        value = Apply(FLOAT32, "mul", (value, value))
    return value


def number(work: Expr) -> int:
    return int(work.value)  # type: ignore[attr-defined]


def test_loops_take_their_iterations_and_parallel_ones_several_at_once() -> None:
    inner = number(WorkEstimates().of(store()))
    assert number(WorkEstimates().of(For(I, index_const(100), [store()]))) == 100 * (1 + inner)
    assert (
        number(WorkEstimates().of(For(I, index_const(800), [store()], True))) == 800 * (1 + inner) // SIDE_BY_SIDE + 1
    )


def test_a_length_that_is_known_before_is_a_factor_and_one_from_inside_counts_once() -> None:
    loop = For(I, N, [store()])
    inner = number(WorkEstimates().of(store()))
    assert text(WorkEstimates().of(loop)) == f"mul(n, {1 + inner})"
    assert number(WorkEstimates({N}).of(loop)) == 1 + inner
    bounded = For(I, Apply(INT64, "min", (index_const(7), N)), [store()])
    assert number(WorkEstimates({N}).of(bounded)) == 7 * (1 + inner)


def test_a_branch_takes_the_longer_of_both() -> None:
    shorter, longer = store(), store(squared(3))
    estimates = WorkEstimates()
    branch = When(Var(BOOL, "p", False), [shorter], [longer])
    assert number(estimates.of(branch)) == number(estimates.of(longer)) > number(estimates.of(shorter))


def test_a_loop_that_counts_to_a_number_takes_it_at_most() -> None:
    condition = Apply(BOOL, "and", (Var(BOOL, "go", False), Apply(BOOL, "lt", (J, index_const(9)))))
    inner = number(WorkEstimates().of(store()))
    assert number(WorkEstimates().of(While([], condition, [store()]))) == 9 * (1 + inner)


def test_arithmetic_is_done_where_numbers_are_known() -> None:
    assert add(N, index_const(0)) is N and multiply(index_const(1), N) is N
    assert number(apply("max", index_const(3), index_const(5))) == 5
    assert number(divide(index_const(31), 8)) == 4
    assert isinstance(add(N, index_const(2)), Apply)
