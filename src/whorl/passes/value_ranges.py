"""Value ranges through the program, so that comparisons, limits and counts that they decide become constants.

A value has one interval for all its elements, through branches and loops. A body is gone through twice; what still
grows then may be anything, save an integer that grows by a constant: its bounds follow from the trip count. The
iteration number is below the trip count also where that is only a name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.constants import Constant, as_array
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.rewrite import rewrite
from whorl.ir.types import TensorType
from whorl.ops.control.flow import If, Loop
from whorl.ops.elementwise.arithmetic import Abs, Add, Clip, Max, Min
from whorl.ops.elementwise.nonlinear import Relu
from whorl.passes.context import Context
from whorl.passes.facts.intervals import Interval, of_array, union, whole, within
from whorl.passes.facts.transfer import transfer
from whorl.passes.rules.conditions import same_type, static_shape
from whorl.passes.rules.pattern import constant_of, maker
from whorl.passes.simplify_loop import iterations

_LARGEST = 1 << 16
"""Constants with more elements than this are not searched for their extremes."""
_ROUNDS = 2
"""Times a body is gone through before carried values are taken to be anything."""
_NO_BOUND = 1 << 62
"""The last iteration of a loop that nothing bounds: no run gets there."""
_VISITS_PER_NODE = 16
"""Nodes looked at for each node there is; beyond that, carried values are taken to be anything at once."""

MOST_OPERANDS = 64
"""Operands of a limit that are compared, each with all others."""


def value_ranges(module: Module, context: Context) -> None:
    """Replace what the ranges decide: integers and bools of one possible value, and limits that never limit."""
    facts = Ranges(module)

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        if isinstance(node.op, Constant) or node.regions or not node.op.pure or len(node.outputs) != 1:
            return None
        return _decided(node, build, facts, context) or _unlimited(node, facts, context)

    rewrite(module.main, context.inference, visit)


def _decided(node: Node, build: Builder, facts: Ranges, context: Context) -> Sequence[Value] | None:
    """A constant for a result that can be only one."""
    (value,) = node.outputs
    found, shape = facts.of(value), static_shape(value.type)
    if found is None or not found.is_point or shape is None or math.prod(shape) > _LARGEST:
        return None
    if not isinstance(value.type, TensorType) or value.type.dtype.kind not in "iub":
        return None
    if not context.may_edit("value_ranges"):
        return None
    return [build.constant(np.full(shape, found.low, value.type.dtype), value.name)]


def _unlimited(node: Node, facts: Ranges, context: Context) -> Sequence[Value] | None:
    """The operand that a limit leaves as it is."""
    operands = [value for value in node.inputs if value is not None]
    if len(operands) > MOST_OPERANDS:
        return None
    kept = next((value for value in operands if _stays(node, value, facts)), None)
    if kept is None or not same_type(kept.type, node.outputs[0].type) or not context.may_edit("value_ranges"):
        return None
    return [kept]


def _stays(node: Node, value: Value, facts: Ranges) -> bool:
    """Whether an elementwise limit surely gives this operand; 0 and -0 are not told apart, so floats must pass 0 by."""
    x = facts.of(value)
    others = [facts.of(each) for each in node.inputs if each is not None and each is not value]
    if x is None or x.nan or any(each is None or each.nan for each in others) or not others:
        is_sole = isinstance(node.op, (Relu, Abs)) and x is not None and not x.nan
        return is_sole and x is not None and (x.low > 0 or (x.low == 0 and isinstance(x.low, int)))
    known = [each for each in others if each is not None]
    match node.op:
        case Max():
            return all(each.high < x.low for each in known)
        case Min():
            return all(each.low > x.high for each in known)
        case Clip() if value is node.inputs[0]:
            low, high = (*node.inputs[1:], None, None)[:2]
            under = low is None or _end(facts.of(low), "high", -math.inf) < x.low
            return under and (high is None or _end(facts.of(high), "low", math.inf) > x.high)
    return False


def _end(interval: Interval | None, which: str, otherwise: float) -> float:
    return otherwise if interval is None else getattr(interval, which)


class Ranges:
    """The interval of every value of a module, found by going through regions as often as loops need."""

    def __init__(self, module: Module) -> None:
        self.intervals: dict[Value, Interval | None] = {}
        self.visits = _VISITS_PER_NODE * (1 + sum(1 for _ in module.nodes()))
        self._region(module.main)

    def of(self, value: Value | None) -> Interval | None:
        """The interval of a value; that of its element type where nothing is known."""
        if value is None:
            return None
        found = self.intervals.get(value)
        if found is None and (constant := constant_of(value)) is not None:
            found = self.intervals[value] = _of_constant(constant)
        if found is None and isinstance(value.type, TensorType):
            return whole(value.type.dtype)
        return found

    def _region(self, region: Region) -> None:
        """Find the intervals of a region whose arguments have theirs."""
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
                    found = transfer(node, [self.of(value) for value in node.inputs], node.inputs)
                    self.intervals.update(dict.fromkeys(node.outputs, found if _is_single(node) else None))

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
        counted = {k: found for k in range(op.carried) if (found := self._counter(node, k, most)) is not None}
        self.intervals.update((states[k], found) for k, (found, _) in counted.items())
        self._to_fixpoint(body, states, results, set(counted))
        for k, value in enumerate(node.outputs[: op.carried]):
            after = counted[k][1] if k in counted else union([self.of(node.inputs[2 + k]), self.of(results[k])])
            self.intervals[value] = after
        for value, result in zip(node.outputs[op.carried :], body.results[1 + op.carried :], strict=False):
            self.intervals[value] = self.of(result)

    def _to_fixpoint(self, body: Region, states: list[Value], results: list[Value], fixed: set[int]) -> None:
        """Widen the intervals of carried values until an iteration keeps within them."""
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
        found = []
        for count in (max(int(most) - 1, 0), int(most)):
            low, high = initial.low + min(0, by.low * count), initial.high + max(0, by.high * count)
            found.append(within(Interval(low, high), state.type.dtype))
        return None if found[0] is None or found[1] is None else (found[0], found[1])


def _is_single(node: Node) -> bool:
    """Whether what is said of the first output holds for all."""
    return len(node.outputs) == 1 or all(value.type == node.outputs[0].type for value in node.outputs[1:])


def _of_constant(op: Constant) -> Interval | None:
    return of_array(as_array(op.value)) if math.prod(op.value.shape) <= _LARGEST else None


def _numbers(node: Node, most: float) -> Interval:
    """The iteration numbers of a loop."""
    trip = node.inputs[0]
    known = None if trip is None or trip.known is None or trip.known.size != 1 else trip.known.flat[0]
    largest = _NO_BOUND if math.isinf(most) else max(int(most) - 1, 0)
    return Interval(0, largest, below=known)
