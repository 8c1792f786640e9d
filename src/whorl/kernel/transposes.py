"""Nests that read memory across its rows, cut into tiles: each line of a cache is read once for all of its elements.

`for a: for b: y[a, b] = f(x[b, a])` reads a line of x for one element, and comes back to it after as many lines as
there are b, when it is far away. In tiles of TILE by TILE elements the lines of both stay in the nearest cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Var, index_const
from whorl.kernel.program import Assign, For, Program, Store
from whorl.kernel.verify import parts_in_order
from whorl.kernel.walk import Block, blocks, loads

TILE = 16
"""Elements of a tile along both axes: a line of the cache of float32."""
NEAR = 128
"""Lines that stay in the nearest cache until the next element of each is read."""
FAR = 1 << 30
"""The stride of an axis behind which lengths are unknown."""


def tile_transposes(program: Program) -> None:
    """Cut nests of parallel loops into tiles where they read along one axis and write along another one."""
    _tile(program.body, "")


def _tile(block: Block, number: str) -> None:
    for position, statement in enumerate(block):
        if isinstance(statement, For):
            axes = _axes(statement)
            across = _across(axes)
            if across is not None:
                block[position] = _tiled(axes, across, f"{number}.{position}")
                continue
        for inner in blocks(statement):
            _tile(inner, f"{number}.{position}")


def _axes(nest: For) -> list[For]:
    """Parallel loops, each of which is all that the one around it holds."""
    axes = [nest]
    while len(axes[-1].body) == 1 and isinstance(inner := axes[-1].body[0], For):
        axes.append(inner)
    return axes


def _across(axes: Sequence[For]) -> int | None:
    """The loop along which memory is read in order that the innermost one reads across its rows, if it pays."""
    last, outer = axes[-1], {axis.var: n for n, axis in enumerate(axes[:-1])}
    is_plain = all(isinstance(s, Store) or (isinstance(s, Assign) and s.var.once) for s in last.body)
    if not outer or not is_plain or not all(axis.parallel for axis in axes):
        return None
    if any(stride(s.buffer, s.index, last.var) not in (0, 1) for s in last.body if isinstance(s, Store)):
        return None
    for load in loads(last.body):
        step = stride(load.buffer, load.index, last.var)
        if step is None or step < TILE:
            continue
        for var, n in outer.items():
            lines = math.prod(_about(axis.extent) for axis in axes[n + 1 :])
            is_free = not any(var in parts_in_order(axis.extent) for axis in axes)
            is_in_order = is_free and stride(load.buffer, load.index, var) == 1
            if is_in_order and lines > NEAR and _about(axes[n].extent) >= TILE // 2:
                return n
    return None


def _about(extent: Expr) -> int:
    return int(extent.value) if isinstance(extent, Const) else 2 * NEAR


def stride(buffer: Buffer, index: Sequence[Expr], var: Var) -> int | None:
    """How many elements further the next value of a variable leads; None where that is not the same everywhere."""
    total, step = 0, 1
    for expr, length in zip(reversed(index), reversed(buffer.shape), strict=True):
        factor = _factor(expr, var)
        if factor is None:
            return None
        total += factor * step
        step = min(step * length, FAR) if isinstance(length, int) else FAR
    return total


def _factor(expr: Expr, var: Var) -> int | None:
    match expr:
        case _ if expr is var:
            return 1
        case _ if var not in parts_in_order(expr):
            return 0
        case Apply(op="add" | "sub" as op, args=(x, y)):
            left, right = _factor(x, var), _factor(y, var)
            return None if left is None or right is None else left + (right if op == "add" else -right)
        case Apply(op="mul", args=(x, Const(value=number))) | Apply(op="mul", args=(Const(value=number), x)):
            factor = _factor(x, var)
            return None if factor is None else factor * int(number)
        case _:
            return None


def _tiled(axes: Sequence[For], across: int, number: str) -> For:
    """for ..., tiles along the axis that is read in order, ..., tiles along the last one: the elements of a tile."""
    body: Block = axes[-1].body
    for name, axis in (("column", axes[-1]), ("row", axes[across])):
        tile, step = (Var(INT64, f"{name}.{hint}{number}") for hint in ("tile", "step"))
        first = Apply(INT64, "mul", (tile, index_const(TILE)))
        length: Expr = index_const(TILE)
        if not isinstance(axis.extent, Const) or axis.extent.value % TILE:
            length = Apply(INT64, "min", (length, Apply(INT64, "sub", (axis.extent, first))))
        own = Assign(axis.var, Apply(INT64, "add", (first, step)))
        body = [For(step, length, [own, *body], parallel=True)]
        axis.var, axis.extent = tile, _tiles(axis.extent)
    axes[-1].body = body
    return axes[0]


def _tiles(extent: Expr) -> Expr:
    if isinstance(extent, Const):
        return index_const(-(-int(extent.value) // TILE))
    return Apply(INT64, "div", (Apply(INT64, "add", (extent, index_const(TILE - 1))), index_const(TILE)))
