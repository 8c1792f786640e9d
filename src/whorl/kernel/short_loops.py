"""Short loops that change memory in position, cut into pieces that are whole vectors.

LLVM computes 10 elements as two vectors of which some lanes are off. What such a vector stores cannot be handed to the
load of the next iteration before it is in memory; a vector with all lanes on can.
"""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Apply, Const, Var, index_const
from whorl.kernel.program import Assign, For, Program, Statement, Store
from whorl.kernel.walk import Block, Replacement, blocks, loads

SHORTEST, LONGEST = 5, 15
"""Iterations of the loops that are cut; from 16 on LLVM makes such pieces itself."""


def cut_short_loops(program: Program) -> None:
    """Cut parallel loops of few iterations that store where they load into lengths that are powers of two."""
    _cut(program.body, "")


def _cut(block: Block, number: str) -> None:
    position = 0
    while position < len(block):
        statement = block[position]
        pieces = _pieces(statement, f"{number}.{position}") if isinstance(statement, For) else []
        if pieces:
            block[position : position + 1] = pieces
        else:
            for inner in blocks(statement):
                _cut(inner, f"{number}.{position}")
        position += max(1, len(pieces))


def _pieces(loop: For, number: str) -> list[Statement]:
    """The pieces of a loop; none where it stays."""
    if not loop.parallel or not isinstance(loop.extent, Const) or not SHORTEST <= loop.extent.value <= LONGEST:
        return []
    length, is_power = int(loop.extent.value), not int(loop.extent.value) & (int(loop.extent.value) - 1)
    simple = all(isinstance(s, Store) or (isinstance(s, Assign) and s.var.once) for s in loop.body)
    if is_power or not simple or not _updates_element(loop.body):
        return []
    result: list[Statement] = []
    start = 0
    while start < length:
        count = 1 << ((length - start).bit_length() - 1)
        result.append(_piece(loop, start, count, number))
        start += count
    return result


def _updates_element(body: Sequence[Statement]) -> bool:
    stored = {s.buffer for s in body if isinstance(s, Store)}
    return any(load.buffer in stored for load in loads(body))


def _piece(loop: For, start: int, count: int, number: str) -> For:
    """Some iterations of a loop, with variables of their own."""
    step, position = Var(INT64, f"piece{number}.{start}", False), Var(INT64, f"position{number}.{start}")
    fresh: dict[object, Var] = {loop.var: position}
    replacement = Replacement(fresh.get)
    body: list[Statement] = [Assign(position, Apply(INT64, "add", (step, index_const(start))))]
    for statement in loop.body:
        match statement:
            case Assign(var, value):
                fresh[var] = Var(var.dtype, f"{var.name}.{start}")
                body.append(Assign(fresh[var], replacement.expr(value)))
            case Store(buffer, index, value):
                body.append(Store(buffer, tuple(map(replacement.expr, index)), replacement.expr(value)))
            case _:
                pass
    return For(step, index_const(count), body, parallel=True)
