"""What the lengths of innermost parallel loops say about their vectors."""

from __future__ import annotations

from collections.abc import Iterable

from whorl.ir.native.expressions import Apply, Const, Expr
from whorl.kernel.program import For, While
from whorl.kernel.walk import all_statements

INTERLEAVED = ((512, 4), (128, 2))
"""Iterations of a parallel loop from which so many vectors are computed side by side where it calls functions: each of
these is a long chain of operations that wait for each other."""
VECTOR_BYTES = 16, 32, 64
"""What vectors there are. Elements of most loops that call functions are of four bytes."""
_LOOPS = For, While


def vectors_side_by_side(loop: For, vector_bytes: int) -> int:
    """How many vectors a loop computes at a time where it calls functions; 0 leaves that to the vectoriser.

    Shorter loops have as many if these come out even.
    """
    return 0 if not loop.parallel or has_loop(loop) else _side_by_side(most_iterations(loop.extent), vector_bytes)


def all_side_by_side(loop: For) -> Iterable[int]:
    """The same for each of `VECTOR_BYTES`."""
    if not loop.parallel or has_loop(loop):
        return (0,) * len(VECTOR_BYTES)
    most = most_iterations(loop.extent)
    return [_side_by_side(most, size) for size in VECTOR_BYTES]


def _side_by_side(most: int, vector_bytes: int) -> int:
    even = (n for _, n in INTERLEAVED if most and most % (n * vector_bytes // 4) == 0)
    return next(even, next((count for least, count in INTERLEAVED if most >= least), 0))


def has_loop(loop: For) -> bool:
    return any(isinstance(statement, _LOOPS) for statement in all_statements(loop.body))


def most_iterations(extent: Expr) -> int:
    """The number of iterations, at most, where the program says it; else 0."""
    match extent:
        case Const(value=value) | Apply(op="min", args=(Const(value=value), _)):
            return int(value)
        case _:
            return 0
