"""Which parts of a program several cores may share: nests whose iterations do not meet, and kernels.

They are those that may take long. Whether one does, and how many cores take it, is decided while the program runs; the
bits of its results do not depend on that, since every element is computed by one core as if there were no other.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from msgspec import Struct, field

from whorl.debug import debug
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.native.expressions import FUNCTIONS, TRUE, Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.program import (
    Assign,
    Call,
    Fail,
    For,
    Program,
    Reserve,
    RunOp,
    Spread,
    Statement,
    Store,
    Swap,
    Take,
    When,
    While,
)
from whorl.kernel.row_loops import BLOCK, RowLoop, Rows, count_of, find_rows
from whorl.kernel.vectors import has_loop
from whorl.kernel.verify import parts_in_order
from whorl.kernel.walk import (
    Block,
    Replacement,
    all_statements,
    assigned,
    blocks,
    count_uses,
    expressions,
    loads,
    positions_in,
    written_parts,
)
from whorl.kernels.kernel import LANES
from whorl.kernels.table import KERNELS
from whorl.llvm.routine import PARTS

LEAST = 1 << 14
"""Scalar operations from which work may be worth sharing with a core that is awake."""
LOOPS, TURNED = 8, 16
"""So many times as long are loops to take whose iterations are to have memory of their own, and those that are turned
inside out."""
FEW = 64
"""Iterations of an outermost loop with which there is enough for every core, whatever is inside."""
LEAST_ROW = 16
"""Scalar operations from which an iteration is worth two divisions."""
SIDE_BY_SIDE = 8
"""Iterations of an innermost parallel loop that take as long as one."""
PIECE = 1024
"""Iterations of an innermost loop that one core makes at a time."""
MOST_AXES = 3
RANGES, MOST_BYTES = 8, 1 << 20
"""Ranges of a loop that have scratch memory of their own, and the bytes of a buffer of which there may be so many."""
MOST_ELEMENTS = 1 << 58
"""Elements that no memory has, whose bytes are still a number."""
_FUNCTION_WORK = 16


def spread(program: Program) -> dict[Buffer, Buffer]:
    """Mark what several cores may share, in place; the scratch buffers that became larger, with what they are now."""
    spreader = _Spreader(program, 0 if debug().spreads else LEAST)
    spreader.block(program.body, is_repeated=False)
    program.scratch = [spreader.private.get(buffer, buffer) for buffer in program.scratch]
    return spreader.private


class _Spreader(Struct):
    """The walk; `inside` are the variables that what is looked at gives values."""

    program: Program
    least: int
    inside: set[Var] = field(default_factory=set[Var])
    count: int = 0
    costs: dict[Expr, int] = field(default_factory=dict[Expr, int])
    private: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])
    seen: Counter[Var | Buffer] | None = None

    def block(self, block: Block, is_repeated: bool) -> None:
        """`is_repeated`: in a loop, where a nest is shared only if it surely takes long."""
        for position, statement in enumerate(block):
            made: Spread | When | None = self.shared(statement, is_repeated)
            if made is None and isinstance(statement, For | While) and not is_repeated:
                made = self.turned_inside(statement)
            if made is not None:
                block[position] = made
                continue
            is_loop = isinstance(statement, For) or (isinstance(statement, While) and not statement.of_blocks)
            for inner in blocks(statement):
                self.block(inner, is_repeated or is_loop)

    def shared(self, statement: Statement, is_repeated: bool) -> Spread | None:
        if isinstance(statement, Call | For):
            self.inside = {var for s in all_statements([statement]) for var in assigned(s)}
        match statement:
            case Call() if KERNELS[statement.kernel].meaning.factors and statement.parts is None:
                return self.call(statement)
            case For(parallel=True) if _suits(statement):
                return self.nest(statement, is_repeated)
            case For(parallel=False) if _suits(statement):
                return self.independent(statement, is_repeated)
            case _:
                return None

    def call(self, call: Call) -> Spread | None:
        total = self.of_call(call)
        if isinstance(total, Const) and total.value < self.least:
            return None
        first, count = self.range()
        call.parts = first, _add(first, count)
        return Spread(first, count, index_const(PARTS), _divided(total, PARTS), [call])

    def nest(self, loop: For, is_repeated: bool) -> Spread | None:
        axes = self.axes(loop)
        work, extent = self.of_block(axes[-1].body), index_const(1)
        if not has_loop(axes[-1]):
            work = _divided(work, SIDE_BY_SIDE)
        for axis in axes:
            extent = _mul(extent, axis.extent)
        if not self.is_worth(_mul(extent, work), is_repeated):
            return None
        first, count = self.range()
        step, flat = self.variable("step"), self.variable("flat")
        body = [Assign(flat, _add(first, step)), *self.coordinates(flat, axes), *axes[-1].body]
        return Spread(first, count, extent, work, [For(step, count, body, parallel=True)])

    def is_worth(self, total: Expr, is_repeated: bool, times: int = 1) -> bool:
        """Whether work may take so long, or so many times that, that it is worth waking another core."""
        return total.value >= times * self.least if isinstance(total, Const) else not (is_repeated and self.least)

    def coordinates(self, flat: Expr, axes: Sequence[For]) -> list[Statement]:
        """The variables of loops inside each other, by the number of an iteration of all."""
        made: list[Statement] = []
        for axis in reversed(axes[1:]):
            before = self.variable("before")
            made.append(Assign(before, _apply("div", flat, axis.extent)))
            made.append(Assign(axis.var, _apply("sub", flat, _mul(before, axis.extent))))
            flat = before
        return [*made, Assign(axes[0].var, flat)]

    # ---- iterations that meet in scratch memory alone --------------------------------------------------------

    def independent(self, loop: For, is_repeated: bool) -> Spread | None:
        """A loop whose iterations each write what they read of scratch memory, of which every range now has its own."""
        axes = [loop]
        while len(axes) < MOST_AXES and len(axes[-1].body) == 1:
            inner = axes[-1].body[0]
            if not isinstance(inner, For) or inner.parallel or not self.is_known(inner.extent):
                break
            axes.append(inner)
        work, extent = self.of_block(axes[-1].body), index_const(1)
        for axis in axes:
            extent = _mul(extent, axis.extent)
        total, least = _mul(extent, work), 2 * RANGES if _has_parts(loop) else 2
        if not self.is_worth(total, is_repeated, LOOPS) or (isinstance(extent, Const) and extent.value < least):
            return None
        own = self.private_buffers(loop, axes)
        if own is None:
            return None
        first, count = self.range()
        slot, start, step, flat = map(self.variable, ("slot", "start", "step", "flat"))
        number = self.variable("range")
        body = self.with_own_memory(axes[-1].body, slot, own)
        inner = [Assign(flat, _add(start, step)), *self.coordinates(flat, axes), *body]
        end = _apply("div", _mul(extent, _add(slot, index_const(1))), index_const(RANGES))
        ranges: Block = [
            Assign(slot, _add(first, number)),
            Assign(start, _apply("div", _mul(extent, slot), index_const(RANGES))),
            For(step, _apply("sub", end, start), inner),
        ]
        return Spread(first, count, index_const(RANGES), _divided(total, RANGES), [For(number, count, ranges)])

    def private_buffers(self, loop: For, axes: Sequence[For]) -> list[Buffer] | None:
        """The scratch buffers that iterations write before they read them; None where they may meet in other memory."""
        inside = list(all_statements([loop]))
        changing = {axis.var for axis in axes} | {s.var for s in inside if isinstance(s, Assign)}
        counts = count_uses(inside)
        seen = self.uses()
        if any(counts[var] != seen[var] for statement in inside for var in assigned(statement)):
            return None
        own: list[Buffer] = []
        for buffer in dict.fromkeys(b for s in inside for b in written_parts(s)):
            if _is_apart(((s, index) for s in inside for index in positions_in(s, buffer)), axes):
                continue
            is_own = buffer in self.program.scratch and not buffer.grows and counts[buffer] == seen[buffer]
            if not is_own or not _is_written_first(axes[-1].body, buffer, changing):
                return None
            if all(isinstance(n, int) for n in buffer.shape) and _bytes(buffer) > MOST_BYTES:
                return None
            own.append(buffer)
        return own

    def with_own_memory(self, block: Block, slot: Var, own: Sequence[Buffer]) -> Block:
        """Statements whose buffers have a place for every range."""
        for buffer in own:
            self.private[buffer] = Buffer(buffer.name, buffer.dtype, (RANGES, *buffer.shape))
        chosen = {buffer: self.private[buffer] for buffer in own}

        def part(expr: Expr) -> Expr | None:
            if not isinstance(expr, Load) or expr.buffer not in chosen:
                return None
            return Load(expr.dtype, chosen[expr.buffer], (slot, *expr.index))

        replacement = Replacement(part)
        for statement in all_statements(block):
            replacement.statement(statement)
            match statement:
                case Store(buffer, index) if buffer in chosen:
                    statement.buffer, statement.index = chosen[buffer], (slot, *index)
                case Call(addresses=addresses):
                    statement.addresses = [
                        (chosen[b], (slot, *index)) if b in chosen else (b, index) for b, index in addresses
                    ]
                case _:
                    pass
        return block

    # ---- loops over time whose tensors' rows do not meet -------------------------------------------------------

    def turned_inside(self, loop: For | While) -> Spread | When | None:
        """A loop whose nests go along rows that do not meet, as such a loop for each range of them: no core waits."""
        counter = count_of(loop)
        rows = None if counter is None else find_rows(loop, counter, self.uses())
        if counter is None or rows is None:
            return None
        i, go, end = counter
        self.inside = {var for s in all_statements([loop]) for var in assigned(s)}
        work = index_const(0)
        for row in rows.loops:
            work = _add(work, self.of_row(row))
        work = _mul(end if self.is_known(end) else index_const(1), work)
        if not self.is_worth(_mul(rows.extent, work), is_repeated=False, times=TURNED):
            return None
        if self.least and rows.may_be_few and any(self.is_worth(self.of(row.nest), True, TURNED) for row in rows.loops):
            return None
        shared, inside = self.of_ranges(rows, work, rows.of_part(loop, i))
        if isinstance(loop, For):
            inside.append(For(i, end, loop.body))
            return shared
        start, turn = self.variable("from"), Var(INT64, f"turn.spread.{self.count}", False)
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

    def of_row(self, row: RowLoop) -> Expr:
        """The work of one row of a nest."""
        work, loop = _mul(index_const(row.stride), self.of_block(row.loop.body)), row.nest
        while loop is not row.loop:
            work = _mul(self.most_iterations(loop.extent), work)
            loop = loop.body[0]
            assert isinstance(loop, For)
        return work

    def of_ranges(self, rows: Rows, work: Expr, of_part: int | None) -> tuple[Spread, Block]:
        """What runs ranges of rows, and the block in it that still lacks the loop; the nests go along a range.

        Where it is known how many rows stay in the fastest memory, a range goes through the loop part by part.
        """
        first, count = self.range()
        block = index_const(rows.block if self.least else 1)
        begin, length, limits = first, count, list[Statement]()
        steps, inside = rows.extent, limits
        if block.value > 1:
            begin, length = self.variable("begin"), self.variable("length")
            limits.append(Assign(begin, _mul(first, block)))
            limits.append(Assign(length, _apply("min", _mul(count, block), _apply("sub", rows.extent, begin))))
            steps = _divided(_add(rows.extent, index_const(-1)), rows.block)
        if of_part is not None:
            begin, length, inside = self.part_of_range(begin, length, of_part, limits)
        for row in rows.loops:
            step, stride = self.variable("step"), index_const(row.stride)
            own_step = Assign(row.loop.var, _add(_mul(begin, stride), step))
            row.loop.var, row.loop.extent = step, _mul(length, stride)
            row.loop.body = [own_step, *row.loop.body]
        return Spread(first, count, steps, _mul(work, block), limits), inside

    def part_of_range(self, first: Expr, count: Expr, most: int, block: Block) -> tuple[Var, Var, Block]:
        """Add a loop over almost equal parts of a range; the first row of a part, how many it has, and its block."""
        parts, height, part = map(self.variable, ("parts", "height", "part"))
        begin, length = self.variable("begin"), self.variable("length")
        done, even = _mul(part, height), _mul(parts, index_const(BLOCK))
        inside: Block = [
            Assign(begin, _add(first, done)),
            Assign(length, _apply("min", height, _apply("sub", count, done))),
        ]
        block.append(Assign(parts, _apply("max", _divided(_add(count, index_const(-1)), most), index_const(1))))
        block_count = _apply("div", _add(count, _add(even, index_const(-1))), even)
        block.append(Assign(height, _mul(block_count, index_const(BLOCK))))
        block.append(For(part, parts, inside))
        return begin, length, inside

    def uses(self) -> Counter[Var | Buffer]:
        """How often the whole program assigns variables and uses buffers, as it was lowered."""
        if self.seen is None:
            self.seen = count_uses(all_statements(self.program.body))
        return self.seen

    # ---- iterations that do not meet -------------------------------------------------------------------------

    def axes(self, loop: For) -> list[For]:
        """The outermost loop, with those inside that it takes to have enough iterations for every core.

        An innermost loop stays one, in pieces where it may be long: divided for each of its elements, it would be no
        vectors.
        """
        axes = [loop]
        while len(axes) < MOST_AXES:
            last = axes[-1]
            match last:
                case For(extent=Const(value=count)) if count >= FEW:
                    break
                case For(body=[For(parallel=True) as inner]) if _may_be_row(self.of_block(inner.body)):
                    if not self.is_known(inner.extent) or _may_be_zero(inner.extent):
                        break
                    if _is_row(inner):
                        return axes if _is_short(inner.extent) else [*axes, self.in_pieces(inner)]
                    axes.append(inner)
                case _:
                    break
        return axes

    def in_pieces(self, row: For) -> For:
        """A loop over the pieces of a row."""
        piece, inner = self.variable("piece"), self.variable("inner")
        self.inside |= {piece, inner}
        most = _apply("min", index_const(PIECE), row.extent)
        count = _apply("div", _add(row.extent, index_const(PIECE - 1)), index_const(PIECE))
        start = _mul(piece, index_const(PIECE))
        is_even = isinstance(row.extent, Const) and row.extent.value % PIECE == 0
        length = most if is_even else _apply("min", most, _apply("sub", row.extent, start))
        return For(piece, count, [For(inner, length, [Assign(row.var, _add(start, inner)), *row.body], parallel=True)])

    def is_known(self, extent: Expr) -> bool:
        """Whether a number of iterations is known before what is looked at begins."""
        return not any(part in self.inside or isinstance(part, Load) for part in parts_in_order(extent))

    def range(self) -> tuple[Var, Var]:
        return self.variable("first"), self.variable("count")

    def variable(self, hint: str) -> Var:
        self.count += 1
        return Var(INT64, f"{hint}.spread.{self.count}")

    # ---- work ------------------------------------------------------------------------------------------------

    def of_block(self, block: Sequence[Statement]) -> Expr:
        """Scalar operations of statements, about, by what is known before them."""
        total: Expr = index_const(0)
        for statement in block:
            total = _add(total, self.of(statement))
        return total

    def of(self, statement: Statement) -> Expr:
        match statement:
            case For(extent=extent, body=body):
                total = _mul(self.most_iterations(extent), _add(index_const(1), self.of_block(body)))
                return _divided(total, SIDE_BY_SIDE) if statement.parallel and not has_loop(statement) else total
            case While(condition=condition, body=body):
                return _mul(self.trips(condition), _add(index_const(1), self.of_block(body)))
            case When(then=then, other=other):
                return _apply("max", self.of_block(then), self.of_block(other))
            case Call():
                return self.of_call(statement)
            case _:
                return index_const(1 + sum(map(self.of_expr, expressions(statement))))

    def most_iterations(self, extent: Expr) -> Expr:
        """The iterations of a loop, or a bound that is known before it; else 1."""
        match extent:
            case _ if self.is_known(extent):
                return extent
            case Apply(op="min", args=(bound, _)):
                return self.most_iterations(bound)
            case _:
                return index_const(1)

    def trips(self, condition: Expr) -> Expr:
        """The iterations of a loop that counts to a number, at most."""
        match condition:
            case Apply(op="lt", args=(Var(), bound)) if self.is_known(bound):
                return bound
            case Apply(op="and", args=(_, condition)):
                return self.trips(condition)
            case _:
                return index_const(1)

    def of_call(self, call: Call) -> Expr:
        """A kernel's steps, several of which take as long as an operation."""
        meaning = KERNELS[call.kernel].meaning
        if all(isinstance(n, int) for n in call.numbers):
            return index_const(1 + meaning.steps(call.numbers_or(0)) // LANES)
        total: Expr = index_const(1)
        for number in (call.numbers[n] for n in meaning.factors):
            total = _mul(total, number if isinstance(number, Expr) else index_const(number))
        return _divided(total, LANES)

    def of_expr(self, expr: Expr) -> int:
        if expr not in self.costs:
            self.costs[expr] = sum(map(_operation, parts_in_order(expr)))
        return self.costs[expr]


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
    is_number = Apply(BOOL, "le", (end, _apply("div", most, _apply("max", size, index_const(1)))))
    return Reserve(reserve.buffer, Apply(INT64, "select", (is_number, _mul(end, size), most)))


def _is_apart(uses: Iterable[tuple[Statement, Sequence[Expr]]], axes: Sequence[For]) -> bool:
    """Whether each iteration has a part of memory for itself: its own numbers stand at the same axes in all positions.

    A kernel goes on from its position along the axes behind.
    """
    own = [axis.var for axis in axes if not (isinstance(axis.extent, Const) and axis.extent.value == 1)]
    positions: set[tuple[int, ...]] = set()
    for statement, index in uses:
        own_axes = [next((n for n, position in enumerate(index) if position is var), -1) for var in own]
        positions.add(tuple(own_axes))
        if -1 in own_axes or len(positions) > 1:
            return False
        before = index[: max(own_axes, default=-1) + 1]
        if isinstance(statement, Call) and not all(isinstance(p, Const) or p in own for p in before):
            return False
    return True


def _is_written_first(block: Sequence[Statement], buffer: Buffer, changing: Container[Expr]) -> bool:
    """Whether each iteration writes the same elements of a buffer, at whatever `changing` variables are, then reads it.

    A kernel writes as many elements as its numbers say, whatever it reads. What an iteration reads without having
    written it, the first iteration would have read before anything was written.
    """
    is_written = False
    for statement in block:
        inside = list(all_statements([statement]))
        uses = [(s, index) for s in inside for index in positions_in(s, buffer)]
        if not uses:
            continue
        if any(isinstance(s, When | While) for s in inside):
            return False
        fixed = [e for _, index in uses for e in index]
        fixed += [e for s in inside if isinstance(s, For) for e in expressions(s)]
        fixed += [n for s in inside if isinstance(s, Call) for n in s.numbers if not isinstance(n, int)]
        if any(part in changing or isinstance(part, Load) for e in fixed for part in parts_in_order(e)):
            return False
        if not is_written:
            readers = {load.buffer for load in loads(inside)}
            readers |= {b for s in inside if isinstance(s, Call) for b in _operands(s)}
            if buffer in readers:
                return False
        is_written = True
    return True


def _has_parts(loop: For) -> bool:
    """Whether kernels inside could be shared instead, each by its parts."""
    return any(isinstance(s, Call) and KERNELS[s.kernel].meaning.factors for s in all_statements([loop]))


def _operands(call: Call) -> Iterator[Buffer]:
    yield from (b for b, _ in call.addresses[KERNELS[call.kernel].meaning.written :])


def _bytes(buffer: Buffer) -> int:
    return math.prod(n for n in buffer.shape if isinstance(n, int)) * buffer.dtype.itemsize


def _suits(loop: For) -> bool:
    """Whether a loop does without the runtime, and leaves memory where it is."""
    return not any(isinstance(s, RunOp | Reserve | Swap | Take) for s in all_statements([loop]))


def _operation(expr: Expr) -> int:
    match expr:
        case Apply(op=op):
            return _FUNCTION_WORK if op in FUNCTIONS else 1
        case Load():
            return 1
        case _:
            return 0


def _may_be_row(work: Expr) -> bool:
    return not isinstance(work, Const) or work.value >= LEAST_ROW


def _is_row(loop: For) -> bool:
    """Whether a loop is an innermost one that may be long enough for vectors."""
    return not has_loop(loop) and not (isinstance(loop.extent, Const) and loop.extent.value < SIDE_BY_SIDE)


def _is_short(extent: Expr) -> bool:
    return isinstance(extent, Const) and extent.value <= PIECE


def _may_be_zero(extent: Expr) -> bool:
    """Whether dividing by it could fail before anybody knows that there is nothing to do."""
    return isinstance(extent, Const) and not extent.value


_FOLDED: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "max": max,
    "min": min,
    "div": lambda a, b: a // b if b else 0,
}


def _apply(op: str, x: Expr, y: Expr) -> Expr:
    if isinstance(x, Const) and isinstance(y, Const):
        return index_const(_FOLDED[op](int(x.value), int(y.value)))
    return Apply(INT64, op, (x, y))


def _add(x: Expr, y: Expr) -> Expr:
    return _unless_neutral("add", x, y, 0)


def _mul(x: Expr, y: Expr) -> Expr:
    return _unless_neutral("mul", x, y, 1)


def _unless_neutral(op: str, x: Expr, y: Expr, neutral: int) -> Expr:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Const) and one.value == neutral:
            return other
    return _apply(op, x, y)


def _divided(x: Expr, number: int) -> Expr:
    return _add(_apply("div", x, index_const(number)), index_const(1))
