"""Loops over time turned inside: a large tensor whose elements do not meet goes through all iterations part by part.

`while i < stop: for x: state[x] = f(state[x])` becomes `for part: while i < stop: for x in part: ...`, so that a part
stays in the fastest memory. A state that is larger than that memory would otherwise come from main memory in each
iteration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import TRUE, Apply, Buffer, Const, Expr, Var, index_const, is_true
from whorl.kernel.program import Assign, For, Program, Statement, Store, When, While
from whorl.kernel.verify import parts_in_order
from whorl.kernel.walk import Block, Replacement, all_statements, blocks, loads

LARGE, PART = 1 << 16, 1 << 14
"""Bytes of what stays from one iteration to the next: from where parts pay, and of a part."""
SMALLEST = 256
"""Elements of a part, at least, of a tensor with one axis."""


def cut_into_parts(program: Program) -> None:
    """Take large tensors through loops part by part, where no element depends on another one's."""
    _cut(program.body, "")


def _cut(block: Block, number: str) -> None:
    for position, statement in enumerate(block):
        if isinstance(statement, While):
            made = _in_parts(statement, f"{number}.{position}")
            if made is not None:
                block[position] = made
                continue
        for inner in blocks(statement):
            _cut(inner, f"{number}.{position}")


def _in_parts(loop: While, number: str) -> When | None:
    """The loop, part by part; None where it does more than step through one nest."""
    counter = _counter(loop)
    nests = [s for s in loop.body if isinstance(s, For)]
    if counter is None or len(nests) != 1 or not isinstance(nests[0].extent, Const) or not nests[0].parallel:
        return None
    (nest,), length = nests, int(nests[0].extent.value)
    size = _bytes(loop.body, nest, max(1, length))
    if not size or size * length < LARGE:
        return None
    has_rows = any(isinstance(s, For) for s in nest.body)
    count = _part(length, PART // size, 1 if has_rows else min(SMALLEST, length))
    return None if count is None else _rewritten(loop, nest, counter, length, count, number)


def _counter(loop: While) -> tuple[Var, Var] | None:
    """The variable that counts and the one that says to go on, where a body always says so and has no other effects."""
    match loop:
        case While(
            head=[], condition=Apply(op="and", args=(Var() as go, Apply(op="lt", args=(Var() as i, Var() | Const()))))
        ):
            pass
        case _:
            return None
    for statement in loop.body:
        match statement:
            case Assign(var, value) if var is go and is_true(value):
                continue
            case Assign(var, Apply(op="add", args=(x, Const(value=1)))) if var is i and x is i:
                continue
            case Assign(var) if var.once:
                continue
            case For() if all(isinstance(s, For | Store | Assign) for s in all_statements(statement.body)):
                if all(s.var.once for s in all_statements(statement.body) if isinstance(s, Assign)):
                    continue
            case _:
                pass
        return None
    return i, go


def _bytes(body: Sequence[Statement], nest: For, length: int) -> int | None:
    """The bytes that stay from one iteration to the next, for each step of a nest; None where steps may meet.

    They do not if all that is written is written, and read, at the step's own index along some axis.
    """
    axes: dict[Buffer, int] = {}
    for statement in all_statements([nest]):
        if isinstance(statement, Store):
            axis = axis_of(statement.index, nest.var)
            if axis is None or axes.setdefault(statement.buffer, axis) != axis:
                return None
    size = 0
    reused: set[Buffer] = set()
    for load in loads(body):
        axis = axis_of(load.index, nest.var)
        if load.buffer in axes and axes[load.buffer] != axis:
            return None
        if axis is not None and load.buffer not in reused and all(isinstance(n, int) for n in load.buffer.shape):
            reused.add(load.buffer)
            shape = [n for n in load.buffer.shape if isinstance(n, int)]
            size += math.prod(shape) * load.dtype.itemsize // length
    return size if reused & axes.keys() else None


def axis_of(index: Sequence[Expr], var: Var) -> int | None:
    """The one axis that goes with a variable, which is nowhere else in the index."""
    inside = [axis for axis, i in enumerate(index) if var in parts_in_order(i)]
    return inside[0] if len(inside) == 1 and index[inside[0]] is var else None


def _part(length: int, most: int, least: int) -> int | None:
    """How many steps to take at a time: a divisor, if one is near; None where parts would be too small."""
    if most < least:
        return None
    divisors = (n for n in range(most, max(least, most // 2) - 1, -1) if length % n == 0)
    return next(divisors, most)


def _rewritten(loop: While, nest: For, counter: tuple[Var, Var], length: int, count: int, number: str) -> When:
    i, go = counter
    part, step, turn = (Var(INT64, f"{hint}{number}", False) for hint in ("part", "step", "turn"))
    start, coordinate, first = (Var(INT64, f"{hint}{number}") for hint in ("start", "coordinate", "first"))
    extent: Expr = index_const(count)
    if length % count:
        extent = Apply(INT64, "min", (extent, Apply(INT64, "sub", (index_const(length), start))))
    Replacement(lambda expr: coordinate if expr is nest.var else None).block(nest.body)
    inner = For(step, extent, [Assign(coordinate, Apply(INT64, "add", (start, step))), *nest.body], parallel=True)
    body = [inner if s is nest else s for s in loop.body if not (isinstance(s, Assign) and s.var is go)]
    assert isinstance(loop.condition, Apply)
    goes_on = loop.condition.args[1]
    assert isinstance(goes_on, Apply)
    through = While([], goes_on, body)
    parts: Block = [
        Assign(turn, first),
        Assign(start, Apply(INT64, "mul", (part, index_const(count)))),
        through,
    ]
    own_counter = Replacement(lambda expr: turn if expr is i else None)
    own_counter.block([through])
    for position, statement in enumerate(body):
        if isinstance(statement, Assign) and statement.var is i:
            body[position] = Assign(turn, statement.value)
    every = For(part, index_const(-(-length // count)), parts, parallel=True)
    return When(loop.condition, [Assign(first, i), every, Assign(i, goes_on.args[1]), Assign(go, TRUE)])
