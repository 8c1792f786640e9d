"""Polls: a program that may run for long asks now and then whether to go on, between pieces of its loops.

A loop whose iterations are short is cut into blocks, `for i < n` becomes `for block: poll; for i in block`, so that the
innermost loop stays as it was. Even a loop without iterations has one block, so what is around it need not poll. Work
is counted in scalar operations, as if nothing were done side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import FUNCTIONS, Apply, Const, Expr, Load, Var, index_const
from whorl.kernel.program import Assign, Call, For, Poll, Program, RunOp, Spread, Statement, When, While
from whorl.kernel.verify import parts_in_order
from whorl.kernel.walk import Block, expressions
from whorl.kernels.kernel import LANES
from whorl.kernels.table import KERNELS

SHORT = 1 << 21
"""Work of a program that is over before anybody looks."""
BLOCK = 1 << 16
"""Work between two polls, about; loops that do less in all have none."""
LEAST = 1 << 10
"""Work from which on a poll is not felt."""
OP_WORK = 1 << 12
FASTEST = 1e12
"""Operations that no core does in a second."""
_FUNCTION_WORK, _ROOT_WORK = 16, 4
_COSTLY = frozenset(("div", "rem", "sqrt"))


def insert_polls(program: Program, stop: Var | None = None) -> bool:
    """Add polls to a program, in place, unless it is surely over soon; whether there are any.

    A program that runs to `stop`, which its caller chooses by the time that it takes, has none where an iteration is
    short.
    """
    work = _Work(stop=stop)
    total = work.of_block(program.body)
    if total is not None and total <= (SHORT if stop is None else BLOCK):
        return False
    inserter = _Inserter(work)
    inserter.block(program.body)
    return inserter.count > 0


def least_seconds(program: Program) -> float:
    """The time that a program surely takes on any machine; what only the run knows counts as nothing."""
    return (_Work(unknown=0).of_block(program.body) or 0) / FASTEST


class _Work(Struct):
    """What statements do: a number, or None where only the run knows; with `unknown`, that is taken for it.

    A loop that runs to `stop` counts as one iteration.
    """

    unknown: int | None = None
    stop: Var | None = None
    known: dict[Expr, int] = field(default_factory=dict[Expr, int])

    def of_block(self, block: Sequence[Statement]) -> int | None:
        total = 0
        for statement in block:
            part = self.of(statement)
            if part is None:
                return None
            total += part
        return total

    def of(self, statement: Statement) -> int | None:
        match statement:
            case For(extent=Const(value=extent), body=body):
                inner = self.of_block(body)
                return None if inner is None else max(0, int(extent)) * (1 + inner)
            case For() | Spread():
                return self.unknown
            case While() if self.unknown is not None:
                return self.unknown
            case While(head=head, condition=condition, body=body):
                trips, inner = self.trips(condition), self.of_block((*head, *body))
                return None if trips is None or inner is None else trips * (1 + inner)
            case When(then=then, other=other):
                branches = [self.of_block(then), self.of_block(other)]
                if None in branches:
                    return None
                least = self.unknown is not None
                return 1 + (min if least else max)(n for n in branches if n is not None)
            case Call(kernel=kernel, numbers=numbers):
                if self.unknown is None and any(isinstance(n, Expr) for n in numbers):
                    return None
                return 1 + KERNELS[kernel].meaning.steps(statement.numbers_or(self.unknown or 0)) // LANES
            case RunOp():
                return OP_WORK
            case _:
                pass
        return 1 + sum(self.of_expr(expr) for expr in expressions(statement))

    def trips(self, condition: Expr) -> int | None:
        """The bound in a condition such as `go and i < bound`; None where there is none."""
        match condition:
            case Apply(op="lt", args=(_, Const(value=bound))):
                return max(0, int(bound))
            case Apply(op="lt", args=(_, bound)) if bound is self.stop:
                return 1
            case Apply(op="and", args=args):
                return min((n for n in map(self.trips, args) if n is not None), default=None)
            case _:
                pass
        return None

    def of_expr(self, expr: Expr) -> int:
        """The operations of an expression; shared parts count once."""
        if expr not in self.known:
            self.known[expr] = sum(map(_operation, parts_in_order(expr)))
        return self.known[expr]


def _operation(expr: Expr) -> int:
    match expr:
        case Apply(op=op):
            return _FUNCTION_WORK if op in FUNCTIONS else _ROOT_WORK if op in _COSTLY else 1
        case Load():
            return 1
        case _:
            pass
    return 0


class _Inserter(Struct):
    """The walk that adds polls. Each block gives back the work in it that no poll inside has counted."""

    work: _Work
    count: int = 0
    polling: set[int] = field(default_factory=set[int])
    """By identity, the loops in blocks, which poll whenever they are reached."""

    def block(self, block: Block) -> int:
        left, made = 0, list[Statement]()
        for statement in block:
            done, statements = self.statement(statement)
            left += done
            made += statements
        block[:] = made
        return left

    def statement(self, statement: Statement) -> tuple[int, list[Statement]]:
        """The work that is left to count, and what stands for the statement."""
        total = self.work.of(statement)
        if total is not None and total <= BLOCK:
            return total, [statement]
        match statement:
            case For():
                return 0, self.loop(statement)
            case Spread(extent=extent, work=work):
                self.block(statement.body)
                self.count += 1
                return 0, [Poll(1, _apply("mul", extent, work)), statement]
            case While():
                self.poll(statement.body, 1 + self.block(statement.head) + self.block(statement.body))
            case When():
                return 1 + max(self.block(statement.then), self.block(statement.other)), [statement]
            case Call():
                statement.polls = True
                self.count += 1
            case _:
                pass
        return 0, [statement]

    def poll(self, block: Block, work: int) -> None:
        block.insert(0, Poll(work))
        self.count += 1

    def loop(self, loop: For) -> list[Statement]:
        """A loop that polls in each iteration, or in each block of short ones."""
        before = self.count
        left = 1 + self.block(loop.body)
        if isinstance(loop.extent, Const) and not loop.extent.value:
            return [loop]
        if not self.polling.isdisjoint(map(id, loop.body)):
            return [loop]
        if left >= LEAST or self.count > before:
            self.poll(loop.body, left)
            return [loop]
        return self.in_blocks(loop, BLOCK // left, left)

    def in_blocks(self, loop: For, most: int, work: int) -> list[Statement]:
        """`for block: poll; for j < min(most, n - first): i = first + j; ...`; blocks of almost equal length."""
        number = self.count
        block, inner, rest = (Var(INT64, f"{name}.{number}") for name in ("block", "inner", "rest"))
        if isinstance(loop.extent, Const):
            total = int(loop.extent.value)
            count = -(-total // most)
            most = -(-total // max(1, count))
            length, blocks, before = loop.extent, index_const(count), list[Statement]()
        else:
            length = Var(INT64, f"extent.{number}")
            blocks = _plus(_apply("div", _plus(length, index_const(-1)), index_const(most)), index_const(1))
            before = [Assign(length, loop.extent)]
        first = _apply("mul", block, index_const(most))
        take = Assign(rest, _apply("min", index_const(most), _apply("sub", length, first)))
        loop.body.insert(0, Assign(loop.var, _plus(first, inner)))
        body = For(inner, rest, loop.body, loop.parallel)
        made = For(block, blocks, [take, Poll(work, _plus(rest, index_const(1))), body], loop.parallel)
        self.count += 1
        self.polling.add(id(made))
        return [*before, made]


def _apply(op: str, x: Expr, y: Expr) -> Expr:
    return Apply(INT64, op, (x, y))


def _plus(x: Expr, y: Expr) -> Expr:
    return _apply("add", x, y)
