"""Rows of loops over time that do not meet: which axis they are, and what makes them meet."""

from __future__ import annotations

import pytest
from kernel.over_time import (
    END,
    ONE,
    ROWS,
    TURN,
    ZERO,
    A,
    B,
    I,
    J,
    channels,
    collapsed,
    collect,
    grow,
    load,
    memory_of_scan,
    over_time,
    plus,
    scan,
)

from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Expr, Var, index_const, text
from whorl.kernel.program import Assign, For, Statement, Store, While
from whorl.kernel.row_loops import count_of, find_rows
from whorl.kernel.walk import all_statements, count_uses


def rows_and_loops(loop: While) -> tuple[str, list[tuple[str, int]]] | None:
    """The number of rows, and the loops that go along them with the steps of each row."""
    counter = count_of(loop)
    assert counter is not None
    rows = find_rows(loop, counter, count_uses(all_statements([loop])))
    return None if rows is None else (text(rows.extent), [(row.loop.var.name, row.stride) for row in rows.loops])


def test_collapsed_nest_goes_along_the_rows_of_another_one() -> None:
    state, total = (Buffer(name, FLOAT32, (5, 3)) for name in ("state", "total"))
    assert rows_and_loops(collapsed(state, total, 15)) == ("5", [("i", 1), ("k", 3)])


def test_collapsed_nest_over_less_than_all_rows_has_none() -> None:
    state, total = (Buffer(name, FLOAT32, (5, 3)) for name in ("state", "total"))
    assert rows_and_loops(collapsed(state, total, 14)) is None


def test_channels_are_rows_rather_than_a_batch_that_may_be_short() -> None:
    state, sums = Buffer("state", FLOAT32, (ROWS, 64, 4)), Buffer("sums", FLOAT32, (ROWS, 64, 1))
    assert rows_and_loops(over_time(*channels(state, sums))) == ("64", [("c", 1), ("j", 1)])


def test_batch_is_the_rows_where_channels_meet() -> None:
    state, sums = Buffer("state", FLOAT32, (ROWS, 64, 4)), Buffer("sums", FLOAT32, (ROWS, 64, 1))
    turned = Apply(INT64, "sub", (index_const(63), J))
    assert rows_and_loops(over_time(*channels(state, sums, turned))) == ("rows", [("i", 1), ("l", 1)])


def outer_of(loop: While) -> str | None:
    counter = count_of(loop)
    assert counter is not None
    rows = find_rows(loop, counter, count_uses(all_statements([loop])))
    assert rows is not None and text(rows.extent) == "64"
    return None if rows.outer is None else text(rows.outer.extent)


def test_batch_around_channels_is_rows_of_them_unless_it_meets() -> None:
    buffers, _ = memory_of_scan(1, 1)
    assert outer_of(scan(*buffers)) == "rows"
    assert outer_of(scan(*buffers, Apply(INT64, "sub", (plus(ROWS, index_const(-1)), A)))) is None


def test_batch_inside_channels_is_none_around_them() -> None:
    buffers, _ = memory_of_scan(1, 1)
    loop = scan(*buffers)
    take = Store(buffers[2], (TURN, A, B), load(buffers[1], A, B, ZERO))
    loop.body[2] = For(B, index_const(64), [For(A, ROWS, [take], parallel=True)], parallel=True)
    assert outer_of(loop) is None


def test_rows_that_read_what_another_one_wrote_meet() -> None:
    state = Buffer("state", FLOAT32, (8, 8))
    swap = Store(state, (I, J), load(state, J, I))
    assert rows_and_loops(over_time(For(I, index_const(8), [For(J, index_const(8), [swap])]))) is None


def test_rows_that_are_other_axes_in_each_nest_meet() -> None:
    state = Buffer("state", FLOAT32, (8, 8))
    one = Store(state, (I, ZERO), load(state, I, ONE))
    other = Store(state, (ZERO, J), load(state, ONE, J))
    assert rows_and_loops(over_time(For(I, index_const(8), [one]), For(J, index_const(8), [other]))) is None


def test_number_that_follows_from_a_row_makes_rows_meet() -> None:
    state = Buffer("state", FLOAT32, (8,))
    first = Assign(Var(FLOAT32, "first"), load(state, ZERO))
    assert rows_and_loops(over_time(first, For(I, index_const(8), [Store(state, (I,), first.var)]))) is None


def test_number_of_rows_that_the_loop_computes_is_none() -> None:
    state, count = Buffer("state", FLOAT32, (8,)), Var(INT64, "count")
    store = Store(state, (I,), load(state, I))
    assert rows_and_loops(over_time(Assign(count, plus(TURN, ONE)), For(I, count, [store]))) is None


def test_rows_of_memory_whose_lengths_the_loop_changes_meet() -> None:
    length = Var(INT64, "length")
    state = Buffer("state", FLOAT32, (None, length), grows=True)
    nest = For(I, index_const(8), [Store(state, (I, ZERO), load(state, I, ZERO))])
    assert rows_and_loops(over_time(nest)) is not None
    assert rows_and_loops(over_time(Assign(length, plus(TURN, ONE)), nest)) is None


@pytest.mark.parametrize(
    ("extent", "body", "expected"),
    [
        (ROWS, grow(), 2048),
        (index_const(4097), grow(), 2048),
        (index_const(4096), grow(), None),
        (ROWS, collect(), None),
    ],
)
def test_part_is_the_rows_whose_reused_bytes_stay_near_where_most_are(
    extent: Expr, body: list[Statement], expected: int | None
) -> None:
    loop = over_time(For(I, extent, body, parallel=True))
    counter = count_of(loop)
    assert counter is not None
    rows = find_rows(loop, counter, count_uses(all_statements([loop])))
    assert rows is not None and rows.of_part(loop, TURN) == expected


def test_part_is_unknown_where_the_bytes_of_a_row_are() -> None:
    state = Buffer("state", FLOAT32, (ROWS, END))
    loop = over_time(For(I, ROWS, [Store(state, (I, ZERO), load(state, I, ONE))], parallel=True))
    counter = count_of(loop)
    assert counter is not None
    rows = find_rows(loop, counter, count_uses(all_statements([loop])))
    assert rows is not None and rows.of_part(loop, TURN) is None
