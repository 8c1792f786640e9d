"""Unswitching: a loop in which a captured condition decides a branch becomes a branch between two loops without it.

Engines then ask once instead of in every iteration, and what a branch does to carried values shows, which may have a
closed form. The model grows, so a body that is large, with all its conditions, remains as it is. So does one that draws
random numbers, since both loops would draw them from the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.dims import Dim
from whorl.ir.graph import Node, Region, Value, walk
from whorl.ir.infer import names_of
from whorl.ir.rewrite import rewrite
from whorl.ir.types import AnyShape, TensorType
from whorl.ir.walk import clone_region
from whorl.ops.control.flow import If, Loop, first_captured, known_bool
from whorl.passes.context import Context
from whorl.passes.inline import inline
from whorl.passes.push_constants import replace_arguments
from whorl.passes.rules.conditions import static_shape
from whorl.passes.simplify_loop import iterations

MOST_NODES = 1024
"""Nodes of all loops that a loop may become, if each of its invariant conditions doubles it."""
MOST_BYTES = 1 << 20
"""Bytes of their constants."""


def unswitch(node: Node, build: Builder, context: Context) -> Sequence[Value | None] | None:
    """What takes the place of a loop: an If on the first condition of its body that is the same in all iterations."""
    assert isinstance(node.op, Loop)
    if not context.is_enabled("unswitch"):
        return None
    switches = [(inner, k) for inner in node.regions[0].nodes if (k := _captured_condition(node, inner)) is not None]
    if not node.outputs or not switches or not _is_small(node, len({k for _, k in switches})):
        return None
    switch, position = switches[0]
    before = len(build.region.nodes)
    outputs = _switch(node, switch, position, build)
    if not _keeps_lengths(node, outputs) or not context.may_edit("unswitch"):
        del build.region.nodes[before:]
        return None
    return outputs


def _captured_condition(node: Node, inner: Node) -> int | None:
    """Which input of a loop is the condition of an If in its body: one element that nothing proves yet."""
    if not isinstance(inner.op, If):
        return None
    condition, body = inner.inputs[0], node.regions[0]
    if condition is None or condition.owner is not body or condition.index < first_captured(node):
        return None
    shape = static_shape(condition.type)
    return condition.index if shape in ((), (1,)) else None


def _is_small(node: Node, conditions: int) -> bool:
    """Whether the loops that it may become are not too many for their nodes and constants; none may be random."""
    inside = list(walk(node.regions[0]))
    constants = [inner.op.value for inner in inside if isinstance(inner.op, Constant)]
    size = sum(np.prod(value.shape, dtype=int) * value.dtype.itemsize for value in constants)
    is_small = len(inside) << conditions <= MOST_NODES and size << conditions <= MOST_BYTES
    return is_small and all(inner.op.pure for inner in inside)


def _switch(node: Node, switch: Node, position: int, build: Builder) -> list[Value]:
    """The If between the loop for a true condition and that for a false one."""
    condition = node.inputs[position]
    outer = list(dict.fromkeys(value for k, value in enumerate(node.inputs) if value is not None and k != position))
    branches: list[Region] = []
    for name, taken in (("then_branch", True), ("else_branch", False)):
        branch = Region(name)
        values: dict[Value | None, Value | None] = {None: None}
        values |= {value: branch.add_argument(value.name, value.type, value.known) for value in outer}
        body = clone_region(node.regions[0])
        shape = static_shape(body.arguments[position].type)
        replace_arguments(body, {position: Constant(np.full(shape or (), taken))})
        rewrite(body, build.inference, _inline_taken)
        inputs = [values[value] for k, value in enumerate(node.inputs) if k != position]
        names = [value.name for value in node.outputs]
        branch.results = Builder(branch, build.inference).add_many(node.op, inputs, names, [body], node.name)
        branches.append(branch)
    names = [value.name for value in node.outputs]
    return build.add_many(If(), [condition, *outer], names, branches, switch.name)


def _inline_taken(node: Node, build: Builder) -> Sequence[Value | None] | None:
    """The branch of an If whose condition is known."""
    if not isinstance(node.op, If):
        return None
    condition, *captured = node.inputs
    is_true = None if condition is None else known_bool(condition)
    if is_true is None:
        return None
    return inline(node.regions[0 if is_true else 1], [v for v in captured if v is not None], build)


def _keeps_lengths(node: Node, outputs: Sequence[Value]) -> bool:
    """Whether the outputs have the lengths of those of the loop, and also those that it gives in no iteration."""
    assert isinstance(node.op, Loop) and isinstance(outputs[0].owner, Node)
    pairs = [pair for old, new in zip(node.outputs, outputs, strict=True) for pair in _lengths_of_both(old, new)]
    outside = names_of(node.inputs)
    renamed = {(m, n) for m, n in pairs if not dims.equal(m, n)}
    if any(isinstance(m, int) or not outside.isdisjoint(dims.names_in(m)) for m, _ in renamed):
        return False
    if not len(renamed) == len({m for m, _ in renamed}) == len({n for _, n in renamed}):
        return False
    first = node.op.carried + node.op.last
    return (
        iterations(node)[0] > 0
        or all(
            _has_elements_of(old, new, how.axis)
            for branch in outputs[0].owner.regions  # the last outputs may be left out
            for old, new, how in zip(node.outputs[first:], branch.results[first:], node.op.collected, strict=False)
        )
    )


def _has_elements_of(a: Value, b: Value, axis: int) -> bool:
    """Whether two collected values have the same lengths, but for the axis of the iterations."""
    proved = [dims.equal(m, n) for m, n in _lengths_of_both(a, b)]
    del proved[axis]
    return all(proved)


def _lengths_of_both(a: Value, b: Value) -> list[tuple[Dim, Dim]]:
    """The lengths of two tensors, axis by axis; two that differ where one has a rank of its own."""
    if not isinstance(a.type, TensorType) or not isinstance(b.type, TensorType):
        return [] if a.type == b.type else [(0, 1)]
    x, y = a.type.shape, b.type.shape
    if isinstance(x, AnyShape) or isinstance(y, AnyShape):
        return [] if a.type == b.type else [(0, 1)]
    return list(zip(x, y, strict=True)) if len(x) == len(y) else [(0, 1)]
