"""Ifs that one condition decides become one, and what both branches compute alike is computed before them."""

from __future__ import annotations

import math
from typing import Any

from whorl.ir.build import Builder
from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import STRING
from whorl.ir.elements.mapped import SMALL
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ops.control.flow import If
from whorl.passes.context import Context
from whorl.passes.cse import has_same_attributes


def merge_branches(region: Region, context: Context) -> None:
    """Merge the Ifs of a region that have one condition: the first moves to the second, unless it is read before."""
    index = 0
    while index < len(region.nodes):
        first = region.nodes[index]
        other = _next_on_the_same(region, index) if isinstance(first.op, If) else None
        if other is None or not context.may_edit("merge_branches"):
            index += 1
            continue
        second = region.nodes[other]
        region.nodes[other] = _merge(first, second)
        context.inference.visited.clear()
        context.inference.node(region.nodes[other])
        del region.nodes[index]


def _next_on_the_same(region: Region, index: int) -> int | None:
    """The position of the next If on the condition of one, if nothing between reads what that gives."""
    first = region.nodes[index]
    made = set(first.outputs)
    for position, node in enumerate(region.nodes[index + 1 :], index + 1):
        if isinstance(node.op, If) and node.inputs[0] is first.inputs[0]:
            return position
        if not made.isdisjoint(v for v in node.inputs if v is not None):
            return None
    return None


def _merge(first: Node, second: Node) -> Node:
    """One If with the branches of both, which has over their outputs."""
    outputs, made = [*first.outputs, *second.outputs], set(first.outputs)
    captured = list(dict.fromkeys(v for v in (*first.inputs[1:], *second.inputs[1:]) if v not in made))
    regions = [_append(*pair, first, second, captured) for pair in zip(first.regions, second.regions, strict=True)]
    merged = Node(first.op, [first.inputs[0], *captured], regions, first.name or second.name)
    merged.outputs = outputs
    for position, value in enumerate(outputs):
        value.owner, value.index = merged, position
    return merged


def _append(a: Region, b: Region, first: Node, second: Node, captured: list[Value | None]) -> Region:
    """A branch of the first If followed by that of the second, which may read what the first gives."""
    region = Region(a.name)
    arguments = {v: region.add_argument(v.name, v.type, v.known) for v in captured if v is not None}
    values = {x: arguments[v] for x, v in zip(a.arguments, first.inputs[1:], strict=True) if v is not None}
    a.replace_uses(values)
    results = a.results[: len(first.outputs)]
    arguments |= dict(zip(first.outputs, results, strict=True))
    b.replace_uses({x: arguments[v] for x, v in zip(b.arguments, second.inputs[1:], strict=True) if v is not None})
    region.nodes = [*a.nodes, *b.nodes]
    region.results = [*results, *b.results[: len(second.outputs)]]
    return region


def hoist_common(node: Node, before: Region, context: Context) -> None:
    """Compute before an If what both branches compute from the same values; it is added to the end of `before`."""
    then, other = (_Branch(node, region) for region in node.regions)
    build = Builder(before, context.inference)
    for inner in list(then.region.nodes):
        key = then.key(inner)
        twin = None if key is None else other.find(key, inner.op)
        if twin is None or not context.may_edit("hoist_common"):
            continue
        inputs = [None if v is None else then.outside(v, build) for v in inner.inputs]
        values = build.add_many(inner.op, inputs, [v.name for v in inner.outputs], name=inner.name)
        node.inputs += values
        then.take(inner, values)
        other.take(twin, values)


class _Branch:
    """A branch, and which of its values have which of the outside as their equals.

    The condition is not among them: it is a constant in a branch.
    """

    def __init__(self, node: Node, region: Region) -> None:
        self.region = region
        self.outer: dict[Value, Value] = {
            x: v
            for x, v in zip(region.arguments, node.inputs[1:], strict=True)
            if v is not None and v is not node.inputs[0]
        }

    def key(self, node: Node) -> Any:
        """What equal nodes of both branches have in common; None for one that stays in its branch."""
        if not node.op.pure or node.regions or isinstance(node.op, Constant):
            return None
        inputs = [None if v is None else self._token(v) for v in node.inputs]
        if all(v is None or v not in self.outer for v in node.inputs) or "" in inputs:
            return None
        return type(node.op), len(node.outputs), *inputs

    def _token(self, value: Value) -> Any:
        """An outer value, or the contents of a small constant; empty for what only the branch has."""
        if value in self.outer:
            return self.outer[value]
        constant = value.owner.op if isinstance(value.owner, Node) else None
        if not isinstance(constant, Constant) or constant.value.dtype == STRING:
            return ""
        array, shape = constant.value, tuple(constant.value.shape)
        return (array.dtype, shape, as_array(array).tobytes()) if math.prod(shape) <= SMALL else ""

    def find(self, key: Any, op: Op) -> Node | None:
        """The first node with a key, and the same attributes."""
        equal = (n for n in self.region.nodes if self.key(n) == key and has_same_attributes(n.op, op))
        return next(equal, None)

    def outside(self, value: Value, build: Builder) -> Value:
        """What a value is outside; a constant is made anew."""
        if value in self.outer:
            return self.outer[value]
        assert isinstance(value.owner, Node)
        return build.add(value.owner.op, name=value.name)

    def take(self, node: Node, values: list[Value]) -> None:
        """Capture what a node gave from outside."""
        self.region.nodes.remove(node)
        captured = {
            old: self.region.add_argument(old.name, new.type, new.known)
            for old, new in zip(node.outputs, values, strict=True)
        }
        self.region.replace_uses(captured)
        self.outer |= dict(zip(captured.values(), values, strict=True))
