"""Reductions in a form that becomes vectors: steps unrolled, so that the elements side by side are independent.

LLVM vectorises innermost loops. So a short reduction for each element of a parallel loop is one expression of that
loop, and one that goes over rows takes up to 16 rows at a time, with the totals in registers. Columns of a tensor that
the loop does not change are read from a transposed copy, made once before the loop.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec import Struct, field

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import FUNCTIONS, Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.copies import same_index
from whorl.kernel.program import Assign, For, Program, Statement, Store, While
from whorl.kernel.verify import parts_in_order
from whorl.kernel.walk import Block, Replacement, all_statements, blocks, expressions, loads, position, written

LANES = 8
"""Elements side by side from which vectors pay."""
MOST_STEPS, MOST_OPERATIONS = 64, 512
"""Steps, and operations in all, up to which a reduction becomes one expression."""
FEW_STEPS = 4
"""Steps up to which it does wherever its elements lie."""
ROWS = (16, 8, 4, 2)
"""Rows of a tile: the first of these that fits and divides their number; without one, there are no tiles."""
MOST_ROW_OPERATIONS = 256
MOST_TRANSPOSED = 1 << 22
"""Elements of a tensor up to which it is transposed."""
FUNCTION_OPERATIONS = 24


def write_out_reductions(program: Program) -> None:
    """Write out the steps of short reductions, and of several rows of those that go over rows."""
    pass_ = _WriteOut(program)
    pass_.block(program.body, None)


class _Around(Struct):
    """The outermost loop of unknown length around a statement, what it changes, and what was made before it."""

    loop: While
    before: Block = field(default_factory=lambda: list[Statement]())
    changed: set[Buffer] = field(default_factory=set[Buffer])
    transposed: dict[tuple[Buffer, int], Buffer] = field(default_factory=dict[tuple[Buffer, int], Buffer])

    def __post_init__(self) -> None:
        self.changed = {b for s in all_statements([self.loop]) for b in written(s)}


class _WriteOut(Struct):
    program: Program
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def block(self, block: Block, around: _Around | None) -> None:
        for statement in list(block):
            here = around
            if isinstance(statement, While) and around is None:
                here = _Around(statement)
            for inner in blocks(statement):
                self.block(inner, here)
            if isinstance(statement, For):
                self.loop(statement, here)
            if here is not None and here is not around and here.before:
                where = position(block, statement)
                block[where:where] = here.before

    def loop(self, loop: For, around: _Around | None) -> None:
        if loop.parallel and _is_wide(loop):
            self.elements(loop, around)
        elif not loop.parallel:
            self.rows(loop)

    def variable(self, like: Expr) -> Var:
        return Var(like.dtype, f"w{next(self.numbers)}")

    # ---- a reduction for each element ------------------------------------------------------------------------

    def elements(self, loop: For, around: _Around | None) -> None:
        """Write out the reductions in the body of a parallel loop, if that leaves no loop in it."""
        inner = [s for s in loop.body if not isinstance(s, Assign | Store)]
        if not inner or not all(isinstance(s, For) and self.is_short(s, loop, around) for s in inner):
            return
        body: Block = []
        for statement in loop.body:
            body += self.steps(statement, loop, around) if isinstance(statement, For) else [statement]
        loop.body[:] = body

    def is_short(self, inner: For, loop: For, around: _Around | None) -> bool:
        """Whether a loop inside computes one value in a few steps, whose elements lie side by side."""
        if inner.parallel or not isinstance(inner.extent, Const) or len(inner.body) != 1:
            return False
        (step,), count = inner.body, int(inner.extent.value)
        if not isinstance(step, Assign) or count > MOST_STEPS or count * _operations(step.value) > MOST_OPERATIONS:
            return False
        if count <= FEW_STEPS:
            return True
        read = [load for load in loads([step]) if inner.var in parts_in_order(load)]
        return all(_is_beside(x, loop.var) or _column(x, loop.var, inner.var, around) is not None for x in read)

    def steps(self, inner: For, loop: For, around: _Around | None) -> Block:
        assert isinstance(inner.extent, Const) and isinstance(inner.body[0], Assign)
        total, step = inner.body[0].var, inner.body[0].value
        if int(inner.extent.value) > FEW_STEPS and around is not None:
            step = self.across(step, loop.var, inner.var, around)
        value: Expr = total
        for n in range(int(inner.extent.value)):
            operands: dict[Expr, Expr] = {inner.var: index_const(n), total: value}
            value = Replacement(lambda part, operands=operands: operands.get(part)).expr(step)
        return [Assign(total, value)]

    def across(self, step: Expr, lane: Var, along: Var, around: _Around) -> Expr:
        """The step with columns read from transposed tensors."""

        def part(expr: Expr) -> Expr | None:
            if not isinstance(expr, Load) or (axis := _column(expr, lane, along, around)) is None:
                return None
            index = list(expr.index)
            index[axis], index[-1] = index[-1], index[axis]
            return Load(expr.dtype, self.transposed(expr.buffer, axis, around), tuple(index))

        return Replacement(part).expr(step)

    def transposed(self, buffer: Buffer, axis: int, around: _Around) -> Buffer:
        """A copy of a buffer, made before the loop, with an axis and the last one exchanged."""
        if (buffer, axis) not in around.transposed:
            shape = list(buffer.shape)
            shape[axis], shape[-1] = shape[-1], shape[axis]
            copy = Buffer(f"{buffer.name}.across{axis}", buffer.dtype, tuple(shape))
            index = [Var(INT64, f"a{next(self.numbers)}", False) for _ in shape]
            source = list(index)
            source[axis], source[-1] = source[-1], source[axis]
            body: Block = [Store(copy, tuple(index), Load(buffer.dtype, buffer, tuple(source)))]
            for var, length in reversed(list(zip(index, shape, strict=True))):
                assert isinstance(length, int)
                body = [For(var, index_const(length), body, parallel=True)]
            around.before += body
            around.transposed[buffer, axis] = copy
            self.program.scratch.append(copy)
        return around.transposed[buffer, axis]

    # ---- rows ------------------------------------------------------------------------------------------------

    def rows(self, loop: For) -> None:
        """Take several rows at a time where a loop over rows combines each with the totals of the columns."""
        inner, last = loop.body, loop
        while len(inner) == 1 and isinstance(inner[0], For) and inner[0].parallel:
            last, inner = inner[0], inner[0].body
        totals = _totals(inner)
        if inner is loop.body or totals is None or not _is_wide(last) or not isinstance(loop.extent, Const):
            return
        changing = {loop.var, *(s.var for s in inner if isinstance(s, Assign))}
        if any(_changes(i, changing) for index in totals.values() for i in index):
            return
        count, cost = int(loop.extent.value), sum(_operations(e) for s in inner for e in expressions(s))
        fitting = [n for n in ROWS if n * cost <= MOST_ROW_OPERATIONS and n <= count]
        size = next((n for n in fitting if count % n == 0), fitting[0] if fitting else 1)
        if size < 2 or count % size:
            return
        loop.extent = index_const(count // size)
        first = Apply(INT64, "mul", (loop.var, index_const(size)))
        inner[:] = self.together(inner, totals, loop.var, first, size)

    def together(self, body: Block, totals: dict[Buffer, tuple[Expr, ...]], row: Var, first: Expr, size: int) -> Block:
        """The body for several rows: totals are read before them and stored after."""
        made: Block = []
        accumulators: dict[Buffer, Expr] = {}
        for n in range(size):
            number = first if n == 0 else Apply(INT64, "add", (first, index_const(n)))
            operands: dict[Expr, Expr] = {row: number}
            replaced = Replacement(partial(_substitute, operands, accumulators)).expr
            new: dict[Buffer, Expr] = {}
            for statement in body:
                assert isinstance(statement, Assign | Store)
                var = self.variable(statement.value)
                made.append(Assign(var, replaced(statement.value)))
                if isinstance(statement, Assign):
                    operands[statement.var] = var
                else:
                    new[statement.buffer] = var
            accumulators = new
        return [*made, *(Store(buffer, index, accumulators[buffer]) for buffer, index in totals.items())]


def _substitute(operands: dict[Expr, Expr], accumulators: dict[Buffer, Expr], part: Expr) -> Expr | None:
    if isinstance(part, Load):
        return accumulators.get(part.buffer)
    return operands.get(part)


def _changes(index: Expr, changing: set[Var]) -> bool:
    """Whether an index may be another one for the next row."""
    return any(isinstance(part, Load) or part in changing for part in parts_in_order(index))


def _is_wide(loop: For) -> bool:
    return not isinstance(loop.extent, Const) or int(loop.extent.value) >= LANES


def _operations(expr: Expr) -> int:
    ops = [part.op for part in parts_in_order(expr) if isinstance(part, Apply)]
    return 1 + sum(FUNCTION_OPERATIONS if op in FUNCTIONS else 1 for op in ops)


def _is_beside(load: Load, lane: Var) -> bool:
    """Whether elements for neighbours on a loop are neighbours in memory, or the same."""
    inside = [lane in parts_in_order(i) for i in load.index]
    if not any(inside):
        return True
    match load.index[-1]:
        case Apply(op="add", args=(x, y)) if (x is lane) != (y is lane):
            is_next = lane not in parts_in_order(y if x is lane else x)
        case last:
            is_next = last is lane
    return is_next and not any(inside[:-1])


def _column(load: Load, lane: Var, along: Var, around: _Around | None) -> int | None:
    """The axis that a loop goes along, where the steps go along the last one, of a tensor that stays the same."""
    if around is None or load.buffer in around.changed or not load.index or load.index[-1] is not along:
        return None
    lengths = [n for n in load.buffer.shape if isinstance(n, int)]
    if load.buffer.grows or len(lengths) < len(load.index) or math.prod(lengths) > MOST_TRANSPOSED:
        return None
    inside = [axis for axis, i in enumerate(load.index[:-1]) if lane in parts_in_order(i) or along in parts_in_order(i)]
    return inside[0] if len(inside) == 1 and load.index[inside[0]] is lane else None


def _totals(body: Sequence[Statement]) -> dict[Buffer, tuple[Expr, ...]] | None:
    """Where a body stores the totals that it reads at the same index; None if it does other things, too."""
    result: dict[Buffer, tuple[Expr, ...]] = {}
    for statement in body:
        if any(load.buffer in result for load in loads([statement])):
            return None
        match statement:
            case Assign(var) if var.once and not result:
                continue
            case Store(buffer, index) if buffer not in result:
                result[buffer] = index
            case _:
                return None
    read = [load for load in loads(body) if load.buffer in result]
    is_same = all(same_index(load.index, result[load.buffer]) for load in read)
    return result if result and is_same and {load.buffer for load in read} == set(result) else None
