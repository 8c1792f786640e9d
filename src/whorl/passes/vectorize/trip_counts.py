"""Trip counts of loops that a counter ends: `while i < n` becomes a loop of as many iterations.

The counter is the iteration number, or an integer that grows or falls by a constant; what it is compared with does not
change. Other parts of the condition stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64, is_integer
from whorl.ir.graph import Module, Node, Op, Region, Value
from whorl.ir.rewrite import rewrite
from whorl.ir.walk import clone_region
from whorl.ops.control.flow import Loop, known_bool
from whorl.ops.core.base import known_ints
from whorl.ops.elementwise.arithmetic import Add, Div, Max, Min, Mod, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Greater, GreaterOrEqual, Less, LessOrEqual
from whorl.ops.elementwise.logic import And, Not
from whorl.ops.movement.shapes import Reshape
from whorl.passes.context import Context
from whorl.passes.locations import Chooser, choose_all
from whorl.passes.rules.pattern import maker, tensor_type

NEVER = 1 << 62
"""A trip count that no run gets to."""


def count_iterations(module: Module, context: Context, is_chosen: Chooser = choose_all) -> None:
    """Give every chosen loop that a counter ends its trip count."""

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        if not isinstance(node.op, Loop) or not is_chosen(node):
            return None
        before = len(build.region.nodes)
        outputs = _counted(node, build)
        if outputs is None or not context.may_edit("count_iterations"):
            del build.region.nodes[before:]
            return None
        return outputs

    rewrite(module.main, context.inference, visit)


def _counted(node: Node, build: Builder) -> list[Value] | None:
    """The outputs of a loop whose condition has no counter any more; None where it has none."""
    assert isinstance(node.op, Loop)
    if node.inputs[1] is None or known_bool(node.regions[0].results[0]) is not None:
        return None
    body = clone_region(node.regions[0])
    counters = _Counters(node, body, build)
    counts: list[Value] = []
    others: list[Value] = []
    for part in _parts(body.results[0]):
        count = counters.count(part)
        if count is None:
            others.append(part)
        else:
            counts.append(count)
    if not counts:
        return None
    trip = node.inputs[0]
    limit = None if trip is None else known_ints(trip)
    if trip is not None and (limit is None or max(limit) < NEVER):
        counts.append(_as_number(trip, build))
    inside = Builder(body, build.inference)
    body.results[0] = inside.constant(np.array(True), "go_on") if not others else others[0]
    for part in others[1:]:
        body.results[0] = inside.add(And(), body.results[0], part, name="go_on")
    trip = counts[0] if len(counts) == 1 else build.add(Min(), *counts, name="trips")
    build.inference.visited.clear()
    names = [value.name for value in node.outputs]
    return build.add_many(node.op, [trip, *node.inputs[1:]], names, [body], node.name)


def _parts(condition: Value) -> list[Value]:
    """What all has to hold."""
    node = maker(condition)
    if node is not None and isinstance(node.op, And):
        return [part for value in node.inputs if value is not None for part in _parts(value)]
    return [condition]


def _as_number(value: Value, build: Builder) -> Value:
    """An integer of one element without axes, as int64."""
    if tensor_type(value).dtype != INT64:
        value = build.add(Cast(INT64), value, name=value.name)
    return value if tensor_type(value).shape == () else build.add(Reshape(), value, build.int64(), name=value.name)


_MIRRORED: dict[type[Op], type[Op]] = {
    Less: Greater,
    Greater: Less,
    LessOrEqual: GreaterOrEqual,
    GreaterOrEqual: LessOrEqual,
}
_NEGATED: dict[type[Op], type[Op]] = {
    Less: GreaterOrEqual,
    Greater: LessOrEqual,
    LessOrEqual: Greater,
    GreaterOrEqual: Less,
}


class _Counter(Struct, frozen=True):
    """An integer that is `first + offset + step * i` in iteration i; `first` is None for 0."""

    first: Value | None
    offset: int
    step: int


class _Counters:
    """The counters of one body, and the trip counts that comparisons with them give."""

    def __init__(self, node: Node, body: Region, build: Builder) -> None:
        assert isinstance(node.op, Loop)
        self.body, self.build = body, build
        self.number, _, self.states, _, copies = node.op.split(body.arguments)
        _, _, self.firsts, _, captured = node.op.split(node.inputs)
        self.outside: dict[Value, Value] = dict(zip(copies, captured, strict=True))

    def count(self, condition: Value) -> Value | None:
        """The number of iterations after which a condition first fails; None where no counter decides it."""
        node, is_negated = maker(condition), False
        if node is not None and isinstance(node.op, Not):
            node, is_negated = maker(node.inputs[0]), True
        if node is None or type(node.op) not in _MIRRORED:
            return None
        kind: type[Op] = _NEGATED[type(node.op)] if is_negated else type(node.op)
        a, b = (value for value in node.inputs if value is not None)
        counter, limit = self._counter(a), self._fixed(b)
        if counter is None or limit is None:
            counter, limit, kind = self._counter(b), self._fixed(a), _MIRRORED[kind]
        if counter is None or limit is None:
            return None
        is_rising = kind in (Less, LessOrEqual)
        if (counter.step > 0) is not is_rising or not counter.step:
            return None
        return self._until(counter, limit, 1 if kind in (LessOrEqual, GreaterOrEqual) else 0)

    def _until(self, counter: _Counter, limit: Value, also: int) -> Value:
        """The iterations until a counter gets to a limit, or passes it; the last one is that which finds it there."""
        build, step = self.build, abs(counter.step)
        sign = 1 if counter.step > 0 else -1
        distance = self._plus(limit, sign * also - counter.offset)
        if counter.first is not None:
            distance = build.add(Sub(), distance, _as_number(counter.first, build), name="distance")
        if sign < 0:
            distance = build.add(Sub(), self._scalar(0), distance, name="distance")
        distance = build.add(Max(), distance, self._scalar(0), name="distance")
        if step > 1:
            whole = build.add(Div(), distance, self._scalar(step), name="steps")
            rest = build.add(Mod(), distance, self._scalar(step), name="rest")
            distance = build.add(Add(), whole, build.add(Min(), rest, self._scalar(1), name="more"), name="steps")
        return self._plus(distance, 1)

    def _plus(self, value: Value, number: int) -> Value:
        return self.build.add(Add(), value, self._scalar(number), name="count") if number else value

    def _scalar(self, number: int) -> Value:
        return self.build.constant(np.array(number, INT64))

    def _fixed(self, value: Value) -> Value | None:
        """A value that is the same in all iterations, outside of the loop, as a number."""
        if not is_integer(tensor_type(value).dtype):
            return None
        if (number := self._literal(value)) is not None:
            return self._scalar(number)
        return _as_number(self.outside[value], self.build) if value in self.outside else None

    def _literal(self, value: Value | None) -> int | None:
        elements = None if value is None else known_ints(self.outside.get(value, value))
        return elements[0] if elements is not None and len(elements) == 1 else None

    def _counter(self, value: Value | None) -> _Counter | None:
        """The counter that a value is."""
        if value is self.number:
            return _Counter(None, 0, 1)
        if value is not None and value in self.states:
            k = self.states.index(value)
            step = self._added(self.body.results[1 + k], value)
            return None if step is None else _Counter(self.firsts[k], 0, step)
        node = None if value is None else maker(value)
        if node is None:
            return None
        if isinstance(node.op, Cast | Reshape):
            return self._counter(node.inputs[0]) if is_integer(tensor_type(node.outputs[0]).dtype) else None
        for operand in node.inputs:
            offset = None if operand is None else self._added(node.outputs[0], operand)
            counter = None if offset is None else self._counter(operand)
            if counter is not None and offset is not None:
                return _Counter(counter.first, counter.offset + offset, counter.step)
        return None

    def _added(self, value: Value, operand: Value) -> int | None:
        """The constant that makes a value of an operand."""
        node = maker(value)
        if node is None or not is_integer(tensor_type(value).dtype):
            return None
        match node.op:
            case Add() if operand in node.inputs:
                return self._literal(node.inputs[1 if node.inputs[0] is operand else 0])
            case Sub() if node.inputs[0] is operand:
                number = self._literal(node.inputs[1])
                return None if number is None else -number
            case _:
                return None
