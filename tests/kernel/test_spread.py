"""What several cores may share: nests whose iterations do not meet, or in scratch memory alone, and kernels."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import TRUE, Apply, Buffer, Const, Expr, Load, Var, index_const, text
from whorl.kernel import spread as spreading
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Assign, Call, Fail, For, Program, Spread, Statement, Store, When, While, text_of
from whorl.kernel.spread import RANGES, spread
from whorl.kernel.verify import verify_program
from whorl.kernel.walk import all_statements

LENGTH, ROWS = Var(INT64, "n"), Var(INT64, "rows")
X, Y = Buffer("x", FLOAT32, (ROWS, LENGTH)), Buffer("y", FLOAT32, (ROWS, LENGTH))
I, J, K = (Var(INT64, name) for name in "ijk")


def times(x: Expr, y: Expr) -> Expr:
    return Apply(FLOAT32, "mul", (x, y))


def squares(extent: Expr = LENGTH) -> For:
    value = Load(FLOAT32, X, (I, J))
    return For(I, ROWS, [For(J, extent, [Store(Y, (I, J), times(value, value))], parallel=True)], parallel=True)


def program(*body: Statement, scratch: tuple[Buffer, ...] = ()) -> Program:
    return Program([LENGTH, ROWS], [X, Y], list(scratch), list(body), results=[Y])


def outcome(made: Program, rows: int, length: int) -> np.ndarray:
    verify_program(made)
    x = np.arange(rows * length, dtype=np.float32).reshape(rows, length)
    y = np.zeros_like(x)
    assert interpret(made, [length, rows], [x, y]).status == 0
    return y


def test_nest_of_unknown_lengths_is_shared_by_its_rows() -> None:
    made = program(squares())
    spread(made)
    assert (
        text_of(made.body).splitlines()[0]
        == "spread first.spread.1, count.spread.2 < rows by add(div(mul(n, 4), 8), 1):"
    )
    np.testing.assert_array_equal(outcome(made, 5, 3), np.arange(15, dtype=np.float32).reshape(5, 3) ** 2)


@pytest.mark.parametrize(("rows", "length"), [(0, 3), (1, 4), (7, 1)])
def test_shared_nest_gives_the_same_for_any_number_of_rows(rows: int, length: int) -> None:
    made = program(squares())
    spread(made)
    expected = np.arange(rows * length, dtype=np.float32).reshape(rows, length) ** 2
    np.testing.assert_array_equal(outcome(made, rows, length), expected)


def test_short_work_is_not_shared() -> None:
    x, y = Buffer("x", FLOAT32, (4,)), Buffer("y", FLOAT32, (4,))
    made = Program([], [x, y], [], [For(I, index_const(4), [Store(y, (I,), Load(FLOAT32, x, (I,)))], parallel=True)])
    assert not spread(made)
    assert not any(isinstance(s, Spread) for s in made.body)


def test_nest_in_a_loop_over_time_is_shared_only_if_it_surely_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def repeated(length: int) -> Program:
        x, y = Buffer("x", FLOAT32, (length,)), Buffer("y", FLOAT32, (length,))
        mirrored = Apply(INT64, "sub", (index_const(length - 1), J))
        copy = For(J, index_const(length), [Store(y, (J,), Load(FLOAT32, x, (mirrored,)))], parallel=True)
        carry = For(K, index_const(length), [Store(x, (K,), Load(FLOAT32, y, (K,)))], parallel=True)
        made = Program([], [x, y], [], [For(I, index_const(3), [copy, carry])])
        spread(made)
        return made

    monkeypatch.setattr(spreading, "LEAST", 1000)
    assert "spread" not in text_of(repeated(100).body)
    assert text_of(repeated(1000).body).count("spread first") == 2


def test_outer_loops_are_shared_together_where_the_first_may_have_few_iterations() -> None:
    shape = (ROWS, LENGTH, 128)
    x, y = Buffer("x", FLOAT32, shape), Buffer("y", FLOAT32, shape)
    inner = For(K, index_const(128), [Store(y, (I, J, K), Load(FLOAT32, x, (I, J, K)))], parallel=True)
    body: list[Statement] = [For(I, ROWS, [For(J, LENGTH, [inner], parallel=True)], parallel=True)]
    made = Program([LENGTH, ROWS], [x, y], [], body, results=[y])
    spread(made)
    verify_program(made)
    assert "< mul(rows, n) by" in text_of(made.body)
    data = np.arange(2 * 3 * 128, dtype=np.float32).reshape(2, 3, 128)
    result = np.zeros_like(data)
    interpret(made, [3, 2], [data, result])
    np.testing.assert_array_equal(result, data)


@pytest.mark.parametrize(
    ("length", "extents"),
    [
        (index_const(7), ["mul(rows, 7)"]),
        (index_const(1000), ["rows"]),
        (index_const(2048), ["mul(rows, 2)", "1024"]),
        (LENGTH, ["mul(rows, div(add(n, 1023), 1024))", "min(min(1024, n), sub(n, mul(piece.spread.1, 1024)))"]),
    ],
    ids=["short", "row", "pieces", "any"],
)
def test_innermost_loops_remain_loops_in_pieces_where_they_may_be_long(length: Expr, extents: list[str]) -> None:
    loop = squares(length)
    (row,) = loop.body
    assert isinstance(row, For) and isinstance(row.body[0], Store)
    row.body[0].value = Apply(FLOAT32, "exp", (row.body[0].value,))
    made = program(loop)
    spread(made)
    (shared,) = made.body
    assert isinstance(shared, Spread)
    rows = [s for s in all_statements(shared.body) if isinstance(s, For)][1:]
    assert [text(shared.extent), *(text(each.extent) for each in rows if len(extents) > 1)] == extents
    n = int(length.value) if isinstance(length, Const) else 1500
    with np.errstate(over="ignore"):
        expected = np.exp(np.arange(3 * n, dtype=np.float32).reshape(3, n) ** 2)
        np.testing.assert_array_equal(outcome(made, 3, n), expected)


def rows_by_way_of_scratch(line: Buffer, first_read: bool = False, wanders: bool = False) -> Program:
    """Each row is squared into one row of scratch memory, then copied from there, last to first."""
    double = Store(line, (J,), times(Load(FLOAT32, X, (I, J)), Load(FLOAT32, X, (I, J))))
    mirrored = Apply(INT64, "sub", (Apply(INT64, "sub", (LENGTH, index_const(1))), K))
    at = I if wanders else mirrored
    there = For(J, LENGTH, [double], parallel=True)
    back = For(K, LENGTH, [Store(Y, (I, K), Load(FLOAT32, line, (at,)))], parallel=True)
    return program(For(I, ROWS, [back, there] if first_read else [there, back]), scratch=(line,))


def test_rows_that_meet_in_scratch_memory_have_their_own() -> None:
    line = Buffer("line", FLOAT32, (LENGTH,))
    made = rows_by_way_of_scratch(line)
    larger = spread(made)
    assert list(larger) == [line] and larger[line].shape == (RANGES, LENGTH)
    assert made.scratch == [larger[line]]
    expected = np.arange(60, dtype=np.float32).reshape(20, 3)[:, ::-1] ** 2
    np.testing.assert_array_equal(outcome(made, 20, 3), expected)
    np.testing.assert_array_equal(outcome(rows_by_way_of_scratch(line), 20, 3), expected)


@pytest.mark.parametrize("form", ["first_read", "wanders"])
def test_rows_that_may_read_what_another_one_wrote_stay(form: str) -> None:
    made = rows_by_way_of_scratch(Buffer("line", FLOAT32, (LENGTH,)), **{form: True})
    assert not spread(made)
    assert isinstance(made.body[0], For)


def rows_by_way_of_a_kernel(columns: Expr) -> tuple[Program, Buffer]:
    """Each row times a matrix, by a kernel that writes to scratch memory; then copied from there, last to first."""
    line, matrix = Buffer("line", FLOAT32, (LENGTH,)), Buffer("b", FLOAT32, (LENGTH, LENGTH))
    zero = index_const(0)
    product = Call("vector_matmul", [(line, (zero,)), (X, (I, zero)), (matrix, (zero, zero))], (LENGTH, columns))
    mirrored = Apply(INT64, "sub", (Apply(INT64, "sub", (LENGTH, index_const(1))), K))
    back = For(K, LENGTH, [Store(Y, (I, K), Load(FLOAT32, line, (mirrored,)))], parallel=True)
    made = Program([LENGTH, ROWS], [X, Y, matrix], [line], [For(I, ROWS, [product, back])], results=[Y])
    return made, line


def test_kernel_that_reads_another_row_each_time_has_memory_for_every_range() -> None:
    made, line = rows_by_way_of_a_kernel(LENGTH)
    assert list(spread(made)) == [line]
    verify_program(made)
    x, matrix = np.arange(60, dtype=np.float32).reshape(20, 3), np.arange(9, dtype=np.float32).reshape(3, 3)
    y = np.zeros_like(x)
    assert interpret(made, [3, 20], [x, y, matrix]).status == 0
    np.testing.assert_array_equal(y, (x @ matrix)[:, ::-1])


def test_kernel_that_writes_as_much_as_its_row_says_is_not_shared() -> None:
    made, _ = rows_by_way_of_a_kernel(Apply(INT64, "min", (I, LENGTH)))
    assert not spread(made)
    assert isinstance(made.body[0], For)


def test_running_total_is_not_shared() -> None:
    total = Var(FLOAT32, "total", False)
    add = Assign(total, Apply(FLOAT32, "add", (total, Load(FLOAT32, X, (I, index_const(0))))))
    start = Assign(total, Load(FLOAT32, X, (index_const(0), index_const(0))))
    made = program(start, For(I, ROWS, [add, Store(Y, (I, index_const(0)), total)]))
    assert not spread(made)
    assert isinstance(made.body[1], For)


def test_row_that_is_made_from_the_one_before_is_not_shared() -> None:
    before = Apply(INT64, "max", (Apply(INT64, "sub", (I, index_const(1))), index_const(0)))
    mirrored = Apply(INT64, "sub", (Apply(INT64, "sub", (LENGTH, index_const(1))), J))
    copy = For(J, LENGTH, [Store(Y, (I, J), Load(FLOAT32, Y, (before, mirrored)))], parallel=True)
    made = program(For(I, ROWS, [copy]))
    assert not spread(made)
    assert isinstance(made.body[0], For)


def test_rows_that_follow_from_each_other_element_by_element_are_shared_by_columns() -> None:
    before = Apply(INT64, "max", (Apply(INT64, "sub", (I, index_const(1))), index_const(0)))
    total = Apply(FLOAT32, "add", (Load(FLOAT32, X, (I, J)), Load(FLOAT32, Y, (before, J))))
    made = program(For(I, ROWS, [For(J, LENGTH, [Store(Y, (I, J), total)], parallel=True)]))
    spread(made)
    assert text_of(made.body).startswith("spread first.spread.1, count.spread.2 < add(div(add(n, -1), 16), 1) by")
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    made.results.clear()
    np.testing.assert_array_equal(outcome(made, 4, 3), x.cumsum(axis=0))


def test_kernel_is_shared_by_its_parts() -> None:
    b = Buffer("b", FLOAT32, (LENGTH, 8))
    zero = (index_const(0), index_const(0))
    call = Call("vector_matmul", [(Y, zero), (X, zero), (b, zero)], (LENGTH, LENGTH))
    made = Program([LENGTH, ROWS], [X, Y, b], [], [call])
    spread(made)
    verify_program(made)
    (shared,) = made.body
    assert isinstance(shared, Spread) and call.parts is not None
    assert "parts first.spread.1, add(first.spread.1, count.spread.2)" in text_of(made.body)


TURN, GO = Var(INT64, "turn", False), Var(BOOL, "go", False)


def over_time(step: Expr, *more: Statement) -> Program:
    """Five times: y[0, j] = f(y), for each j, beginning with x."""
    zero = index_const(0)
    begin = For(K, LENGTH, [Store(Y, (zero, K), Load(FLOAT32, X, (zero, K)))], parallel=True)
    nest = For(J, LENGTH, [Store(Y, (zero, J), step)], parallel=True)
    count = Assign(TURN, Apply(INT64, "add", (TURN, index_const(1))))
    condition = Apply(BOOL, "and", (GO, Apply(BOOL, "lt", (TURN, index_const(5)))))
    loop = While([], condition, [nest, *more, count, Assign(GO, TRUE)])
    start: list[Statement] = [begin, Assign(TURN, index_const(1)), Assign(GO, TRUE)]
    last = Store(Y, (index_const(1), zero), Apply(FLOAT32, "cast", (TURN,)))
    return program(*start, loop, last)


def test_loop_over_time_is_turned_inside_where_elements_do_not_meet() -> None:
    made = over_time(times(Load(FLOAT32, Y, (index_const(0), J)), Load(FLOAT32, X, (index_const(0), J))))
    made.results.clear()
    spread(made)
    verify_program(made)
    assert isinstance(made.body[3], When)
    lines = text_of(made.body[3].then).splitlines()
    assert lines[1].startswith("spread") and "  while:" in lines
    y = np.zeros((2, 4), np.float32)
    interpret(made, [4, 2], [np.arange(8, dtype=np.float32).reshape(2, 4), y])
    np.testing.assert_array_equal(y[0], np.arange(4, dtype=np.float32) ** 5)
    assert y[1, 0] == 5


def test_failure_in_a_loop_that_is_turned_inside_reports_its_own_iteration() -> None:
    check = When(Apply(BOOL, "lt", (TURN, LENGTH)), [], [Fail(1, "", "", (("body of Loop", TURN),))])
    made = over_time(Load(FLOAT32, Y, (index_const(0), J)), check)
    spread(made)
    (loop,) = (s for s in all_statements(made.body) if isinstance(s, While))
    (fail,) = (s for s in all_statements([loop]) if isinstance(s, Fail))
    assert fail.iterations == [s.var for s in loop.body if isinstance(s, Assign)]
    assert fail.iterations != [TURN]


@pytest.mark.parametrize("what", ["neighbour", "condition"])
def test_loop_over_time_is_as_it_was_where_elements_meet_or_end_it(what: str) -> None:
    at = Apply(INT64, "sub", (Apply(INT64, "sub", (LENGTH, index_const(1))), J)) if what == "neighbour" else J
    low = Apply(
        BOOL,
        "lt",
        (Load(FLOAT32, Y, (index_const(0), index_const(0))), Load(FLOAT32, X, (index_const(1), index_const(0)))),
    )
    more = [Assign(GO, low)] if what == "condition" else []
    made = over_time(Load(FLOAT32, Y, (index_const(0), at)), *more)
    spread(made)
    assert isinstance(made.body[3], While)
