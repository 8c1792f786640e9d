"""Values carried through every loop and branch on the way to a region, where each iteration makes new ones of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec.structs import replace

from whorl.ir.dtypes import INT64
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.types import TensorType
from whorl.ops.control.flow import If, Loop
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.movement.shapes import Size
from whorl.passes.expose.adding import HINT, Captures, add, complete_outputs, constant
from whorl.passes.expose.scopes import NamedValue, Scope

Update = Callable[[Sequence[Value]], Sequence[Value]]
"""Adds nodes to the innermost region that make the next values of those that reach it."""


def carry(
    chain: Sequence[Scope],
    before: Sequence[Value],
    types: Sequence[TensorType],
    captures: Captures,
    update: Update,
    when: NamedValue | None = None,
) -> list[Value]:
    """What becomes of values in the outermost node of a chain of scopes, as values of the region around it.

    `when` is a truth value of a scope in the chain; where it is false at the end of that, nothing inside has counted.
    """
    if not chain:
        return list(update(before))
    scope = chain[0]
    node = scope.node
    assert node is not None
    if isinstance(node.op, Loop):
        arguments = [add_carried(scope, value, type) for value, type in zip(before, types, strict=True)]
        results = _step(chain, arguments, types, captures, update, when)
        return [close_carried(scope, result, k) for k, result in enumerate(results, -len(results))]
    complete_outputs(node)
    for region in node.regions:
        arguments = [captures.capture(region, node, value) for value in before]
        is_on_the_way = region is scope.region
        region.results += _step(chain, arguments, types, captures, update, when) if is_on_the_way else arguments
    first = len(node.outputs)
    node.outputs += [Value(HINT, type, node, first + k) for k, type in enumerate(types)]
    return node.outputs[first:]


def _step(
    chain: Sequence[Scope],
    before: Sequence[Value],
    types: Sequence[TensorType],
    captures: Captures,
    update: Update,
    when: NamedValue | None,
) -> list[Value]:
    """What becomes of values in the outermost scope of a chain, as values of its region."""
    after = carry(chain[1:], before, types, captures, update, when)
    scope = chain[0]
    if when is None or when.scope is not scope:
        return after
    node = Node(If(), [when.value], (Region("then_branch"), Region("else_branch")))
    own = Captures()
    for region, values in zip(node.regions, (after, before), strict=True):
        region.results = [own.capture(region, node, value) for value in values]
    node.outputs = [Value(HINT, type, node, k) for k, type in enumerate(types)]
    scope.region.nodes.append(node)
    return node.outputs


def count_iterations(scope: Scope) -> Value:
    """The number of iterations that a loop made, as a value of the region that the loop is in."""
    assert scope.node is not None and scope.around is not None
    initial = constant(scope.around.region, np.zeros((), np.int64))
    argument = add_carried(scope, initial, TensorType(INT64, ()))
    return close_carried(scope, add(scope.region, Add(), argument, constant(scope.region, np.ones((), np.int64))))


def count_elements(module: Module, named: NamedValue) -> Value:
    """The number of elements that a tensor has in all iterations together, as a value of the main region."""
    initial = constant(module.main, np.zeros((), np.int64))

    def update(totals: Sequence[Value]) -> list[Value]:
        return [add(named.scope.region, Add(), totals[0], add(named.scope.region, Size(), named.value))]

    return carry(named.scope.chain, [initial], [TensorType(INT64, ())], Captures(), update)[0]


def add_carried(scope: Scope, initial: Value, type: TensorType) -> Value:
    """Another carried value of a loop, whose result `_close_carried` gives: its argument in the body."""
    node, region = scope.node, scope.region
    assert node is not None and isinstance(node.op, Loop)
    complete_outputs(node)
    position = 2 + node.op.carried
    node.inputs.insert(position, initial)
    argument = Value(HINT, type, region, position)
    region.set_arguments([*region.arguments[:position], argument, *region.arguments[position:]])
    region.results.insert(1 + node.op.carried, argument)
    node.outputs.insert(node.op.carried, Value(HINT, type, node, node.op.carried))
    for index, value in enumerate(node.outputs):
        value.index = index
    # A log grows, which a loop whose carried values keep their shapes does not allow.
    node.op = replace(node.op, carried=node.op.carried + 1, keep_shapes=False)
    return argument


def close_carried(scope: Scope, result: Value, position: int = -1) -> Value:
    """Let a carried value added before be this after an iteration; counted from the last one. The loop's output."""
    node = scope.node
    assert node is not None and isinstance(node.op, Loop)
    index = node.op.carried + position
    scope.region.results[1 + index] = result
    return node.outputs[index]
