"""The numbers of a nest that machine code may take as parameters: it is as fast, and serves nests of other lengths."""

from __future__ import annotations

from collections.abc import Iterator

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Apply, Const, Expr, Load
from whorl.kernel.program import Assign, Call, For, Statement, Store, While
from whorl.kernel.vectors import has_loop, most_iterations
from whorl.kernel.walk import all_statements, expressions, memory_parts

LONG, LONG_ALONE = 512, 64
"""Iterations from which code of an innermost parallel loop is as fast where their number is a parameter: inside other
loops, and on its own."""
SMALL = 16
"""Numbers up to which offsets and steps stay in the code: they say how neighbours are read."""

_LINEAR = frozenset(("add", "sub", "min"))
_WITH_PARTS = Apply, Load


class Lengths:
    """The numbers of a nest that code may take as parameters, in order: lengths of its loops, and offsets of elements.

    Those by which an innermost loop steps stay, and so do divisors, which code divides by without dividing, and the
    lengths of reductions, whose order follows from them. A loop over time has none: its nests run again and again.
    """

    def __init__(self, statement: Statement) -> None:
        inside = list(all_statements([statement]))
        loops = [s for s in inside if isinstance(s, For)]
        self.outer = {loop.var for loop in loops if has_loop(loop)}
        self.long = LONG if self.outer else LONG_ALONE
        self.lengths: dict[Const, None] = {}
        self.fixed: set[Expr] = set()
        self.seen: set[Expr] = set()
        for part in () if any(isinstance(s, While) for s in inside) else inside:
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
            if part in self.seen or not isinstance(part, _WITH_PARTS):
                continue
            self.seen.add(part)
            if isinstance(part, Load):
                for position in part.index:
                    self.size(position)
            elif part.op not in _LINEAR and not self.is_outer_step(part):
                self.fixed.update(part.args)
            waiting += memory_parts(part)[::-1]


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
