"""Loops over neighbouring axes collapsed into one: where memory is read in order, vectors need not end with a row.

Short last axes, such as rows of three elements, then make full vectors. Only loops whose variables are indices and
nothing else: in a value they would have to be divided out of the joined one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.program import Assign, For, Program, Store
from whorl.kernel.verify import parts_in_order
from whorl.kernel.walk import Block, Replacement, blocks, expressions, loads

FIRST = index_const(0)


def collapse_loops(program: Program) -> None:
    """Join parallel loops, one inside the other, that take every element they meet in row-major order."""
    _collapse(program.body)


def _collapse(block: Block) -> None:
    for statement in block:
        for inner in blocks(statement):
            _collapse(inner)
        if isinstance(statement, For):
            _collapse_with_inner(statement)


def _collapse_with_inner(outer: For) -> None:
    """Join a loop with the one that is all it holds, if the body only assigns and stores."""
    inner = outer.body[0] if len(outer.body) == 1 else None
    if not isinstance(inner, For) or not (outer.parallel and inner.parallel):
        return
    if not isinstance(outer.extent, Const) or not isinstance(inner.extent, Const):
        return
    body, length = inner.body, int(inner.extent.value)
    if not body or not all(isinstance(s, Store) or (isinstance(s, Assign) and s.var.once) for s in body):
        return
    accesses = [(load.buffer, load.index) for load in loads(body)]
    accesses += [(s.buffer, s.index) for s in body if isinstance(s, Store)]
    if not all(_in_order(buffer, index, outer.var, inner.var, length) for buffer, index in accesses):
        return
    if not _only_in_indices(body, outer.var, inner.var):
        return

    def at(index: Sequence[Expr]) -> tuple[Expr, ...]:
        return tuple(FIRST if i is outer.var else i for i in index)

    def part(expr: Expr) -> Expr | None:
        is_index = isinstance(expr, Load) and outer.var in expr.index
        return Load(expr.dtype, expr.buffer, at(expr.index)) if is_index else None  # type: ignore[union-attr]

    replacement = Replacement(part)
    for statement in body:
        if isinstance(statement, Store):
            statement.index = at(statement.index)
        replacement.statement(statement)
    outer.var, outer.extent = inner.var, index_const(int(outer.extent.value) * length)
    outer.body = body


def _in_order(buffer: Buffer, index: Sequence[Expr], outer: Var, inner: Var, length: int) -> bool:
    """Whether the loops go along neighbouring axes of a place, the inner one along all of the last, or along none."""
    if outer not in index and inner not in index:
        return True
    if not index or index[-1] is not inner or sum(i is outer or i is inner for i in index) != 2 or outer not in index:
        return False
    axis = next(n for n, i in enumerate(index) if i is outer)
    between = index[axis + 1 : -1]
    shape = buffer.shape[axis + 1 :]
    if not all(isinstance(i, Const) and i.value == 0 for i in between) or not all(isinstance(n, int) for n in shape):
        return False
    return math.prod(n for n in shape if isinstance(n, int)) == length


def _only_in_indices(body: Block, outer: Var, inner: Var) -> bool:
    """Whether the variables are indices of elements and nothing else."""
    for statement in body:
        assert isinstance(statement, Assign | Store)
        parts = [part for expr in expressions(statement) for part in parts_in_order(expr)]
        read = [statement.value, *(arg for part in parts if isinstance(part, Apply) for arg in part.args)]
        if any(x is outer or x is inner for x in read):
            return False
    return True
