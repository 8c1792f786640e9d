"""About how much a program computes, from its statements alone."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.native.expressions import Apply, Const, Expr
from whorl.kernel.program import Call, For, Program, RunOp, Statement, When, While
from whorl.kernels.table import KERNELS
from whorl.lowering.arena import TYPICAL
from whorl.lowering.builder import MOST_TRIPS

LANES = 8
"""Steps of an innermost parallel loop that are taken together."""
OP_WORK = 4096
"""What an op that the runtime computes counts for, whatever it does."""


def work_of(program: Program, most_trips: int = MOST_TRIPS) -> int:
    """Innermost statements that run at most; a loop whose bound only the run knows has `most_trips` of them."""
    return _work(program.body, most_trips, True)


def turns_of(program: Program, most_trips: int = MOST_TRIPS) -> int:
    """As `work_of`, where calls of kernels and of the runtime, and what memory bounds, count as one statement."""
    return _work(program.body, most_trips, False)


def _work(statements: Sequence[Statement], most: int, inside: bool) -> int:
    total = 0
    for statement in statements:
        match statement:
            case For(extent=extent, body=body, parallel=parallel):
                side_by_side = parallel and not any(isinstance(s, For | While) for s in body)
                count = _number(extent, most if inside else 1)
                total += -(-count // (LANES if side_by_side else 1)) * _work(body, most, inside)
            case While(head=head, condition=condition, body=body):
                total += _trips(condition, most) * (1 + _work(head, most, inside) + _work(body, most, inside))
            case When(then=then, other=other):
                total += 1 + max(_work(then, most, inside), _work(other, most, inside))
            case Call(kernel=kernel) if inside:
                total += KERNELS[kernel].meaning.work(statement.numbers_or(TYPICAL))
            case RunOp() if inside:
                total += OP_WORK
            case _:
                total += 1
    return total


def _number(extent: Expr, most: int) -> int:
    return max(0, int(extent.value)) if isinstance(extent, Const) else most


def _trips(condition: Expr, most: int) -> int:
    """The bound in a condition such as `go and i < bound`."""
    match condition:
        case Apply(op="lt", args=(_, Const(value=bound))):
            return max(0, int(bound))
        case Apply(op="and", args=args):
            return min(_trips(part, most) for part in args)
        case _:
            pass
    return most
