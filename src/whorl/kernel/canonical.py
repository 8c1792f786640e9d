"""The canonical form of a loop nest: the function that it is, and what it is called with.

Buffers and scalars are numbered in the order in which they appear, and so are the lengths and offsets that machine code
may as well take as parameters. Equal texts are equal functions: nests of equal blocks, and of blocks that differ in
their lengths alone, are compiled once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from whorl.ir.dtypes import INT64, name_of
from whorl.ir.native.expressions import FUNCTIONS, Apply, Buffer, Const, Expr, Load, Var
from whorl.kernel.program import Assign, Call, Fail, For, Poll, Statement, Store, Swap, When, While
from whorl.kernel.vectors import has_loop, most_iterations, vectors_side_by_side
from whorl.kernel.verify import constant_zero
from whorl.kernel.walk import all_statements, expressions

LONG, LONG_ALONE = 512, 64
"""Iterations from which code of an innermost parallel loop is as fast where their number is a parameter: inside other
loops, and on its own."""
SMALL = 16
"""Numbers up to which offsets and steps stay in the code: they say how neighbours are read."""

_LINEAR = frozenset(("add", "sub", "min"))


@dataclass(frozen=True, eq=False)
class Nest:
    """A statement as a function: of addresses, of scalars it reads, of those it changes, of lengths, of work to count.

    Nests are equal where their texts are. `swapped` are buffers whose addresses change.
    """

    statement: For | While
    text: str
    buffers: tuple[Buffer, ...]
    swapped: tuple[Buffer, ...]
    values: tuple[Var, ...]
    results: tuple[Var, ...]
    lengths: tuple[Const, ...]
    polls: tuple[Poll, ...]
    asks: bool
    """Whether it may ask the runtime to go on."""
    ends: bool
    """Whether it may end the program."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Nest) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class Description:
    """What a statement does, as text, and which buffers, scalars and lengths it names."""

    def __init__(self, statement: For | While) -> None:
        self.statement = statement
        self.lines: list[str] = []
        self.names: dict[Expr, str] = {}
        self.buffers: dict[Buffer, str] = {}
        self.swapped: dict[Buffer, None] = {}
        self.variables: dict[Var, None] = {}
        self.assigned: dict[Var, None] = {}
        self.lengths = {const: f"n{n}" for n, const in enumerate(_Lengths(statement).lengths)}
        self.polls: list[Poll] = []
        self.vectors: list[int] = []
        self.asks = self.ends = self.calls_functions = False
        self.block([statement])

    def nest(self, seen: Iterable[Var]) -> Nest:
        """The nest, where something else sees these variables."""
        outside = set(seen)
        results = tuple(var for var in self.assigned if var in outside)
        names = [self.names[var] for var in results]
        return Nest(
            self.statement,
            "\n".join((*self.lines, f"gives {' '.join(names)}", str(self.vectors if self.calls_functions else ""))),
            tuple(self.buffers),
            tuple(self.swapped),
            tuple(var for var in self.variables if var not in self.assigned),
            results,
            tuple(self.lengths),
            tuple(self.polls),
            self.asks,
            self.ends,
        )

    # ---- statements ------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self.lines.append(self.line(statement))
            match statement:
                case For(body=body):
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
                self.vectors.append(vectors_side_by_side(statement))
                return f"{'parallel ' if parallel else ''}for {self.assign(var)} < {text}"
            case When(condition):
                return f"if {self.expr(condition)}"
            case While():
                return "head"
            case Swap(a, b):
                self.swapped |= {a: None, b: None}
                return f"swap {self.buffer(a)} {self.buffer(b)}"
            case Call(kernel, addresses, numbers, polls):
                self.asks |= polls
                memory = [self.element(buffer, index) for buffer, index in addresses]
                texts = [self.expr(n) if isinstance(n, Expr) else str(n) for n in numbers]
                return f"{kernel} {' '.join((*memory, *texts))}{' polls' if polls else ''}"
            case Poll():
                self.asks = True
                self.polls.append(statement)
                return "poll"
            case Fail(status):
                self.ends = True
                return f"fail {status}"
            case _:
                raise TypeError(f"{type(statement).__name__} is no part of a nest")

    def assign(self, var: Var) -> str:
        self.assigned[var] = None
        return self.expr(var)

    def buffer(self, buffer: Buffer) -> str:
        if buffer not in self.buffers:
            self.buffers[buffer] = f"b{len(self.buffers)}"
            return f"{self.buffers[buffer]}:{name_of(buffer.dtype)}"
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
        waiting = [expr]
        while expr not in self.names:
            part = waiting[-1]
            inside = [inner for inner in _parts(part) if inner not in self.names]
            if inside:
                waiting += reversed(inside)
                continue
            if part not in self.names:
                self.names[part] = self.define(part)
            waiting.pop()
        return self.names[expr]

    def define(self, expr: Expr) -> str:
        match expr:
            case Const(dtype, value):
                return self.lengths.get(expr) or f"{name_of(dtype)}:{value!r}"
            case Var(dtype, once=once):
                self.variables[expr] = None
                return f"v{len(self.variables)}:{name_of(dtype)}{'' if once else '!'}"
            case Load(buffer=buffer, index=index):
                text = self.element(buffer, index)
            case Apply(dtype, op, args):
                self.calls_functions |= op in FUNCTIONS
                text = f"{op}:{name_of(dtype)}({', '.join(self.names[a] for a in args)})"
            case _:
                raise TypeError(f"{expr!r} is no expression")
        self.lines.append(f"e{len(self.names)} = {text}")
        return f"e{len(self.names)}"


def _parts(expr: Expr) -> Sequence[Expr]:
    """What an expression is made of, with the strides by which it reads memory."""
    match expr:
        case Load(buffer=buffer, index=index):
            moved = [n for n, position in enumerate(index) if not constant_zero(position)]
            strides = [buffer.strides[n] for n in moved]
            return [*(index[n] for n in moved), *(stride for stride in strides if isinstance(stride, Expr))]
        case Apply(args=args):
            return args
        case _:
            return ()


class _Lengths:
    """The numbers of a nest that code may take as parameters, in order: lengths of its loops, and offsets of elements.

    Those by which an innermost loop steps stay, and so do divisors, which code divides by without dividing, and the
    lengths of reductions, whose order follows from them.
    """

    def __init__(self, statement: Statement) -> None:
        inside = list(all_statements([statement]))
        loops = [s for s in inside if isinstance(s, For)]
        self.outer = {loop.var for loop in loops if has_loop(loop)}
        self.long = LONG if self.outer or not loops else LONG_ALONE
        self.lengths: dict[Const, None] = {}
        self.fixed: set[Expr] = set()
        self.seen: set[Expr] = set()
        for part in inside:
            if isinstance(part, For):
                self.size(part.extent, 1)
            for expr in _positions(part):
                self.size(expr)
            for expr in expressions(part):
                self.parts(expr)
            if isinstance(part, For) and not self.is_long(part):
                self.fixed.add(part.extent)
        self.lengths = {const: None for const in self.lengths if const not in self.fixed}

    def is_long(self, loop: For) -> bool:
        """Whether code is as fast where the number of iterations is a parameter."""
        return loop.var in self.outer or (loop.parallel and most_iterations(loop.extent) >= self.long)

    def size(self, expr: Expr, least: int = SMALL) -> None:
        """Sums, differences and least ones of numbers, and numbers of iterations of outer loops by them."""
        match expr:
            case Const(dtype, value):
                if dtype == INT64 and abs(value) > least:
                    self.lengths[expr] = None
            case Apply(op=op, args=args) if op in _LINEAR or self.is_outer_step(expr):
                for arg in args:
                    self.size(arg)
            case _:
                pass

    def is_outer_step(self, expr: Apply) -> bool:
        return expr.op == "mul" and expr.args[0] in self.outer

    def parts(self, expr: Expr) -> None:
        """The indices of the elements that an expression reads, and the numbers in it that stay."""
        waiting = [expr]
        while waiting:
            part = waiting.pop()
            if part in self.seen:
                continue
            self.seen.add(part)
            if isinstance(part, Load):
                for position in part.index:
                    self.size(position)
            elif isinstance(part, Apply) and part.op not in _LINEAR and not self.is_outer_step(part):
                self.fixed.update(part.args)
            waiting += reversed(_parts(part))


def _positions(statement: Statement) -> Iterator[Expr]:
    """Positions of elements in a statement itself."""
    match statement:
        case Store(index=index):
            yield from index
        case Assign(var, Apply() as value) if var.once and var.dtype == INT64:
            yield value
        case Call(addresses=addresses):
            for _, index in addresses:
                yield from index
        case _:
            pass
