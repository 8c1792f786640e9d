"""Values of a body handed to a function while the model runs: a node that calls it, in the iterations that count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from whorl.ir.build import UNTYPED
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Module, Node, Op, Region, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType
from whorl.ops.control.flow import If
from whorl.passes.expose.adding import HINT, Captures, add, add_output, constant, flat
from whorl.passes.expose.carrying import carry
from whorl.passes.expose.exposure import all_of, in_spans
from whorl.passes.expose.scopes import NamedValue, Scope
from whorl.passes.expose.windows import Window

Show = Callable[[Sequence[int], Sequence[np.ndarray]], None]
"""Takes the iterations of the loops around, outermost first, and values."""
SCALAR = TensorType(INT64, ())


class Watch(Op, frozen=True, eq=False):
    """Calls `show` once for each number that it is passed, and gives the next number.

    Inputs: the number, the iteration of each loop around, values. Native code that fails runs again from where a slice
    of a loop began, so that numbers come again, of which nothing is shown then.
    """

    abstract: ClassVar[bool] = True
    any_length = True

    loops: int
    show: Show
    shown: list[int]

    def infer(self, number: Fact, *others: Fact) -> TensorType:
        return SCALAR

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return None

    def run(self, number: np.ndarray, *others: np.ndarray) -> np.ndarray:
        count = int(number)
        if count >= self.shown[0]:
            # The memory of a program has other values later.
            values = [np.array(value) for value in others[self.loops :]]
            self.show([int(each.reshape(-1)[0]) for each in others[: self.loops]], values)
            self.shown[0] = count + 1
        return np.asarray(count + 1, np.int64)


def add_watch(
    module: Module,
    scope: Scope,
    values: Sequence[NamedValue],
    show: Show,
    window: Window,
    condition: NamedValue | None = None,
) -> None:
    """Let the module call `show` with values of a body in the iterations of a window in which a condition holds.

    The values lie in the scope, or around it; the condition in the scope. `retype` has to follow.
    """
    captures = Captures()
    op = Watch(len(scope.loops), show, [0])

    def update(numbers: Sequence[Value]) -> list[Value]:
        region = scope.region
        gate = _gate(scope, window, condition, captures)
        passed = [captures.bring(scope, loop.region.arguments[0], loop) for loop in scope.loops]
        passed += [captures.bring(scope, each.value, each.scope) for each in values]
        if gate is None:
            return [add(region, op, numbers[0], *passed)]
        return [_add_branch(region, gate, op, [numbers[0], *passed])]

    initial = constant(module.main, np.zeros((), np.int64))
    add_output(module, carry(scope.chain, [initial], [SCALAR], captures, update)[0])


def _gate(scope: Scope, window: Window, condition: NamedValue | None, captures: Captures) -> Value | None:
    """Whether an iteration counts, as a value of the scope; None where all do."""
    terms = [] if condition is None else [flat(scope.region, condition.value)]
    for loop in scope.loops:
        if spans := window.get(loop.path):
            number = captures.bring(scope, loop.region.arguments[0], loop)
            terms.append(in_spans(scope.region, flat(scope.region, number), spans))
    return all_of(scope.region, terms)


def _add_branch(region: Region, gate: Value, op: Watch, operands: Sequence[Value]) -> Value:
    """The next number, made only where the gate is true."""
    inner, other = Region("then_branch"), Region("else_branch")
    node = Node(If(), [gate], (inner, other))
    own = Captures()
    copies: Mapping[Value, Value] = {value: own.capture(inner, node, value) for value in dict.fromkeys(operands)}
    inner.results = [add(inner, op, *(copies[value] for value in operands))]
    other.results = [own.capture(other, node, operands[0])]
    node.outputs = [Value(HINT, UNTYPED, node, 0)]
    region.nodes.append(node)
    return node.outputs[0]
