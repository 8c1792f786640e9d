"""About how much work statements are, by what is known before they run: a number, or an expression of lengths."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import FUNCTIONS, Apply, Const, Expr, Load, Var, index_const
from whorl.kernel.program import Call, For, Statement, When, While
from whorl.kernel.vectors import has_loop
from whorl.kernel.verify import parts_in_order
from whorl.kernel.walk import expressions
from whorl.kernels.kernel import LANES
from whorl.kernels.table import KERNELS

SIDE_BY_SIDE = 8
"""Iterations of an innermost parallel loop that take as long as one."""
_FUNCTION_WORK = 16


class WorkEstimates(Struct):
    """Estimates of statements in a piece of program; `inside` are the variables that the piece gives values."""

    inside: set[Var] = field(default_factory=set[Var])
    costs: dict[Expr, int] = field(default_factory=dict[Expr, int])

    def is_known(self, extent: Expr) -> bool:
        """Whether a number of iterations is known before what is looked at begins."""
        return not any(part in self.inside or isinstance(part, Load) for part in parts_in_order(extent))

    def of_block(self, block: Sequence[Statement]) -> Expr:
        """Scalar operations of statements, about, by what is known before them."""
        total: Expr = index_const(0)
        for statement in block:
            total = add(total, self.of(statement))
        return total

    def of(self, statement: Statement) -> Expr:
        match statement:
            case For(extent=extent, body=body):
                total = multiply(self.most_iterations(extent), add(index_const(1), self.of_block(body)))
                return divide(total, SIDE_BY_SIDE) if statement.parallel and not has_loop(statement) else total
            case While(condition=condition, body=body):
                return multiply(self.trips(condition), add(index_const(1), self.of_block(body)))
            case When(then=then, other=other):
                return apply("max", self.of_block(then), self.of_block(other))
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
            total = multiply(total, number if isinstance(number, Expr) else index_const(number))
        return divide(total, LANES)

    def of_expr(self, expr: Expr) -> int:
        if expr not in self.costs:
            self.costs[expr] = sum(map(_operation, parts_in_order(expr)))
        return self.costs[expr]


def _operation(expr: Expr) -> int:
    match expr:
        case Apply(op=op):
            return _FUNCTION_WORK if op in FUNCTIONS else 1
        case Load():
            return 1
        case _:
            return 0


_FOLDED: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "max": max,
    "min": min,
    "div": lambda a, b: a // b if b else 0,
}


def apply(op: str, x: Expr, y: Expr) -> Expr:
    """An op of two int64 numbers, computed where both are known."""
    if isinstance(x, Const) and isinstance(y, Const):
        return index_const(_FOLDED[op](int(x.value), int(y.value)))
    return Apply(INT64, op, (x, y))


def add(x: Expr, y: Expr) -> Expr:
    return _unless_neutral("add", x, y, 0)


def multiply(x: Expr, y: Expr) -> Expr:
    return _unless_neutral("mul", x, y, 1)


def _unless_neutral(op: str, x: Expr, y: Expr, neutral: int) -> Expr:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Const) and one.value == neutral:
            return other
    return apply(op, x, y)


def divide(x: Expr, number: int) -> Expr:
    """A number divided, and one: there is always some work."""
    return add(apply("div", x, index_const(number)), index_const(1))
