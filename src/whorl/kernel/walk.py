"""Walks over kernel programs: what statements are made of, and expressions with parts replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Load, Var
from whorl.kernel.program import (
    Assign,
    Call,
    For,
    Poll,
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
from whorl.kernel.verify import constant_zero, parts_in_order
from whorl.kernels.table import KERNELS

Block = list[Statement]


def blocks(statement: Statement) -> Sequence[Block]:
    """The statements inside a statement, in the order in which they run."""
    match statement:
        case For() | Spread():
            return (statement.body,)
        case When():
            return statement.then, statement.other
        case While():
            return statement.head, statement.body
        case _:
            return ()


_WITH_BLOCKS = For, Spread, When, While


def all_statements(block: Sequence[Statement]) -> Iterator[Statement]:
    """The statements of a block and all inside them."""
    pending = [*reversed(block)]
    while pending:
        statement = pending.pop()
        yield statement
        if isinstance(statement, _WITH_BLOCKS):
            for inner in reversed(blocks(statement)):
                pending += reversed(inner)


def position(block: Sequence[Statement], statement: Statement) -> int:
    """Where a statement, and none that is merely like it, stands in a block."""
    return next(n for n, s in enumerate(block) if s is statement)


def expressions(statement: Statement) -> Iterator[Expr]:
    """The expressions of a statement itself."""
    match statement:
        case Assign(value=value):
            yield value
        case Store(index=index, value=value):
            yield from (*index, value)
        case For(extent=extent):
            yield extent
        case Spread(extent=extent, work=work):
            yield from (extent, work)
        case When(condition=condition) | While(condition=condition):
            yield condition
        case Reserve(count=count):
            yield count
        case Call(addresses=addresses, numbers=numbers, parts=parts):
            for _, index in addresses:
                yield from index
            yield from (n for n in (*numbers, *(parts or ())) if isinstance(n, Expr))
        case RunOp(input_lengths=operands):
            for lengths in operands:
                yield from lengths
        case Poll(times=times) if times is not None:
            yield times
        case _:
            pass


def memory_parts(expr: Expr) -> Sequence[Expr]:
    """What an expression is made of, with the strides by which it reads memory."""
    if isinstance(expr, Apply):
        return expr.args
    if not isinstance(expr, Load):
        return ()
    strides = expr.buffer.strides
    moved = [n for n, position in enumerate(expr.index) if not constant_zero(position)]
    return [*(expr.index[n] for n in moved), *(strides[n] for n in moved if isinstance(strides[n], Expr))]  # type: ignore[misc]


def written(statement: Statement) -> Iterator[Buffer]:
    """The buffers whose elements, or whose place in memory, a statement itself changes."""
    match statement:
        case Store(buffer=buffer) | Reserve(buffer=buffer):
            yield buffer
        case Swap(a, b) | Take(a, b):
            yield from (a, b)
        case RunOp(outputs=outputs):
            yield from outputs
        case Call(addresses=addresses):
            yield from (buffer for buffer, _ in addresses)
        case _:
            pass


def assigned(statement: Statement) -> Iterator[Var]:
    """The variables that a statement itself gives values."""
    match statement:
        case Assign(var) | For(var):
            yield var
        case Spread(first, count):
            yield from (first, count)
        case RunOp(output_lengths=result):
            for registers in result:
                yield from registers
        case _:
            pass


def loads(block: Sequence[Statement]) -> Iterator[Load]:
    """The elements that the statements of a block, and all inside them, read; each expression once."""
    seen: set[Expr] = set()
    for statement in all_statements(block):
        for expr in expressions(statement):
            if expr not in seen:
                yield from (part for part in parts_in_order(expr, seen) if isinstance(part, Load))


def used_by(statement: Statement) -> set[Buffer]:
    """The buffers that a statement itself uses in any way."""
    result, seen = set(written(statement)), set[Expr]()
    for expr in expressions(statement):
        result.update(part.buffer for part in parts_in_order(expr, seen) if isinstance(part, Load))
    if isinstance(statement, RunOp):
        result.update(b for b in statement.inputs if b is not None)
    return result


def copy_program(program: Program) -> Program:
    """A program whose statements are its own."""
    body = copy_block(program.body)
    calls = {id(old): new for old, new in zip(all_statements(program.body), all_statements(body), strict=True)}
    copies: Any = [calls[id(call)] for call in program.calls if id(call) in calls]
    return replace(program, scratch=list(program.scratch), body=body, calls=copies)


def copy_block(block: Sequence[Statement]) -> Block:
    """Statements with the expressions of a block, and all inside them."""
    result: Block = []
    for statement in block:
        match statement:
            case For(body=body) | Spread(body=body):
                result.append(replace(statement, body=copy_block(body)))
            case When(then=then, other=other):
                result.append(replace(statement, then=copy_block(then), other=copy_block(other)))
            case While(head=head, body=body):
                result.append(replace(statement, head=copy_block(head), body=copy_block(body)))
            case _:
                result.append(replace(statement))
    return result


def rename_buffers(block: Sequence[Statement], names: Mapping[Buffer, Buffer]) -> None:
    """Let the statements of a block, and all inside them, use other buffers, in place."""

    def part(expr: Expr) -> Expr | None:
        is_renamed = isinstance(expr, Load) and expr.buffer in names
        return Load(expr.dtype, names[expr.buffer], expr.index) if is_renamed else None  # type: ignore[union-attr]

    replacement = Replacement(part)
    for statement in all_statements(block):
        replacement.statement(statement)
        match statement:
            case Store() | Reserve():
                statement.buffer = names.get(statement.buffer, statement.buffer)
            case Swap(a, b):
                statement.a, statement.b = names.get(a, a), names.get(b, b)
            case Take(buffer, source):
                statement.buffer, statement.source = names.get(buffer, buffer), names.get(source, source)
            case Call(addresses=addresses):
                statement.addresses = [(names.get(b, b), index) for b, index in addresses]
            case RunOp(inputs=inputs, outputs=outputs):
                statement.inputs = [None if b is None else names.get(b, b) for b in inputs]
                statement.outputs = [names.get(b, b) for b in outputs]
            case _:
                pass


class Replacement(Struct):
    """Expressions with parts replaced: `part(expr)` says what stands for a Var or a Load, None for itself.

    A Load is asked for with its own index already replaced.
    """

    part: Callable[[Expr], Expr | None]
    done: dict[Expr, Expr] = field(default_factory=dict[Expr, Expr])

    def expr(self, expr: Expr) -> Expr:
        for inner in parts_in_order(expr):
            if inner not in self.done:
                self.done[inner] = self._replaced(inner)
        return self.done[expr]

    def _replaced(self, expr: Expr) -> Expr:
        match expr:
            case Const():
                return expr
            case Load(dtype, buffer, index):
                indices = tuple(self.done[i] for i in index)
                same = all(a is b for a, b in zip(indices, index, strict=True))
                expr = expr if same else Load(dtype, buffer, indices)
            case Apply(dtype, op, args):
                values = tuple(self.done[a] for a in args)
                same = all(a is b for a, b in zip(values, args, strict=True))
                return expr if same else Apply(dtype, op, values)
            case _:
                pass
        result = self.part(expr)
        return expr if result is None else result

    def block(self, block: Sequence[Statement]) -> None:
        """Replace in the statements of a block and all inside them, in place."""
        for statement in all_statements(block):
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """Replace in a statement itself, in place."""
        match statement:
            case Assign():
                statement.value = self.expr(statement.value)
            case Store():
                statement.index = tuple(self.expr(i) for i in statement.index)
                statement.value = self.expr(statement.value)
            case For():
                statement.extent = self.expr(statement.extent)
            case Spread():
                statement.extent, statement.work = self.expr(statement.extent), self.expr(statement.work)
            case When() | While():
                statement.condition = self.expr(statement.condition)
            case Reserve():
                statement.count = self.expr(statement.count)
            case Call():
                statement.addresses = [(b, tuple(self.expr(i) for i in index)) for b, index in statement.addresses]
                statement.numbers = tuple(self.expr(n) if isinstance(n, Expr) else n for n in statement.numbers)
                if statement.parts is not None:
                    statement.parts = self.expr(statement.parts[0]), self.expr(statement.parts[1])
            case RunOp():
                statement.input_lengths = [tuple(self.expr(n) for n in lengths) for lengths in statement.input_lengths]
            case _:
                pass


def count_uses(statements: Iterable[Statement]) -> Counter[Var | Buffer]:
    """How often variables are assigned, and buffers used."""
    counts = Counter[Var | Buffer]()
    for statement in statements:
        counts.update(assigned(statement))
        counts.update(used_by(statement))
    return counts


def written_parts(statement: Statement) -> Iterator[Buffer]:
    """The buffers of which a statement itself writes elements."""
    if isinstance(statement, Call):
        yield from (b for b, _ in statement.addresses[: KERNELS[statement.kernel].meaning.written])
    else:
        yield from written(statement)


def positions_in(statement: Statement, buffer: Buffer) -> Iterator[tuple[Expr, ...]]:
    """The positions at which a statement itself uses a buffer; those of a kernel are where it begins."""
    match statement:
        case Store(target, index) if target is buffer:
            yield index
        case Call(addresses=addresses):
            yield from (index for target, index in addresses if target is buffer)
        case _:
            pass
    for expr in expressions(statement):
        for part in parts_in_order(expr):
            if isinstance(part, Load) and part.buffer is buffer:
                yield part.index
