"""Innermost parallel loops that are long compute several vectors side by side."""

from __future__ import annotations

import pytest

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Apply, Expr, Var, index_const
from whorl.kernel.program import For, Statement
from whorl.kernel.vectors import EVEN, INTERLEAVED, most_iterations, vectors_side_by_side

I = Var(INT64, "i")
(LONG, MANY), (MIDDLE, SOME) = INTERLEAVED


@pytest.mark.parametrize(
    ("extent", "count"), [(LONG, MANY), (LONG - 1, SOME), (MIDDLE + 1, SOME), (MIDDLE - 1, 0), (EVEN, MANY)]
)
def test_longer_loops_compute_more_vectors_at_a_time(extent: int, count: int) -> None:
    assert vectors_side_by_side(For(I, index_const(extent), [], parallel=True)) == count
    assert vectors_side_by_side(For(I, index_const(extent), [])) == 0, "iterations depend on each other"


def test_outer_loop_has_no_vectors() -> None:
    inner: list[Statement] = [For(Var(INT64, "j"), index_const(2), [], parallel=True)]
    assert vectors_side_by_side(For(I, index_const(LONG), inner, parallel=True)) == 0


@pytest.mark.parametrize(
    ("extent", "most"),
    [(index_const(7), 7), (Apply(INT64, "min", (index_const(9), I)), 9), (Apply(INT64, "add", (I, index_const(9))), 0)],
)
def test_most_iterations_are_what_the_program_names(extent: Expr, most: int) -> None:
    assert most_iterations(extent) == most
