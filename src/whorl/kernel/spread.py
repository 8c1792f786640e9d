"""Which parts of a program several cores may share: nests whose iterations do not meet, and kernels.

They are those that may take long. Whether one does, and how many cores take it, is decided while the program runs; the
bits of its results do not depend on that, since every element is computed by one core as if there were no other.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence

from msgspec import Struct, field

from whorl.debug import debug
from whorl.ir.native.expressions import Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.marking import Marking
from whorl.kernel.program import (
    Assign,
    Call,
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
from whorl.kernel.turned_loops import turned_inside
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
from whorl.kernel.work_estimates import SIDE_BY_SIDE, add, apply, divide, multiply
from whorl.kernels.table import KERNELS
from whorl.llvm.routine import PARTS

LEAST = 1 << 14
"""Scalar operations from which work may be worth sharing with a core that is awake."""
LOOPS = 8
"""How many times as long loops are to take whose iterations are to have memory of their own."""
FEW = 64
"""Iterations of an outermost loop with which there is enough for every core, whatever is inside."""
LEAST_ROW = 16
"""Scalar operations from which an iteration is worth two divisions."""
PIECE = 1024
"""Iterations of an innermost loop that one core makes at a time."""
MOST_AXES = 3
RANGES, MOST_BYTES = 8, 1 << 20
"""Ranges of a loop that have scratch memory of their own, and the bytes of a buffer of which there may be so many."""


def spread(program: Program) -> dict[Buffer, Buffer]:
    """Mark what several cores may share, in place; the scratch buffers that became larger, with what they are now."""
    spreader = _Spreader(Marking(program, 0 if debug().spreads else LEAST))
    spreader.block(program.body, is_repeated=False)
    program.scratch = [spreader.private.get(buffer, buffer) for buffer in program.scratch]
    return spreader.private


class _Spreader(Struct):
    marking: Marking
    private: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])

    def block(self, block: Block, is_repeated: bool) -> None:
        """`is_repeated`: in a loop, where a nest is shared only if it surely takes long."""
        for position, statement in enumerate(block):
            made: Spread | When | None = self.shared(statement, is_repeated)
            if made is None and isinstance(statement, For | While) and not is_repeated:
                made = turned_inside(self.marking, statement)
            if made is not None:
                block[position] = made
                continue
            is_loop = isinstance(statement, For) or (isinstance(statement, While) and not statement.of_blocks)
            for inner in blocks(statement):
                self.block(inner, is_repeated or is_loop)

    def shared(self, statement: Statement, is_repeated: bool) -> Spread | None:
        if isinstance(statement, Call | For):
            self.marking.work.inside = {var for s in all_statements([statement]) for var in assigned(s)}
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
        total = self.marking.work.of_call(call)
        if isinstance(total, Const) and total.value < self.marking.least:
            return None
        first, count = self.marking.range()
        call.parts = first, add(first, count)
        return Spread(first, count, index_const(PARTS), divide(total, PARTS), [call])

    def nest(self, loop: For, is_repeated: bool) -> Spread | None:
        axes = self.axes(loop)
        work, extent = self.marking.work.of_block(axes[-1].body), index_const(1)
        if not has_loop(axes[-1]):
            work = divide(work, SIDE_BY_SIDE)
        for axis in axes:
            extent = multiply(extent, axis.extent)
        if not self.marking.is_worth(multiply(extent, work), is_repeated):
            return None
        first, count = self.marking.range()
        step, flat = self.marking.variable("step"), self.marking.variable("flat")
        body = [Assign(flat, add(first, step)), *self.coordinates(flat, axes), *axes[-1].body]
        return Spread(first, count, extent, work, [For(step, count, body, parallel=True)])

    def coordinates(self, flat: Expr, axes: Sequence[For]) -> list[Statement]:
        """The variables of loops inside each other, by the number of an iteration of all."""
        made: list[Statement] = []
        for axis in reversed(axes[1:]):
            before = self.marking.variable("before")
            made.append(Assign(before, apply("div", flat, axis.extent)))
            made.append(Assign(axis.var, apply("sub", flat, multiply(before, axis.extent))))
            flat = before
        return [*made, Assign(axes[0].var, flat)]

    # ---- iterations that meet in scratch memory alone --------------------------------------------------------

    def independent(self, loop: For, is_repeated: bool) -> Spread | None:
        """A loop whose iterations each write what they read of scratch memory, of which every range now has its own."""
        axes = [loop]
        while len(axes) < MOST_AXES and len(axes[-1].body) == 1:
            inner = axes[-1].body[0]
            if not isinstance(inner, For) or inner.parallel or not self.marking.work.is_known(inner.extent):
                break
            axes.append(inner)
        work, extent = self.marking.work.of_block(axes[-1].body), index_const(1)
        for axis in axes:
            extent = multiply(extent, axis.extent)
        total, least = multiply(extent, work), 2 * RANGES if _has_parts(loop) else 2
        if not self.marking.is_worth(total, is_repeated, LOOPS) or (isinstance(extent, Const) and extent.value < least):
            return None
        own = self.private_buffers(loop, axes)
        if own is None:
            return None
        first, count = self.marking.range()
        slot, start, step, flat = map(self.marking.variable, ("slot", "start", "step", "flat"))
        number = self.marking.variable("range")
        body = self.with_own_memory(axes[-1].body, slot, own)
        inner = [Assign(flat, add(start, step)), *self.coordinates(flat, axes), *body]
        end = apply("div", multiply(extent, add(slot, index_const(1))), index_const(RANGES))
        ranges: Block = [
            Assign(slot, add(first, number)),
            Assign(start, apply("div", multiply(extent, slot), index_const(RANGES))),
            For(step, apply("sub", end, start), inner),
        ]
        return Spread(first, count, index_const(RANGES), divide(total, RANGES), [For(number, count, ranges)])

    def private_buffers(self, loop: For, axes: Sequence[For]) -> list[Buffer] | None:
        """The scratch buffers that iterations write before they read them; None where they may meet in other memory."""
        inside = list(all_statements([loop]))
        changing = {axis.var for axis in axes} | {s.var for s in inside if isinstance(s, Assign)}
        counts = count_uses(inside)
        seen = self.marking.uses()
        if any(counts[var] != seen[var] for statement in inside for var in assigned(statement)):
            return None
        own: list[Buffer] = []
        for buffer in dict.fromkeys(b for s in inside for b in written_parts(s)):
            if _is_apart(((s, index) for s in inside for index in positions_in(s, buffer)), axes):
                continue
            is_own = buffer in self.marking.program.scratch and not buffer.grows and counts[buffer] == seen[buffer]
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
                case For(body=[For(parallel=True) as inner]) if _may_be_row(self.marking.work.of_block(inner.body)):
                    if not self.marking.work.is_known(inner.extent) or _may_be_zero(inner.extent):
                        break
                    if _is_row(inner):
                        return axes if _is_short(inner.extent) else [*axes, self.in_pieces(inner)]
                    axes.append(inner)
                case _:
                    break
        return axes

    def in_pieces(self, row: For) -> For:
        """A loop over the pieces of a row."""
        piece, inner = self.marking.variable("piece"), self.marking.variable("inner")
        self.marking.work.inside |= {piece, inner}
        most = apply("min", index_const(PIECE), row.extent)
        count = apply("div", add(row.extent, index_const(PIECE - 1)), index_const(PIECE))
        start = multiply(piece, index_const(PIECE))
        is_even = isinstance(row.extent, Const) and row.extent.value % PIECE == 0
        length = most if is_even else apply("min", most, apply("sub", row.extent, start))
        return For(piece, count, [For(inner, length, [Assign(row.var, add(start, inner)), *row.body], parallel=True)])


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
