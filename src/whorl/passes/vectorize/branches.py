"""Branches inside a body: both are computed, and a node selects, so that what they do to carried values shows."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.rewrite import rewrite
from whorl.ops.control.flow import If
from whorl.ops.elementwise.comparison import Where
from whorl.ops.movement.shapes import Reshape
from whorl.passes.inline import inline
from whorl.passes.rules.conditions import same_type
from whorl.passes.rules.pattern import maker, tensor_type
from whorl.passes.unroll.clamping import speculatable
from whorl.passes.unroll.legality import CannotUnroll


def open_branches(body: Region, inference: Inference, captured: Sequence[Value]) -> None:
    """Compute both branches of every If that iterations take differently, where neither can fail.

    `captured` are the arguments that are the same in all of them.
    An output is then a Where; one whose type differs is an If of its own, whose branches hand on one value each.
    """

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        if not isinstance(node.op, If) or selection_of(node) or node.inputs[0] not in _varying(body, captured):
            return None
        try:
            regions = [speculatable(region, inference) for region in node.regions]
        except CannotUnroll:
            return None
        return _opened(node, regions, build)

    while rewrite(body, inference, visit):
        pass


def _varying(body: Region, captured: Sequence[Value]) -> set[Value | None]:
    """The values that may differ from one iteration to another."""
    varying: set[Value | None] = {value for value in body.arguments if value not in captured}
    for node in body.nodes:
        if not varying.isdisjoint(node.inputs):
            varying.update(node.outputs)
    return varying


def _opened(node: Node, regions: Sequence[Region], build: Builder) -> list[Value]:
    condition, *captured = (value for value in node.inputs if value is not None)
    if tensor_type(condition).shape != ():
        condition = build.add(Reshape(), condition, build.int64(), name=condition.name)
    then, other = (inline(region, captured, build) for region in regions)
    return [_select(condition, a, b, v.name, build) for a, b, v in zip(then, other, node.outputs, strict=True)]


def _select(condition: Value, then: Value, other: Value, name: str, build: Builder) -> Value:
    if then is other:
        return then
    if same_type(then.type, other.type):
        return build.add(Where(), condition, then, other, name=name)
    branches: list[Region] = []
    for k in (0, 1):
        branch = Region(("then_branch", "else_branch")[k])
        branch.results = [[branch.add_argument(v.name, v.type, v.known) for v in (then, other)][k]]
        branches.append(branch)
    build.inference.visited.clear()
    return build.add_many(If(), [condition, then, other], [name], branches, name)[0]


def selection_of(value: Value | Node) -> tuple[Value, Value, Value] | None:
    """The condition and the two values of a node that selects; None for any other node."""
    node = value if isinstance(value, Node) else maker(value)
    if node is None or not isinstance(node.op, If | Where) or None in node.inputs or len(node.inputs) != 3:
        return None
    condition, then, other = (v for v in node.inputs if v is not None)
    if isinstance(node.op, If):
        chosen = [region.results == [region.arguments[k]] for k, region in enumerate(node.regions)]
        if not all(chosen):
            return None
    return condition, then, other
