"""Lengths of loops and offsets of elements are parameters; what the code of a loop depends on stays in it."""

from __future__ import annotations

import pytest

from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import TRUE, Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.lengths import LONG, LONG_ALONE, SMALL, Lengths
from whorl.kernel.program import Assign, For, Statement, Store, While

X = Buffer("x", FLOAT32, (1000,))


def var(name: str) -> Var:
    return Var(INT64, name)


def plus(a: Expr, b: int) -> Expr:
    return Apply(INT64, "add", (a, index_const(b)))


def clearing(position: Expr) -> Store:
    return Store(X, (position,), Const(FLOAT32, 0.0))


def numbers(statement: Statement) -> list[object]:
    return [length.value for length in Lengths(statement).lengths]


@pytest.mark.parametrize(("length", "lengths"), [(LONG_ALONE - 1, []), (LONG_ALONE, [LONG_ALONE])])
def test_length_of_one_loop_is_a_parameter_where_it_is_long(length: int, lengths: list[int]) -> None:
    i = var("i")
    assert numbers(For(i, index_const(length), [clearing(i)], parallel=True)) == lengths


def test_short_loop_inside_another_is_fixed_and_the_outer_one_is_not() -> None:
    i, j = var("i"), var("j")
    inner = For(j, index_const(LONG - 1), [clearing(Apply(INT64, "add", (i, j)))], parallel=True)
    assert numbers(For(i, index_const(3), [inner], parallel=True)) == [3]


def test_loop_in_blocks_has_its_lengths_as_parameters() -> None:
    block, inner, i = var("block"), var("inner"), var("i")
    first = Apply(INT64, "mul", (block, index_const(700)))
    rest = Apply(INT64, "min", (index_const(700), Apply(INT64, "sub", (index_const(5000), first))))
    body = [Assign(i, Apply(INT64, "add", (first, inner))), clearing(i)]
    loop = For(block, index_const(8), [For(inner, rest, body, parallel=True)], parallel=True)
    assert numbers(loop) == [8, 700, 5000, 700]


def test_step_of_an_innermost_loop_and_small_offsets_stay() -> None:
    i = var("i")
    strided = clearing(plus(Apply(INT64, "mul", (i, index_const(100))), SMALL))
    assert numbers(For(i, index_const(4), [strided], parallel=True)) == []


def test_length_of_a_reduction_and_divisors_are_fixed() -> None:
    i, total = var("i"), Var(FLOAT32, "total", False)
    half = Apply(INT64, "div", (i, index_const(250)))
    step = Assign(total, Apply(FLOAT32, "sum", (total, Load(FLOAT32, X, (plus(half, 300),)))))
    assert numbers(For(i, index_const(1000), [step])) == [300]


def test_number_that_is_a_length_and_a_divisor_is_fixed() -> None:
    i, length = var("i"), index_const(1000)
    wrapped = Apply(INT64, "rem", (plus(i, 17), length))
    assert numbers(For(i, length, [clearing(wrapped)], parallel=True)) == []


def test_lengths_inside_a_loop_over_time_are_fixed() -> None:
    i = var("i")
    inner = For(i, index_const(LONG), [clearing(plus(i, 100))], parallel=True)
    assert numbers(inner) == [LONG, 100]
    assert numbers(While([], TRUE, [inner])) == []
