"""Loops over time whose tensors have rows that do not meet: each row can go through all iterations on its own.

Such a loop only counts, and its nests use what they write at a row of their own. A row is one index of an axis: of the
loops over a batch, of the channels of a state. In a nest whose axes are collapsed into one loop, it is several steps.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Load, Var, is_true
from whorl.kernel.program import Assign, Fail, For, Reserve, Statement, Store, When, While
from whorl.kernel.tiles import PART, SMALLEST
from whorl.kernel.vectors import has_loop
from whorl.kernel.verify import constant_zero, parts_in_order
from whorl.kernel.walk import all_statements, count_uses, loads, positions_in, written_parts

MOST_AXES = 3
FEW, MANY = 8, 64
"""Rows from which there are as many as cores, and from which every core has several."""
BLOCK = 16
"""Rows that one core takes together where neighbours are computed side by side."""

Counter = tuple[Var, Var | None, Expr]
"""What counts the iterations of a loop, what says to go on, if anything does, and the number that it counts to."""


class RowLoop(Struct, frozen=True):
    """The loop of a nest that goes along the rows, each of which is `stride` of its steps."""

    nest: For
    loop: For
    stride: int


class Rows(Struct, frozen=True):
    """How many rows there are, and the loops that go along them, one in each nest.

    Where all of these lie in loops whose iterations do not meet either, `outer` are such rows of rows.
    """

    extent: Expr
    loops: list[RowLoop]
    outer: Rows | None = None

    @property
    def block(self) -> int:
        """Rows that one core takes together: vectors of them, where there are many and neighbours make vectors."""
        if isinstance(self.extent, Const) and self.extent.value < MANY:
            return 1
        return BLOCK if any(row.stride == 1 and not has_loop(row.loop) for row in self.loops) else 1

    @property
    def may_be_few(self) -> bool:
        """Whether there may be fewer rows than cores."""
        return not isinstance(self.extent, Const) or self.extent.value < FEW

    def of_part(self, loop: For | While, turn: Var) -> int | None:
        """The rows that are to go through a loop together, so that what each iteration uses again stays near.

        None where all stay there anyway, where lengths are unknown, and where what comes and goes with the iterations,
        whose number `turn` is, takes the time: it would be read and written in short pieces, or is as much.
        """
        if self.block == 1 or any(row.stride > 1 for row in self.loops):
            return None
        sizes = self._bytes_of_row({turn, *(s.var for s in loop.body if isinstance(s, Assign))})
        if sizes is None or sizes[0] <= sizes[1]:
            return None
        most = PART // sizes[0] // BLOCK * BLOCK
        fits = isinstance(self.extent, Const) and self.extent.value * sizes[0] <= 2 * PART
        return None if most < SMALLEST or fits else most

    def _bytes_of_row(self, turning: Set[Var]) -> tuple[int, int] | None:
        """Those that iterations use again, and those that each has of its own; None where lengths are unknown."""
        sizes: dict[tuple[Buffer, int, bool], int] = {}
        for row in self.loops:
            for buffer, index in _positions(row.nest):
                axis = _axis(index, row.loop.var)
                if axis is None:
                    continue
                turns = [not turning.isdisjoint(parts_in_order(i)) for i in index]
                lengths = [n for k, n in enumerate(buffer.shape) if k != axis and not turns[k]]
                if not all(isinstance(n, int) for n in lengths):
                    return None
                size = math.prod(n for n in lengths if isinstance(n, int)) * buffer.dtype.itemsize
                sizes[buffer, axis, any(turns)] = size
        reused, own = (sum(size for (*_, turns), size in sizes.items() if turns is each) for each in (False, True))
        return reused, own


def count_of(loop: For | While) -> Counter | None:
    """How a loop counts; None where it does more than that, or something else."""
    match loop:
        case For(var, extent, parallel=False):
            return var, None, extent
        case While(
            head=[],
            condition=Apply(op="and", args=(Var() as go, Apply(op="lt", args=(Var() as i, Var() | Const() as end)))),
        ):
            return i, go, end
        case _:
            return None


def find_rows(loop: For | While, counter: Counter, seen: Mapping[Var | Buffer, int]) -> Rows | None:
    """The rows of a loop that do not meet; `seen`: how often the whole program assigns variables and uses buffers."""
    changed = {b for s in all_statements(loop.body) for b in written_parts(s)}
    if not any(isinstance(s, For) for s in loop.body):
        return None
    counts = count_uses(all_statements(loop.body))
    if not all(_is_plain(s, counter, changed, counts) for s in loop.body):
        return None
    i, go, end = counter
    if any(counts[v] != seen[v] for v in counts if isinstance(v, Var) and v is not i and v is not go):
        return None
    lengths = [n for b in changed for n in b.shape if isinstance(n, Expr)]
    if not all(_is_before(n, counts) for n in (end, *lengths)):
        return None
    nests = [_axes(s) for s in loop.body if isinstance(s, For)]
    extents = [extent for extent in _extents(nests) if _is_before(extent, counts)]
    for extent in extents:
        loops = _along(extent, nests, changed)
        if loops is not None:
            rows = Rows(extent, loops)
            return rows if rows.block == 1 else replace(rows, outer=_outside(rows, extents, nests, changed))
    return None


def _outside(rows: Rows, extents: Sequence[Expr], nests: Sequence[Sequence[For]], changed: set[Buffer]) -> Rows | None:
    """Loops around those along rows whose iterations do not meet."""
    around = [
        list(takewhile(lambda loop, row=row: loop is not row.loop, nest))
        for nest, row in zip(nests, rows.loops, strict=True)
    ]
    for extent in extents:
        loops = _along(extent, around, changed) if all(around) else None
        if loops is not None and all(row.stride == 1 for row in (*loops, *rows.loops)):
            return Rows(extent, loops)
    return None


def _is_plain(statement: Statement, counter: Counter, changed: Container[Buffer], counts: Container[Expr]) -> bool:
    """Whether a statement of a loop counts, or does the same for all rows, or is a nest that may have some."""
    i, go, _ = counter
    match statement:
        case Assign(var, value) if var is go and is_true(value):
            return True
        case Assign(var, Apply(op="add", args=(x, Const(value=1)))) if var is i and x is i and go is not None:
            return True
        case Assign(var) if var.once:
            return not _reads(statement, changed)
        case When(then=then, other=other) if all(isinstance(s, Fail) for s in (*then, *other)):
            return not _reads(statement, changed)
        case Reserve(count=Apply(op="mul", args=(Apply(op="add", args=(x, Const(value=1))), size))):
            return go is not None and x is i and _is_before(size, counts)
        case For():
            return all(isinstance(s, For | Store | Assign | When | Fail) for s in all_statements(statement.body))
        case _:
            return False


def _reads(statement: Statement, buffers: Container[Buffer]) -> bool:
    return any(load.buffer in buffers for load in loads([statement]))


def _positions(nest: For) -> Iterator[tuple[Buffer, Sequence[Expr]]]:
    """What a nest reads and stores, and where."""
    for load in loads([nest]):
        yield load.buffer, load.index
    for statement in all_statements([nest]):
        if isinstance(statement, Store):
            yield statement.buffer, statement.index


def _is_before(number: Expr, counts: Container[Expr]) -> bool:
    """Whether a number is known before a loop that assigns the variables of `counts`."""
    return not any(part in counts or isinstance(part, Load) for part in parts_in_order(number))


def _axes(nest: For) -> list[For]:
    """A loop, and those which are all that it holds."""
    axes = [nest]
    while len(axes) < MOST_AXES and len(axes[-1].body) == 1 and isinstance(axes[-1].body[0], For):
        axes.append(axes[-1].body[0])
    return axes


def _extents(nests: Sequence[Sequence[For]]) -> Iterator[Expr]:
    """Numbers of rows that nests may have: long axes first, then those that may be short, the outermost ones first."""
    extents = list[Expr]()
    for depth in range(MOST_AXES):
        for axes in nests:
            if depth < len(axes) and not any(_is_same(axes[depth].extent, e) for e in extents):
                extents.append(axes[depth].extent)
    return iter(sorted((e for e in extents if not isinstance(e, Const) or e.value > 1), key=_may_be_short))


def _may_be_short(extent: Expr) -> int:
    return 1 if not isinstance(extent, Const) else 0 if extent.value >= MANY else 2


def _along(extent: Expr, nests: Sequence[Sequence[For]], changed: set[Buffer]) -> list[RowLoop] | None:
    """The loop of each nest that goes along so many rows; None where rows may meet."""
    axes: dict[Buffer, int] = {}
    chosen: list[RowLoop] = []
    for nest in nests:
        for row in _row_loops(extent, nest):
            own = _own_axes(row, extent, changed)
            if own is not None and all(axes.get(buffer, axis) == axis for buffer, axis in own.items()):
                axes |= own
                chosen.append(row)
                break
        else:
            return None
    return chosen


def _row_loops(extent: Expr, nest: Sequence[For]) -> Iterator[RowLoop]:
    for loop in nest:
        if _is_same(loop.extent, extent):
            yield RowLoop(nest[0], loop, 1)
    match nest, extent:
        case [For(extent=Const(value=steps)) as only], Const(value=rows) if steps > rows and steps % rows == 0:
            yield RowLoop(only, only, int(steps) // int(rows))
        case _:
            pass


def _own_axes(row: RowLoop, extent: Expr, changed: set[Buffer]) -> dict[Buffer, int] | None:
    """The axis of each buffer which goes along the rows; None where a nest uses one of `changed` otherwise."""
    axes: dict[Buffer, int] = {}
    for statement in all_statements([row.nest]):
        for buffer in changed:
            for index in positions_in(statement, buffer):
                axis = _axis(index, row.loop.var) if row.stride == 1 else _collapsed_axis(buffer, index, row, extent)
                if axis is None or axes.setdefault(buffer, axis) != axis:
                    return None
    return axes


def _axis(index: Sequence[Expr], var: Var) -> int | None:
    """The one axis that goes with a variable, which is nowhere else in the index."""
    inside = [axis for axis, i in enumerate(index) if var in parts_in_order(i)]
    return inside[0] if len(inside) == 1 and _without_zeros(index[inside[0]]) is var else None


def _without_zeros(expr: Expr) -> Expr:
    """What an expression adds to zeros."""
    match expr:
        case Apply(op="add", args=(x, y)) if _is_zero(x):
            return _without_zeros(y)
        case Apply(op="add", args=(x, y)) if _is_zero(y):
            return _without_zeros(x)
        case _:
            return expr


def _is_zero(expr: Expr) -> bool:
    match expr:
        case Apply(op="mul", args=args):
            return any(map(_is_zero, args))
        case _:
            return constant_zero(expr)


def _collapsed_axis(buffer: Buffer, index: Sequence[Expr], row: RowLoop, extent: Expr) -> int | None:
    """The axis of the rows, where a variable goes along it and all that are behind it."""
    assert isinstance(extent, Const)
    if index[-1] is not row.loop.var or any(row.loop.var in parts_in_order(i) for i in index[:-1]):
        return None
    for axis in reversed(range(len(index))):
        behind = buffer.shape[axis + 1 :]
        if not all(isinstance(n, int) for n in behind) or not all(map(_is_zero, index[axis:-1])):
            return None
        if math.prod(n for n in behind if isinstance(n, int)) == row.stride and buffer.shape[axis] == extent.value:
            return axis
    return None


def _is_same(x: Expr, y: Expr) -> bool:
    return x is y or (isinstance(x, Const) and isinstance(y, Const) and x.value == y.value)
