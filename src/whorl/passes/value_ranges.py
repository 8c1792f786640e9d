"""Value ranges: comparisons, limits and counts that intervals decide become constants.

A value has one interval for all its elements, which its op derives from those of the operands (`Op.bounds`). Iterating
a body to a fixpoint could take as many rounds as the loop has iterations, so carried values that still grow after two
are widened to their type. An integer that grows by a constant is bounded by the trip count instead, and the iteration
number lies below it also where it is only a name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.constants import Constant, as_array
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.intervals import Interval, of_array, union, whole, within
from whorl.ir.rewrite import rewrite
from whorl.ir.types import TensorType
from whorl.ops.control.flow import If, Loop
from whorl.ops.elementwise.arithmetic import Add
from whorl.passes.context import Context
from whorl.passes.rules.conditions import same_type, static_shape
from whorl.passes.rules.pattern import constant_of, maker
from whorl.passes.simplify_loop import iterations

_LARGEST = 1 << 16
"""Constants with more elements than this are not searched for their extremes."""
_ROUNDS = 2
"""Visits of a body before carried values are widened to their type."""
_NO_BOUND = 1 << 62
"""The last iteration of a loop that nothing bounds: no run gets there."""
_VISITS_PER_NODE = 16
"""Visits for each node of the module; beyond that, carried values are widened at once."""

MAX_OPERANDS = 64
"""Operands of a limit that are compared, each with all others."""


def value_ranges(module: Module, context: Context) -> None:
    """Replace what the ranges decide: integers and bools of one possible value, and limits that never limit."""
    ranges = Ranges(module)

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        if isinstance(node.op, Constant) or node.regions or not node.op.pure or len(node.outputs) != 1:
            return None
        return _fold_point(node, build, ranges, context) or _forward(node, ranges, context)

    rewrite(module.main, context.inference, visit)


def _fold_point(node: Node, build: Builder, ranges: Ranges, context: Context) -> Sequence[Value] | None:
    """A constant for a result whose interval is one number."""
    (value,) = node.outputs
    interval, shape = ranges.of(value), static_shape(value.type)
    if interval is None or not interval.is_point or shape is None or math.prod(shape) > _LARGEST:
        return None
    if not isinstance(value.type, TensorType) or value.type.dtype.kind not in "iub":
        return None
    if not context.may_edit("value_ranges"):
        return None
    return [build.constant(np.full(shape, interval.low, value.type.dtype), value.name)]


def _forward(node: Node, ranges: Ranges, context: Context) -> Sequence[Value] | None:
    """The operand that the result surely is, as that of a limit that never limits."""
    if len(node.inputs) > MAX_OPERANDS:
        return None
    index = node.op.selected_operand([ranges.of(value) for value in node.inputs], node.inputs)
    operand = None if index is None else node.inputs[index]
    if operand is None or not same_type(operand.type, node.outputs[0].type) or not context.may_edit("value_ranges"):
        return None
    return [operand]


class Ranges:
    """The interval of every value of a module, through branches and loops."""

    def __init__(self, module: Module) -> None:
        self.intervals: dict[Value, Interval | None] = {}
        self.visits = _VISITS_PER_NODE * (1 + sum(1 for _ in module.nodes()))
        self._region(module.main)

    def of(self, value: Value | None) -> Interval | None:
        """The interval of a value; that of its element type where nothing is known."""
        if value is None:
            return None
        interval = self.intervals.get(value)
        if interval is None and (constant := constant_of(value)) is not None:
            interval = self.intervals[value] = _of_constant(constant)
        if interval is None and isinstance(value.type, TensorType):
            return whole(value.type.dtype)
        return interval

    def _region(self, region: Region) -> None:
        """Derive the intervals of a region's nodes from those of its arguments."""
        for node in region.nodes:
            self.visits -= 1
            match node.op:
                case Constant():
                    continue
                case If():
                    self._branches(node)
                case Loop():
                    self._loop(node, node.op)
                case _ if not node.regions and node.outputs:
                    self.intervals.update(dict.fromkeys(node.outputs, self._bounds(node)))
                case _:
                    pass

    def _bounds(self, node: Node) -> Interval | None:
        """The interval of the outputs of a node, which must be alike; None for that of their types."""
        result = node.outputs[0]
        if not isinstance(result.type, TensorType) or any(value.type != result.type for value in node.outputs[1:]):
            return None
        return node.op.bounds([self.of(value) for value in node.inputs], node.inputs, result)

    def _branches(self, node: Node) -> None:
        for region in node.regions:
            for argument, value in zip(region.arguments, node.inputs[1:], strict=True):
                self.intervals[argument] = self.of(value)
            self._region(region)
        for k, value in enumerate(node.outputs):
            self.intervals[value] = union(self.of(region.results[k]) for region in node.regions)

    def _loop(self, node: Node, op: Loop) -> None:
        body = node.regions[0]
        number, go_on, *arguments = body.arguments
        most = iterations(node)[1]
        self.intervals[number] = _numbers(node, most)
        self.intervals[go_on] = Interval(1, 1)
        for argument, value in zip(arguments, node.inputs[2:], strict=True):
            self.intervals[argument] = self.of(value)
        states, results = arguments[: op.carried], body.results[1 : 1 + op.carried]
        counted = {k: pair for k in range(op.carried) if (pair := self._counter(node, k, most)) is not None}
        self.intervals.update((states[k], inside) for k, (inside, _) in counted.items())
        self._to_fixpoint(body, states, results, set(counted))
        for k, value in enumerate(node.outputs[: op.carried]):
            after = counted[k][1] if k in counted else union([self.of(node.inputs[2 + k]), self.of(results[k])])
            self.intervals[value] = after
        for value, result in zip(node.outputs[op.carried :], body.results[1 + op.carried :], strict=False):
            self.intervals[value] = self.of(result)

    def _to_fixpoint(self, body: Region, states: list[Value], results: list[Value], fixed: set[int]) -> None:
        """Widen the intervals of carried values until those of the next iteration lie within them."""
        for attempt in range(_ROUNDS + 1):
            if attempt == _ROUNDS or self.visits < 0:
                self.intervals.update((s, None) for k, s in enumerate(states) if k not in fixed)
            self._region(body)
            pairs = [(s, union([self.of(s), self.of(r)])) for s, r in zip(states, results, strict=True)]
            grown = [(s, wide) for k, (s, wide) in enumerate(pairs) if k not in fixed and wide != self.of(s)]
            if not grown:
                return
            self.intervals.update(grown)

    def _counter(self, node: Node, k: int, most: float) -> tuple[Interval, Interval] | None:
        """The intervals of an integer that grows by a constant each time: in the body, and after the loop."""
        body, initial = node.regions[0], self.of(node.inputs[2 + k])
        state, step = body.arguments[2 + k], maker(body.results[1 + k])
        if step is None or not isinstance(step.op, Add) or state not in step.inputs or math.isinf(most):
            return None
        other = constant_of(step.inputs[1 - step.inputs.index(state)])
        by = None if other is None else _of_constant(other)
        if initial is None or by is None or not isinstance(state.type, TensorType) or state.type.dtype.kind not in "iu":
            return None
        inside, after = (
            within(
                Interval(initial.low + min(0, by.low * count), initial.high + max(0, by.high * count)), state.type.dtype
            )
            for count in (max(int(most) - 1, 0), int(most))
        )
        return None if inside is None or after is None else (inside, after)


def _of_constant(op: Constant) -> Interval | None:
    return of_array(as_array(op.value)) if math.prod(op.value.shape) <= _LARGEST else None


def _numbers(node: Node, most: float) -> Interval:
    """The iteration numbers of a loop."""
    trip = node.inputs[0]
    known = None if trip is None or trip.known is None or trip.known.size != 1 else trip.known.flat[0]
    largest = _NO_BOUND if math.isinf(most) else max(int(most) - 1, 0)
    return Interval(0, largest, below=known)
