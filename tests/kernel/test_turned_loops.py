"""Loops over time turned inside out give the same, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from kernel.over_time import (
    COLUMNS,
    ONE,
    ROWS,
    TURN,
    I,
    J,
    X,
    Y,
    collapsed,
    grow,
    load,
    memory_of_scan,
    over_time,
    plus,
    program,
    scan,
)

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, index_const, text
from whorl.kernel import spread as spreading
from whorl.kernel import turned_loops
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Fail, For, Reserve, Spread, Store, When, While, text_of
from whorl.kernel.spread import spread
from whorl.kernel.verify import verify_program
from whorl.kernel.walk import all_statements


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


@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("batch", [0, 1, 2, 5])
def test_each_of_a_batch_goes_through_all_iterations(batch: int, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "LEAST", least)
    monkeypatch.setattr(turned_loops, "LEAST_TURN", 1)
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
