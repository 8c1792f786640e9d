"""About how much a program computes, from its statements alone, or for the lengths of a run."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whorl.ir.dtypes import INT64
from whorl.ir.forking import import_whole
from whorl.ir.native.expressions import TRUE, Apply, Const, Expr, Var, index_const
from whorl.kernel.program import Assign, Call, Fail, For, Program, RunOp, Spread, Statement, When, While
from whorl.lowering.arena import TYPICAL

if TYPE_CHECKING:
    from whorl.kernels.kernel import Kernel

LANES = 8
"""Steps of an innermost parallel loop that are taken together."""
MOST_TRIPS = 1 << 24
"""Iterations that a loop is taken to have where only the run knows how many, unless the caller says more."""
MOST_BEYOND = 8
"""Lengths that a ceiling remembers since the program computes more for them."""
OP_WORK = 4096
"""What an op that the runtime computes counts for, whatever it does."""
_ON_LENGTHS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "min": min,
    "max": max,
    "div": lambda x, y: x // y if y else 0,
}
_KEEPING = frozenset(("add", "sub", "div", "min", "max"))
"""What blocks of a loop are computed by; products of what only the run knows would say too much."""


def work_of(
    program: Program,
    most_trips: int = MOST_TRIPS,
    lengths: Mapping[Expr, int] | None = None,
    is_bound: bool = False,
    enough: int | None = None,
) -> int:
    """Innermost statements that run at most, where scalars have these lengths; `is_bound`: or any smaller ones.

    A loop whose bound only the run knows has `most_trips` of them. Above `enough`, their number does not matter.
    """
    return _Work(most_trips, dict(lengths or {}), is_bound=is_bound, enough=enough).of(program.body)


def steps_of(statements: Sequence[Statement], lengths: Mapping[Expr, int]) -> int:
    """Innermost statements that run one after the other, where scalars have these lengths."""
    return _Work(TYPICAL, dict(lengths), lanes=1).of(statements)


@functools.cache
def _kernels() -> Mapping[str, Kernel]:
    """The table of kernels, which a process that compiles nothing may not need."""
    kernels: dict[str, Kernel] = import_whole("whorl.kernels.table").KERNELS
    return kernels


class StepCounter:
    """The steps of statements for the lengths of each run, counted once for those of them that matter."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements = statements
        self.read: tuple[Expr, ...] | None = None
        self.counted: dict[tuple[int, ...], int] = {}

    def steps(self, lengths: Mapping[Expr, int]) -> int:
        """The steps where scalars, the same ones each time, have these lengths."""
        if self.read is None:
            known = _Recorder(lengths)
            steps = _Work(TYPICAL, known, lanes=1).of(self.statements)
            self.read = tuple([scalar for scalar in lengths if scalar in known.read])
            self.counted[tuple([lengths[scalar] for scalar in self.read])] = steps
            return steps
        key = tuple([lengths[scalar] for scalar in self.read])
        if key not in self.counted:
            self.counted[key] = steps_of(self.statements, lengths)
        return self.counted[key]


class _Recorder(dict[Expr, int]):
    """Numbers that are known, and of which of them the walk makes use, which it does whatever they are."""

    def __init__(self, known: Mapping[Expr, int]) -> None:
        super().__init__(known)
        self.read: set[Expr] = set()

    def get(self, key: Expr, default: int | None = None) -> int | None:  # type: ignore[override]
        self.read.add(key)
        return super().get(key, default)


class Ceiling:
    """Whether a program computes no more than `most`, by one of these measures, for the lengths of each run.

    To measure takes longer than many a run. It is done for powers of two, and what is smaller than those is within;
    what is larger than lengths for which it computes more is taken to do so, too.
    """

    def __init__(self, most: int, measure: Callable[[Mapping[Expr, int], bool], int]) -> None:
        self.most, self.measure = most, measure
        self.within: Mapping[Expr, int] = {}
        self.beyond: Sequence[Mapping[Expr, int]] = ()

    def covers(self, lengths: Mapping[Expr, int]) -> bool:
        """Whether it does for these lengths, of the same scalars each time."""
        within = self.within
        if within and _is_within(lengths, within):
            return True
        if any(_is_within(least, lengths) for least in self.beyond):
            return False
        larger = {scalar: max(within.get(scalar, 0), 1 << length.bit_length()) for scalar, length in lengths.items()}
        if self.measure(larger, True) <= self.most:
            self.within = larger
            return True
        if self.measure(lengths, False) <= self.most:
            return True
        others = [least for least in self.beyond if not _is_within(lengths, least)]
        self.beyond = [dict(lengths), *others][:MOST_BEYOND]
        return False


def _is_within(lengths: Mapping[Expr, int], most: Mapping[Expr, int]) -> bool:
    return all(abs(length) <= abs(most[scalar]) for scalar, length in lengths.items())


def skeleton(statements: Sequence[Statement], weight: Callable[[Statement], int] = lambda _: 1) -> list[Statement]:
    """Statements of as much work: loops with their bounds, and empty statements for each one by its weight."""
    return [bone for statement in statements for bone in _bones(statement, weight)]


def _bones(statement: Statement, weight: Callable[[Statement], int]) -> list[Statement]:
    match statement:
        case For(var=var, extent=extent, body=body, parallel=parallel):
            return [For(var, extent, skeleton(body, weight), parallel)]
        case Spread(first=first, count=count, extent=extent, body=body):
            return [When(TRUE, [Assign(first, index_const(0)), Assign(count, extent), *skeleton(body, weight)])]
        case While(head=head, condition=condition, body=body):
            return [While(skeleton(head, weight), condition, skeleton(body, weight))]
        case When(then=then, other=other):
            return [When(TRUE, skeleton(then, weight), skeleton(other, weight))]
        case Call(kernel=kernel, numbers=numbers):
            return [Call(kernel, [], numbers)]
        case RunOp() | Assign(var=Var(once=True, dtype=np.dtypes.Int64DType())):
            return [statement]
        case _:
            return [_STEP] * weight(statement)


_STEP = Fail()


class _Work(Struct):
    """The walk: what is taken for numbers that only the run knows, and the numbers that are known.

    Loops inside count as in the first iteration, which is the longest where they take what is left of a block.
    `is_bound`: numbers are what they are at most for lengths up to those that are known. The walk of a block ends where
    its statements are more than `enough`.
    """

    most: int
    known: dict[Expr, int]
    is_bound: bool = False
    lanes: int = LANES
    enough: int | None = None

    def of(self, statements: Sequence[Statement]) -> int:
        total = 0
        for statement in statements:
            if self.enough is not None and total > self.enough:
                break
            match statement:
                case Fail():
                    total += 1
                case Spread(first=first, count=count, extent=extent, body=body):
                    self.known |= {first: 0, count: self.extent(extent)}
                    total += self.of(body)
                case For(var=var, extent=extent, body=body, parallel=parallel):
                    self.known[var] = 0
                    side_by_side = parallel and not any(isinstance(s, For | While) for s in body)
                    count = self.extent(extent)
                    total += -(-count // (self.lanes if side_by_side else 1)) * self.of(body)
                case While(head=head, condition=condition, body=body):
                    total += self.trips(condition) * (1 + self.of(head) + self.of(body))
                case When(then=then, other=other):
                    total += 1 + max(self.of(then), self.of(other))
                case Call(kernel=kernel, numbers=numbers):
                    values = [n if isinstance(n, int) else self.number(n) for n in numbers]
                    total += _kernels()[kernel].meaning.work([TYPICAL if n is None else n for n in values])
                case RunOp():
                    total += OP_WORK
                case Assign(var=var, value=value) if var.once and (number := self.assigned(value)) is not None:
                    self.known[var] = number
                    total += 1
                case _:
                    total += 1
        return total

    def number(self, expr: Expr) -> int | None:
        """What an expression is, if it follows from what is known."""
        match expr:
            case Const(dtype=dtype, value=value):
                return int(value) if dtype == INT64 else None
            case Var():
                return self.known.get(expr)
            case Apply(op=op, args=(x, y)) if op in _ON_LENGTHS:
                first, second = self.number(x), self.number(y)
                return None if first is None or second is None else self.apply(op, first, second, y)
            case _:
                return None

    def apply(self, op: str, x: int, y: int, operand: Expr) -> int:
        """The result of an operation, whose second operand may be a smaller number if it is no constant."""
        if self.is_bound and op in ("sub", "div") and not isinstance(operand, Const) and y > 0:
            return x
        return _ON_LENGTHS[op](x, y)

    def assigned(self, value: Expr) -> int | None:
        """What a variable is; the rest of a loop that is cut into blocks is what its estimated length leaves."""
        is_rest = isinstance(value, Apply) and value.op == "min"
        return self.estimate(value) if is_rest else self.number(value)

    def extent(self, extent: Expr) -> int:
        number = self.number(extent)
        return max(0, self.estimate(extent) if number is None else number)

    def estimate(self, expr: Expr) -> int:
        """What an expression is where all that only the run knows is `most`; that makes nothing less."""
        number = self.number(expr)
        if number is None and isinstance(expr, Apply) and expr.op in _KEEPING:
            first, second = map(self.estimate, expr.args)
            is_less = expr.op in ("sub", "div") and self.number(expr.args[1]) is None
            number = first if is_less else self.apply(expr.op, first, second, expr.args[1])
        return self.most if number is None else number

    def trips(self, condition: Expr) -> int:
        """The bound in a condition such as `go and i < bound`."""
        match condition:
            case Apply(op="lt", args=(_, bound)) if (number := self.number(bound)) is not None:
                return max(0, number)
            case Apply(op="and", args=args):
                return min(self.trips(part) for part in args)
            case _:
                return self.most
