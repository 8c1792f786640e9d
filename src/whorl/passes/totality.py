"""Which nodes surely give results, whatever the elements of their operands: they may run where they did not run before.

The op answers (`Op.is_total`), by the types of the operands and by intervals that hold their elements. A branch counts
as both of its regions. A loop is never total: its iterations have limits.
"""

from __future__ import annotations

import math

from whorl.errors import TypeRuleError
from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import STRING
from whorl.ir.graph import Node, Value
from whorl.ir.intervals import Interval, of_array, whole
from whorl.ir.types import TensorType
from whorl.ops.control.flow import If
from whorl.passes.rules.conditions import static_shape
from whorl.passes.rules.pattern import constant_of

_LARGEST = 1 << 16
"""Constants with more elements than this are not searched for their extremes."""
_DEEPEST = 16
"""Nodes in a row from whose operands an interval is derived."""


class Totality:
    """Asks nodes whether they are total, and remembers the intervals of values on the way."""

    def __init__(self) -> None:
        self.intervals: dict[Value, Interval | None] = {}

    def is_total(self, node: Node) -> bool:
        """Whether a node surely gives results, and nothing but its results shows that it ran."""
        op, inputs = node.op, node.inputs
        if isinstance(op, Constant):
            return True
        values = [value for value in (*inputs, *node.outputs) if value is not None]
        if not op.pure or not all(map(_is_fixed, values)):
            return False
        if isinstance(op, If):
            return _is_one(inputs[0]) and all(self.is_total(inner) for r in node.regions for inner in r.nodes)
        if node.regions:
            return False
        try:
            op.infer(*inputs)
        except TypeRuleError:
            return False
        return op.is_total([self._interval(value, _DEEPEST) for value in inputs], inputs, node.outputs)

    def _interval(self, value: Value | None, depth: int) -> Interval | None:
        """An interval of the elements of a value: of a constant, or by the op that makes it; else of its type."""
        if value is None or not isinstance(value.type, TensorType):
            return None
        if value not in self.intervals:
            self.intervals[value] = self._derived(value, depth) or whole(value.type.dtype)
        return self.intervals[value]

    def _derived(self, value: Value, depth: int) -> Interval | None:
        constant, node = constant_of(value), value.owner
        if constant is not None:
            is_small = math.prod(constant.value.shape) <= _LARGEST
            return of_array(as_array(constant.value)) if is_small else None
        if not isinstance(node, Node) or node.regions or len(node.outputs) != 1 or not depth:
            return None
        return node.op.bounds([self._interval(each, depth - 1) for each in node.inputs], node.inputs, value)


def _is_fixed(value: Value) -> bool:
    """Whether a value is a tensor of known lengths that holds no text."""
    return isinstance(value.type, TensorType) and value.type.dtype != STRING and static_shape(value.type) is not None


def _is_one(condition: Value | None) -> bool:
    shape = None if condition is None else static_shape(condition.type)
    return shape is not None and math.prod(shape) == 1
