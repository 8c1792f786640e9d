"""Rows of loops over time that do not meet: which axis they are, and what makes them meet."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import TRUE, Apply, Buffer, Const, Expr, Load, Var, index_const, text
from whorl.kernel import spread as spreading
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Assign, Fail, For, Program, Reserve, Spread, Statement, Store, When, While, text_of
from whorl.kernel.row_loops import count_of, find_rows
from whorl.kernel.spread import spread
from whorl.kernel.verify import verify_program
from whorl.kernel.walk import all_statements, count_uses

TURN, GO, END = Var(INT64, "turn", False), Var(BOOL, "go", False), Var(INT64, "end")
ROWS = Var(INT64, "rows")
A, B, C, I, J, K, L, M = (Var(INT64, name) for name in "abcijklm")
ZERO, ONE = index_const(0), index_const(1)


def plus(x: Expr, y: Expr) -> Expr:
    return Apply(x.dtype, "add", (x, y))


def load(buffer: Buffer, *index: Expr) -> Load:
    return Load(buffer.dtype, buffer, index)


def over_time(*body: Statement) -> While:
    """Goes through statements as often as `END` says."""
    condition = Apply(BOOL, "and", (GO, Apply(BOOL, "lt", (TURN, END))))
    return While([], condition, [*body, Assign(TURN, plus(TURN, ONE)), Assign(GO, TRUE)])


def program(loop: While, *buffers: Buffer, scalars: tuple[Var, ...] = ()) -> Program:
    return Program([END, *scalars], list(buffers), [], [Assign(TURN, ZERO), Assign(GO, TRUE), loop])


def rows_and_loops(loop: While) -> tuple[str, list[tuple[str, int]]] | None:
    """The number of rows, and the loops that go along them with the steps of each row."""
    counter = count_of(loop)
    assert counter is not None
    rows = find_rows(loop, counter, count_uses(all_statements([loop])))
    return None if rows is None else (text(rows.extent), [(row.loop.var.name, row.stride) for row in rows.loops])


def collapsed(state: Buffer, total: Buffer, steps: int) -> While:
    """A nest over two axes that reads other elements of its row, and one whose axes are one loop."""
    (rows, length) = state.shape
    assert isinstance(rows, int) and isinstance(length, int)
    turned = Apply(INT64, "sub", (index_const(length - 1), J))
    add = Store(total, (I, J), plus(load(total, I, J), load(state, I, turned)))
    rows_of_it = For(I, index_const(rows), [For(J, index_const(length), [add], parallel=True)], parallel=True)
    back = For(K, index_const(steps), [Store(state, (ZERO, K), plus(load(total, ZERO, K), load(state, ZERO, K)))])
    return over_time(rows_of_it, back)


def test_collapsed_nest_goes_along_the_rows_of_another_one() -> None:
    state, total = (Buffer(name, FLOAT32, (5, 3)) for name in ("state", "total"))
    assert rows_and_loops(collapsed(state, total, 15)) == ("5", [("i", 1), ("k", 3)])


def test_collapsed_nest_over_less_than_all_rows_has_none() -> None:
    state, total = (Buffer(name, FLOAT32, (5, 3)) for name in ("state", "total"))
    assert rows_and_loops(collapsed(state, total, 14)) is None


@pytest.mark.parametrize("block", [False, True])
def test_turned_loop_over_collapsed_rows_gives_the_same(block: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "LEAST", 1 if block else 0)
    rows = 130
    state, total = (Buffer(name, FLOAT32, (rows, 3)) for name in ("state", "total"))
    results = []
    for turns in (False, True):
        made = program(collapsed(state, total, 3 * rows), state, total)
        if turns:
            spread(made)
            verify_program(made)
            assert any(isinstance(s, Spread) for s in all_statements(made.body))
        memory = [np.arange(3 * rows, dtype=np.float32).reshape(rows, 3), np.ones((rows, 3), np.float32)]
        assert interpret(made, [4], memory).status == 0
        results.append(memory)
    np.testing.assert_array_equal(results[0], results[1])


def channels(state: Buffer, sums: Buffer, read: Expr = J) -> list[For]:
    """Two nests over a batch and channels, of which one sums what belongs to a channel."""
    n, total, sixty_four, four = ROWS, Var(FLOAT32, "total", False), index_const(64), index_const(4)
    grow = Store(state, (I, C, K), plus(load(state, I, C, K), Const(FLOAT32, np.float32(1))))
    first = For(I, n, [For(C, sixty_four, [For(K, four, [grow], parallel=True)], parallel=True)], parallel=True)
    start = Assign(total, Const(FLOAT32, np.float32(0)))
    add = For(M, four, [Assign(total, plus(total, load(state, L, read, M)))])
    out = Store(sums, (plus(Apply(INT64, "mul", (ZERO, n)), L), J, ZERO), total)
    return [first, For(L, n, [For(J, sixty_four, [start, add, out], parallel=True)])]


def test_channels_are_rows_rather_than_a_batch_that_may_be_short() -> None:
    state, sums = Buffer("state", FLOAT32, (ROWS, 64, 4)), Buffer("sums", FLOAT32, (ROWS, 64, 1))
    assert rows_and_loops(over_time(*channels(state, sums))) == ("64", [("c", 1), ("j", 1)])


def test_batch_is_the_rows_where_channels_meet() -> None:
    state, sums = Buffer("state", FLOAT32, (ROWS, 64, 4)), Buffer("sums", FLOAT32, (ROWS, 64, 1))
    turned = Apply(INT64, "sub", (index_const(63), J))
    assert rows_and_loops(over_time(*channels(state, sums, turned))) == ("rows", [("i", 1), ("l", 1)])


def scan(state: Buffer, sums: Buffer, collected: Buffer, read: Expr = A) -> While:
    """The nests over a batch and channels, and one that collects what they give, from another place in the batch."""
    take = Store(collected, (TURN, A, B), load(sums, read, B, ZERO))
    last = For(A, ROWS, [For(B, index_const(64), [take], parallel=True)], parallel=True)
    return over_time(*channels(state, sums), last)


def memory_of_scan(batch: int, turns: int) -> tuple[list[Buffer], list[np.ndarray]]:
    lengths = (ROWS, 64, 4), (ROWS, 64, 1), (END, ROWS, 64)
    buffers = [
        Buffer(name, FLOAT32, shape) for name, shape in zip(("state", "sums", "collected"), lengths, strict=True)
    ]
    state = np.arange(batch * 256, dtype=np.float32).reshape(batch, 64, 4)
    return buffers, [state, np.zeros((batch, 64, 1), np.float32), np.zeros((turns, batch, 64), np.float32)]


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


@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("batch", [0, 1, 2, 5])
def test_each_of_a_batch_goes_through_all_iterations(batch: int, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "LEAST", least)
    monkeypatch.setattr(spreading, "LEAST_TURN", 1)
    results = []
    for turns in (False, True):
        buffers, memory = memory_of_scan(batch, 3)
        made = program(scan(*buffers), *buffers, scalars=(ROWS,))
        if turns:
            spread(made)
            verify_program(made)
            (shared,) = (s for s in all_statements(made.body) if isinstance(s, Spread))
            assert text(shared.extent) == ("mul(rows, 4)" if least else "mul(rows, 64)")
        assert interpret(made, [3, batch], memory).status == 0
        results.append(memory)
    for before, after in zip(*results, strict=True):
        np.testing.assert_array_equal(before, after)


def test_batch_is_in_each_iteration_where_these_are_short() -> None:
    buffers, _ = memory_of_scan(1, 1)
    made = program(scan(*buffers), *buffers, scalars=(ROWS,))
    spread(made)
    (shared,) = (s for s in all_statements(made.body) if isinstance(s, Spread))
    assert text(shared.extent) == "4"


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


def test_memory_of_collected_rows_is_reserved_once_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "LEAST", 0)
    state, collected = Buffer("state", FLOAT32, (4,)), Buffer("collected", FLOAT32, (None, 4), grows=True)
    reserve = Reserve(collected, Apply(INT64, "mul", (plus(TURN, ONE), index_const(4))))
    double = Store(state, (I,), plus(load(state, I), load(state, I)))
    collect = Store(collected, (TURN, J), load(state, J))
    nests = [For(I, index_const(4), [double], parallel=True), For(J, index_const(4), [collect], parallel=True)]
    made = program(over_time(nests[0], reserve, nests[1]), state, collected)
    spread(made)
    verify_program(made)
    turned = made.body[2]
    assert isinstance(turned, When)
    count = f"select(le(end, {(1 << 58) // 4}), mul(end, 4), {1 << 58})"
    assert text_of(turned.then[:1]) == f"reserve collected, {count}"
    assert isinstance(turned.then[2], Spread)


@pytest.mark.parametrize(("turns", "status"), [(3, 0), (5, 9)])
def test_loop_that_may_fail_is_turned_and_fails(turns: int, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "LEAST", 0)
    state = Buffer("state", FLOAT32, (4,))
    check = When(Apply(BOOL, "lt", (TURN, index_const(3))), [], [Fail(9)])
    double = Store(state, (I,), plus(load(state, I), load(state, I)))
    made = program(over_time(check, For(I, index_const(4), [double], parallel=True)), state)
    spread(made)
    verify_program(made)
    assert isinstance(made.body[2], When)
    memory = np.ones(4, np.float32)
    assert interpret(made, [turns], [memory]).status == status
    if not status:
        np.testing.assert_array_equal(memory, np.full(4, 8, np.float32))


def test_few_rows_leave_long_nests_to_all_cores() -> None:
    shape = (2, 1 << 19)
    state = Buffer("state", FLOAT32, shape)
    turned = Apply(INT64, "sub", (index_const(shape[1] - 1), J))
    store = Store(state, (I, J), load(state, I, turned))
    nest = For(I, index_const(2), [For(J, index_const(shape[1]), [store], parallel=True)], parallel=True)
    made = program(over_time(nest), state)
    spread(made)
    loop = made.body[2]
    assert isinstance(loop, While) and isinstance(loop.body[0], Spread)


def test_rows_that_are_neighbours_are_taken_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "LEAST", 1)
    state = Buffer("state", FLOAT32, (1000,))
    double = Store(state, (I,), plus(load(state, I), load(state, I)))
    made = program(over_time(For(I, index_const(1000), [double], parallel=True)), state)
    spread(made)
    verify_program(made)
    (shared,) = (s for s in all_statements(made.body) if isinstance(s, Spread))
    assert text(shared.extent) == "63"
    memory = np.arange(1000, dtype=np.float32)
    interpret(made, [2], [memory])
    np.testing.assert_array_equal(memory, 4 * np.arange(1000, dtype=np.float32))


X, Y, COLUMNS = Buffer("x", FLOAT32, (ROWS,)), Buffer("y", FLOAT32, (ROWS,)), Buffer("columns", FLOAT32, (END, ROWS))


def grow() -> list[Statement]:
    return [Store(Y, (I,), plus(plus(load(Y, I), load(X, I)), load(COLUMNS, TURN, I)))]


def collect() -> list[Statement]:
    return [Store(Y, (I,), plus(load(Y, I), load(COLUMNS, TURN, I))), Store(COLUMNS, (TURN, I), load(Y, I))]


@pytest.mark.parametrize("rows", [0, 1, 64, 4096, 4097, 9000])
@pytest.mark.parametrize("is_known", [False, True])
def test_rows_go_through_all_iterations_in_parts_that_stay_near(rows: int, is_known: bool) -> None:
    nest = For(I, index_const(rows) if is_known else ROWS, grow(), parallel=True)
    made = program(over_time(nest), X, Y, COLUMNS, scalars=(ROWS,))
    spread(made)
    verify_program(made)
    x, y = np.arange(rows, dtype=np.float32), np.zeros(rows, np.float32)
    columns = np.arange(3 * rows, dtype=np.float32).reshape(3, rows)
    assert interpret(made, [3, rows], [x, y, columns]).status == 0
    np.testing.assert_array_equal(y, 3 * x + columns.sum(0))


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
