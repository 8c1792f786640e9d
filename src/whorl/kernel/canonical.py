"""The canonical form of a loop nest: the function that it is, and what it is called with.

Buffers and scalars are numbered in the order in which they appear, and so are the lengths and offsets that machine code
may as well take as parameters. Equal texts are equal functions: nests of equal blocks, and of blocks that differ in
their lengths alone, are compiled once.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence

from msgspec import Struct

from whorl.ir.cached_property import cached_property
from whorl.ir.dtypes import name_of
from whorl.ir.native.expressions import FUNCTIONS, Apply, Buffer, Const, Expr, Load, Var
from whorl.kernel.lengths import Lengths
from whorl.kernel.program import Assign, Call, Fail, For, Poll, Reserve, Spread, Statement, Store, Swap, When, While
from whorl.kernel.vectors import all_side_by_side
from whorl.kernel.verify import constant_zero
from whorl.kernel.walk import memory_parts


class Nest(Struct, frozen=True, eq=False, dict=True):
    """A statement as a function: of addresses, of scalars it reads, of those it changes, of lengths, of work to count.

    The function of a `Spread` computes one range.

    Nests are equal where their texts are. `moved` are buffers whose addresses change, `grown` those of them whose sizes
    may.
    """

    statement: For | Spread | While
    text: str
    buffers: tuple[Buffer, ...]
    moved: tuple[Buffer, ...]
    grown: tuple[Buffer, ...]
    values: tuple[Var, ...]
    results: tuple[Var, ...]
    lengths: tuple[Const, ...]
    polls: tuple[Poll, ...]
    asks: bool
    """Whether it may ask the runtime to go on, or for memory."""
    ends: bool
    """Whether it may end the program."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Nest) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def is_spread(self) -> bool:
        """Whether several cores may run it."""
        return isinstance(self.statement, Spread)

    @cached_property
    def key(self) -> str:
        """A name that nests share where they are equal."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]


class Description:
    """What statements do, as text: buffers, scalars and shared expressions by numbers, in the order of their use."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[Expr, str] = {}
        self.buffers: dict[Buffer, str] = {}
        self.moved: dict[Buffer, None] = {}
        self.variables: dict[Var, None] = {}
        self.assigned: dict[Var, None] = {}
        self.vectors: list[int] = []
        self.calls_functions = False

    def text(self) -> str:
        """The text so far; how many vectors loops compute at a time follows from lengths, where they call functions."""
        return "\n".join((*self.lines, str(self.vectors if self.calls_functions else "")))

    # ---- statements ------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self.lines.append(self.line(statement))
            match statement:
                case For(body=body) | Spread(body=body):
                    self.block(body)
                    self.lines.append("end")
                case When(then=then, other=other):
                    self.block(then)
                    self.lines.append("else")
                    self.block(other)
                    self.lines.append("end")
                case While(head=head, condition=condition, body=body):
                    self.block(head)
                    self.lines.append(f"while {self.expr(condition)}")
                    self.block(body)
                    self.lines.append("end")
                case _:
                    pass

    def line(self, statement: Statement) -> str:
        match statement:
            case Assign(var, value):
                text = self.expr(value)
                return f"{self.assign(var)} = {text}"
            case Store(buffer, index, value):
                text = self.expr(value)
                return f"{self.element(buffer, index)} = {text}"
            case For(var, extent, parallel=parallel):
                text = self.expr(extent)
                self.vectors += all_side_by_side(statement)
                return f"{'parallel ' if parallel else ''}for {self.assign(var)} < {text}"
            case Spread(first, count, extent, work):
                texts = self.expr(extent), self.expr(work)
                return f"spread {self.assign(first)} {self.assign(count)} {' '.join(texts)}"
            case When(condition):
                return f"if {self.expr(condition)}"
            case While():
                return "head"
            case Swap(a, b):
                self.moved |= {a: None, b: None}
                return f"swap {self.buffer(a)} {self.buffer(b)}"
            case Reserve(buffer, count):
                self.moved[buffer] = None
                text = self.expr(count)
                return f"reserve {self.buffer(buffer)} {text}"
            case Call(kernel, addresses, numbers, polls, parts):
                memory = [self.element(buffer, index) for buffer, index in addresses]
                texts = [self.expr(n) if isinstance(n, Expr) else str(n) for n in (*numbers, *(parts or ()))]
                return f"{kernel} {' '.join((*memory, *texts))}{' polls' if polls else ''}"
            case Poll(work, times):
                return f"poll {work}" + ("" if times is None else f" * {self.expr(times)}")
            case Fail(status):
                return f"fail {status}"
            case _:
                raise TypeError(f"{type(statement).__name__} is no part of a nest")

    def assign(self, var: Var) -> str:
        self.assigned[var] = None
        return self.expr(var)

    def buffer(self, buffer: Buffer) -> str:
        if buffer not in self.buffers:
            self.buffers[buffer] = f"b{len(self.buffers)}"
            return f"{self.buffers[buffer]}:{_name(buffer.dtype)}{' grows' if buffer.grows else ''}"
        return self.buffers[buffer]

    def element(self, buffer: Buffer, index: Sequence[Expr]) -> str:
        """The address of an element: of each axis the step from one position to the next, where it is not at 0."""
        steps = [
            f"{self.expr(position)}*{self.expr(stride) if isinstance(stride, Expr) else stride}"
            for position, stride in zip(index, buffer.strides, strict=True)
            if not constant_zero(position)
        ]
        return f"{self.buffer(buffer)}[{' + '.join(steps)}]"

    # ---- expressions -----------------------------------------------------------------------------------------

    def expr(self, expr: Expr) -> str:
        """The name of an expression, which lines before this one define; it may be very deep."""
        names = self.names
        if expr in names:
            return names[expr]
        waiting = [expr]
        while waiting:
            part = waiting[-1]
            if part not in names:
                inside = [inner for inner in memory_parts(part) if inner not in names]
                if inside:
                    waiting += inside[::-1]
                    continue
                names[part] = self.define(part)
            waiting.pop()
        return names[expr]

    def define(self, expr: Expr) -> str:
        match expr:
            case Const(dtype, value):
                return f"{_name(dtype)}:{value!r}"
            case Var(dtype, once=once):
                self.variables[expr] = None
                return f"v{len(self.variables)}:{_name(dtype)}{'' if once else '!'}"
            case Load(buffer=buffer, index=index):
                text = self.element(buffer, index)
            case Apply(dtype, op, args):
                self.calls_functions |= op in FUNCTIONS
                text = f"{op}:{_name(dtype)}({', '.join(self.names[a] for a in args)})"
            case _:
                raise TypeError(f"{expr!r} is no expression")
        self.lines.append(f"e{len(self.names)} = {text}")
        return f"e{len(self.names)}"


class NestDescription(Description):
    """A nest, which has lengths and the work of its polls as parameters."""

    def __init__(self, statement: For | Spread | While) -> None:
        super().__init__()
        self.statement = statement
        self.lengths = {const: f"n{n}" for n, const in enumerate(self.numbers_of(statement))}
        self.polls: list[Poll] = []
        self.asks = self.ends = False
        if isinstance(statement, Spread):
            self.lines.append(f"spread {self.assign(statement.first)} {self.assign(statement.count)}")
            self.block(statement.body)
        else:
            self.block([statement])

    def numbers_of(self, statement: Statement) -> Iterable[Const]:
        """The numbers that are parameters."""
        return Lengths(statement).lengths

    def line(self, statement: Statement) -> str:
        match statement:
            case Spread():
                self.asks = self.ends = True
            case Poll():
                self.asks = True
                self.polls.append(statement)
                return "poll" if statement.times is None else f"poll {self.expr(statement.times)}"
            case Call(polls=True):
                self.asks = True
            case Reserve():
                self.asks = self.ends = True
            case Fail():
                self.ends = True
            case _:
                pass
        return super().line(statement)

    def define(self, expr: Expr) -> str:
        return (isinstance(expr, Const) and self.lengths.get(expr)) or super().define(expr)

    def nest(self, seen: Iterable[Var]) -> Nest:
        """The nest, where something else sees these variables."""
        outside = set[Var]() if isinstance(self.statement, Spread) else set(seen)
        results = tuple(var for var in self.assigned if var in outside)
        names = [self.names[var] for var in results]
        return Nest(
            self.statement,
            f"{self.text()}\ngives {' '.join(names)}",
            tuple(self.buffers),
            tuple(self.moved),
            tuple(buffer for buffer in self.moved if buffer.grows),
            tuple(var for var in self.variables if var not in self.assigned),
            results,
            tuple(self.lengths),
            tuple(self.polls),
            self.asks,
            self.ends,
        )


_name = functools.cache(name_of)
