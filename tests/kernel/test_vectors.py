"""Innermost parallel loops that are long compute several vectors side by side."""

from __future__ import annotations

import pytest

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Apply, Expr, Var, index_const
from whorl.kernel.program import For, Statement
from whorl.kernel.vectors import (
    INTERLEAVED,
    VECTOR_BYTES,
    all_side_by_side,
    most_iterations,
    vectors_side_by_side,
)

I = Var(INT64, "i")
(LONG, MANY), (MIDDLE, SOME) = INTERLEAVED


@pytest.mark.parametrize(
    ("extent", "count"), [(LONG, MANY), (LONG - 1, SOME), (MIDDLE + 1, SOME), (MIDDLE - 1, 0), (9, 0), (0, 0)]
)
def test_longer_loops_compute_more_vectors_at_a_time(extent: int, count: int) -> None:
    assert vectors_side_by_side(For(I, index_const(extent), [], parallel=True), 32) == count
    assert vectors_side_by_side(For(I, index_const(extent), []), 32) == 0, "iterations depend on each other"


@pytest.mark.parametrize(
    ("extent", "counts"), [(64, [4, 4, 4]), (32, [4, 4, 2]), (16, [4, 2, 0]), (48, [4, 2, 0]), (20, [0, 0, 0])]
)
def test_shorter_loops_compute_vectors_that_come_out_even(extent: int, counts: list[int]) -> None:
    loop = For(I, index_const(extent), [], parallel=True)
    assert [vectors_side_by_side(loop, size) for size in VECTOR_BYTES] == list(all_side_by_side(loop)) == counts


def test_outer_loop_has_no_vectors() -> None:
    inner: list[Statement] = [For(Var(INT64, "j"), index_const(2), [], parallel=True)]
    assert vectors_side_by_side(For(I, index_const(LONG), inner, parallel=True), 32) == 0
    assert not any(all_side_by_side(For(I, index_const(LONG), inner, parallel=True)))


@pytest.mark.parametrize(
    ("extent", "most"),
    [(index_const(7), 7), (Apply(INT64, "min", (index_const(9), I)), 9), (Apply(INT64, "add", (I, index_const(9))), 0)],
)
def test_most_iterations_are_what_the_program_names(extent: Expr, most: int) -> None:
    assert most_iterations(extent) == most
