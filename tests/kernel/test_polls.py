"""Programs that poll: long ones do, in blocks of their innermost loops, and compute what they computed before."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Load, Var, index_const
from whorl.kernel import polls
from whorl.kernel.interpret import interpret
from whorl.kernel.polls import insert_polls, least_seconds
from whorl.kernel.program import Assign, Call, For, Program, Store, While
from whorl.kernel.verify import verify_program

LENGTH, TOTAL = Var(INT64, "n", False), Var(FLOAT32, "t", False)
X = Buffer("x", FLOAT32, (None,))


def sum_of(extent: Var | Const) -> Program:
    """t = the sum of x[:n]; n is a number of the program or one that only the run knows."""
    i = Var(INT64, "i")
    add = Assign(TOTAL, Apply(FLOAT32, "add", (TOTAL, Load(FLOAT32, X, (i,)))))
    body = [Assign(TOTAL, Const(FLOAT32, 0.0)), For(i, extent, [add])]
    return Program([LENGTH, TOTAL], [X], [], body)


def doubled(rows: int, columns: int) -> Program:
    """y = x + x, row by row."""
    i, j = Var(INT64, "i"), Var(INT64, "j")
    x, y = Buffer("x", FLOAT32, (rows, columns)), Buffer("y", FLOAT32, (rows, columns))
    double = Store(y, (i, j), Apply(FLOAT32, "add", (Load(FLOAT32, x, (i, j)),) * 2))
    nest = For(i, index_const(rows), [For(j, index_const(columns), [double], True)], True)
    return Program([], [x, y], [], [nest])


def test_short_program_has_no_polls():
    program = doubled(64, 64)
    before = str(program)
    assert not insert_polls(program)
    assert str(program) == before


def test_long_loop_of_known_length_is_cut_into_blocks_of_almost_equal_length(monkeypatch):
    monkeypatch.setattr(polls, "SHORT", 100)
    monkeypatch.setattr(polls, "BLOCK", 40)
    program = sum_of(index_const(100))
    assert insert_polls(program)
    verify_program(program)
    assert str(program).splitlines()[4:] == [
        "for block.0 < 10:",
        "  rest.0 = min(10, sub(100, mul(block.0, 10)))",
        "  poll 4 * add(rest.0, 1)",
        "  for inner.0 < rest.0:",
        "    i = add(mul(block.0, 10), inner.0)",
        "    t = add(t, x[i])",
    ]


def test_loop_of_a_length_that_only_the_run_knows_polls_and_takes_the_length_once():
    program = sum_of(LENGTH)
    assert insert_polls(program)
    verify_program(program)
    assert str(program).splitlines()[4:6] == [
        "extent.0 = n",
        "for block.0 < add(div(add(extent.0, -1), 16384), 1):",
    ]


@pytest.mark.parametrize("length", [0, 1, 9, 10, 11, 100, 101])
def test_loop_in_blocks_computes_the_same(monkeypatch, length):
    monkeypatch.setattr(polls, "BLOCK", 40)
    x = np.arange(length, dtype=np.float32)
    for program in (sum_of(LENGTH), sum_of(index_const(length))):
        polled = copy.deepcopy(program)
        insert_polls(polled)
        results = [interpret(p, [length, 0.0], [x]) for p in (program, polled)]
        assert results[0].scalars[1] == results[1].scalars[1] == x.sum()


def test_outer_loop_polls_where_its_iterations_are_long_enough(monkeypatch):
    monkeypatch.setattr(polls, "SHORT", 1000)
    monkeypatch.setattr(polls, "BLOCK", 1 << 14)
    program = doubled(100, 1000)
    assert insert_polls(program)
    assert str(program).splitlines()[2:5] == ["parallel for i < 100:", "  poll 4001", "  parallel for j < 1000:"]


def test_loops_around_one_in_blocks_poll_only_where_it_may_not_be_reached():
    i, j, k = (Var(INT64, name) for name in "ijk")
    x = Buffer("x", FLOAT32, (None, LENGTH, LENGTH))
    inner = For(k, LENGTH, [Store(x, (i, j, k), Const(FLOAT32, 0.0))])
    program = Program([LENGTH], [x], [], [For(i, LENGTH, [For(j, LENGTH, [inner])])])
    assert insert_polls(program)
    verify_program(program)
    lines = [line.strip() for line in str(program).splitlines()]
    assert [line for line in lines if line.startswith(("for", "poll"))] == [
        "for i < n:",
        "poll 1",
        "for j < n:",
        "for block.0 < add(div(add(extent.0, -1), 32768), 1):",
        "poll 2 * add(rest.0, 1)",
        "for inner.0 < rest.0:",
    ]


def test_program_that_runs_to_a_chosen_iteration_polls_only_in_long_ones():
    i, stop, go = Var(INT64, "i", False), Var(INT64, "stop", False), Var(BOOL, "go", False)
    for length, expected in ((10, False), (100_000, True)):
        j = Var(INT64, "j")
        inner = For(j, index_const(length), [Store(X, (j,), Load(FLOAT32, X, (j,)))])
        step = Assign(i, Apply(INT64, "add", (i, index_const(1))))
        program = Program([i, stop, go], [X], [], [While([], Apply(BOOL, "lt", (i, stop)), [inner, step])])
        assert insert_polls(program, stop) == expected


def test_large_kernel_polls_by_itself_and_a_small_one_does_not():
    a = Buffer("a", FLOAT32, (1 << 24,))
    for rows, expected in ((12, False), (12_000, True)):
        call = Call("packed_matmul", [(a, (index_const(0),))] * 3, (rows, 1000, 1000, 32))
        insert_polls(Program([], [a], [], [call]))
        assert call.polls == expected


def test_least_time_counts_what_surely_runs():
    assert least_seconds(sum_of(LENGTH)) < 1e-9
    assert 1e3 < least_seconds(sum_of(index_const(10**15))) < 1e5
