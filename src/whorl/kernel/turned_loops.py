"""Loops over time turned inside out: each core takes some of the rows that do not meet through all iterations.

So no core waits for another one after each iteration, and what an iteration made is near in the next one.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.native.expressions import TRUE, Apply, Const, Expr, Var, index_const
from whorl.kernel.marking import Marking
from whorl.kernel.program import Assign, Fail, For, Reserve, Spread, Statement, When, While
from whorl.kernel.row_loops import BLOCK, RowLoop, Rows, count_of, find_rows
from whorl.kernel.walk import Block, Replacement, all_statements, assigned
from whorl.kernel.work_estimates import add, apply, divide, multiply

TURNED = 16
"""How many times as long as other work loops are to take that are turned inside out."""
LEAST_TURN = 1 << 12
"""Scalar operations of an iteration over time from which it costs little to begin one."""
MOST_ELEMENTS = 1 << 58
"""Elements that no memory has, whose bytes are still a number."""


def turned_inside(m: Marking, loop: For | While) -> Spread | When | None:
    """A loop whose nests go along rows that do not meet, as such a loop for each range of them: no core waits."""
    counter = count_of(loop)
    rows = None if counter is None else find_rows(loop, counter, m.uses())
    if counter is None or rows is None:
        return None
    i, go, end = counter
    m.work.inside = {var for s in all_statements([loop]) for var in assigned(s)}
    of_part = rows.of_part(loop, i)
    if of_part is not None or not _are_worth_turns(m, rows):
        rows = replace(rows, outer=None)
    work = multiply(end if m.work.is_known(end) else index_const(1), _of_rows(m, rows))
    if not m.is_worth(multiply(rows.extent, work), is_repeated=False, times=TURNED):
        return None
    if m.least and rows.may_be_few and any(m.is_worth(m.work.of(row.nest), True, TURNED) for row in rows.loops):
        return None
    shared, inside = _of_ranges(m, rows, work, of_part)
    if isinstance(loop, For):
        inside.append(For(i, end, loop.body))
        return shared
    start, turn = m.variable("from"), Var(INT64, f"turn.spread.{m.count}", False)
    body, reserved = list[Statement](), list[Statement]()
    for statement in loop.body:
        match statement:
            case Reserve():
                reserved.append(_reserve_all(statement, end))
            case Assign(var, value) if var is i:
                body.append(Assign(turn, value))
            case Assign(var) if var is go:
                pass
            case _:
                body.append(statement)
    Replacement(lambda expr: turn if expr is i else None).block(body)
    _rename_iteration(body, i, turn)
    inside += [Assign(turn, start), While([], Apply(BOOL, "lt", (turn, end)), body)]
    ends = [Assign(i, end), *([] if go is None else [Assign(go, TRUE)])]
    return When(loop.condition, [*reserved, Assign(start, i), shared, *ends])


def _are_worth_turns(m: Marking, rows: Rows) -> bool:
    """Whether all rows in one row of the outer ones, if there are such, are as much work as a loop of their own."""
    work = multiply(rows.extent, _of_rows(m, rows))
    return rows.outer is not None and isinstance(work, Const) and work.value >= LEAST_TURN * bool(m.least)


def _of_rows(m: Marking, rows: Rows) -> Expr:
    """The work of one row of all nests; in one row of the outer ones, if there are such."""
    total: Expr = index_const(0)
    outer = set(map(id, [row.loop for row in rows.outer.loops] if rows.outer is not None else []))
    for row in rows.loops:
        work, loop = multiply(index_const(row.stride), m.work.of_block(row.loop.body)), row.nest
        while loop is not row.loop:
            if id(loop) not in outer:
                work = multiply(m.work.most_iterations(loop.extent), work)
            loop = loop.body[0]
            assert isinstance(loop, For)
        total = add(total, work)
    return total


def _of_ranges(m: Marking, rows: Rows, work: Expr, of_part: int | None) -> tuple[Spread, Block]:
    """What runs ranges of rows, and the block in it that still lacks the loop; the nests go along a range.

    Where it is known how many rows stay in the fastest memory, a range goes through the loop part by part. A range
    of rows in several of the outer ones goes through the loop for each of those.
    """
    first, count = m.range()
    block = index_const(rows.block if m.least else 1)
    begin, length, limits = first, count, list[Statement]()
    steps, inside = rows.extent, limits
    if block.value > 1:
        steps = divide(add(rows.extent, index_const(-1)), rows.block)
    if rows.outer is not None:
        begin, length, inside = _range_in_outer(m, rows.outer, first, count, steps, limits)
        steps = multiply(rows.outer.extent, steps)
    if block.value > 1:
        inner, number = begin, length
        begin, length = m.variable("begin"), m.variable("length")
        inside.append(Assign(begin, multiply(inner, block)))
        inside.append(Assign(length, apply("min", multiply(number, block), apply("sub", rows.extent, begin))))
    if of_part is not None:
        begin, length, inside = _part_of_range(m, begin, length, of_part, limits)
    _go_along(m, rows.loops, begin, length)
    return Spread(first, count, steps, multiply(work, block), limits), inside


def _range_in_outer(
    m: Marking, outer: Rows, first: Expr, count: Expr, steps: Expr, block: Block
) -> tuple[Var, Var, Block]:
    """Add a loop over the outer rows of a range; the steps in one of them that it has, and its block."""
    turn, row, before = map(m.variable, ("turn", "row", "before"))
    inner, number = m.variable("inner"), m.variable("number")
    begin = apply("div", first, steps)
    last = apply("div", add(add(first, count), index_const(-1)), steps)
    inside: Block = [
        Assign(row, add(begin, turn)),
        Assign(before, multiply(row, steps)),
        Assign(inner, apply("max", apply("sub", first, before), index_const(0))),
        Assign(number, apply("sub", apply("min", apply("sub", add(first, count), before), steps), inner)),
    ]
    block.append(For(turn, add(apply("sub", last, begin), index_const(1)), inside))
    _go_along(m, outer.loops, row, index_const(1))
    return inner, number, inside


def _go_along(m: Marking, loops: Sequence[RowLoop], begin: Expr, length: Expr) -> None:
    """Let loops along rows go along so many of them, from one on."""
    for row in loops:
        step, stride = m.variable("step"), index_const(row.stride)
        own_step = Assign(row.loop.var, add(multiply(begin, stride), step))
        row.loop.var, row.loop.extent = step, multiply(length, stride)
        row.loop.body = [own_step, *row.loop.body]


def _part_of_range(m: Marking, first: Expr, count: Expr, most: int, block: Block) -> tuple[Var, Var, Block]:
    """Add a loop over almost equal parts of a range; the first row of a part, how many it has, and its block."""
    parts, height, part = map(m.variable, ("parts", "height", "part"))
    begin, length = m.variable("begin"), m.variable("length")
    done, even = multiply(part, height), multiply(parts, index_const(BLOCK))
    inside: Block = [
        Assign(begin, add(first, done)),
        Assign(length, apply("min", height, apply("sub", count, done))),
    ]
    block.append(Assign(parts, apply("max", divide(add(count, index_const(-1)), most), index_const(1))))
    block_count = apply("div", add(count, add(even, index_const(-1))), even)
    block.append(Assign(height, multiply(block_count, index_const(BLOCK))))
    block.append(For(part, parts, inside))
    return begin, length, inside


def _rename_iteration(block: Block, old: Var, new: Var) -> None:
    """Let what fails in a block report another variable as the number of its iteration."""
    for statement in all_statements(block):
        if isinstance(statement, Fail):
            statement.around = tuple((title, new if number is old else number) for title, number in statement.around)


def _reserve_all(reserve: Reserve, end: Expr) -> Reserve:
    """Memory for the rows of all iterations, which several cores cannot have one by one.

    A product that is no number of elements asks for more than there is, which ends the program.
    """
    assert isinstance(reserve.count, Apply)
    size = reserve.count.args[1]
    most = index_const(MOST_ELEMENTS)
    is_number = Apply(BOOL, "le", (end, apply("div", most, apply("max", size, index_const(1)))))
    return Reserve(reserve.buffer, Apply(INT64, "select", (is_number, multiply(end, size), most)))
