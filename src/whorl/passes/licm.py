"""Loop-invariant code motion: what captured values alone decide is computed once, before the loop.

A node that may fail is hoisted only where an iteration surely runs it: a loop of no iterations must not fail. The ops
say which do not (`totality`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.graph import Node, Region, Value
from whorl.ops.control.flow import Loop, first_captured
from whorl.passes.context import Context
from whorl.passes.rules.pattern import is_constant
from whorl.passes.simplify_loop import iterations
from whorl.passes.totality import Totality


def hoist_invariants(node: Node, build: Builder, context: Context) -> None:
    """Compute once, before a loop, what is the same in all its iterations; before an If only what is constant.

    A node that might fail is moved only where an iteration surely runs it.
    """
    for region in node.regions:
        moved = _invariants(node, region)
        if moved and context.may_edit("hoist_invariants"):
            _hoist(node, region, moved, build)


def invariant_nodes(
    region: Region, outer: Iterable[Value | None], may_move: Callable[[Node], bool]
) -> tuple[list[Node], set[Value | None]]:
    """The nodes that outer values alone decide and that may move, in order; and all invariant values."""
    invariant = {None, *outer}
    nodes: list[Node] = []
    for node in region.nodes:
        if invariant.issuperset(node.inputs) and may_move(node):
            nodes.append(node)
            invariant.update(node.outputs)
    return nodes, invariant


def _invariants(node: Node, region: Region) -> list[Node]:
    """The nodes to hoist: they read captured values (for branches, constant ones) and constants."""
    first = first_captured(node)
    offset = len(region.arguments) - len(node.inputs)
    is_loop = isinstance(node.op, Loop)
    surely_runs = is_loop and iterations(node)[0] > 0
    captured = region.arguments[first + offset :]
    outer = {v for v in captured if is_loop or is_constant(node.inputs[v.index - offset])}
    constants = {v for inner in region.nodes if isinstance(inner.op, Constant) for v in inner.outputs}
    totality = Totality()

    def may_move(inner: Node) -> bool:
        is_own = constants.issuperset(v for v in inner.inputs if v is not None)
        return not is_own and inner.op.pure and not inner.regions and (surely_runs or totality.is_total(inner))

    return invariant_nodes(region, outer | constants, may_move)[0]


def _hoist(node: Node, region: Region, moved: Sequence[Node], build: Builder) -> None:
    """Move nodes of a region before the node of the region, which then captures what its regions use of them."""
    offset = len(region.arguments) - len(node.inputs)
    values: dict[Value, Value] = {}
    for argument in region.arguments:
        outer = node.inputs[argument.index - offset] if argument.index >= offset else None
        if outer is not None:
            values[argument] = outer
    for inner in moved:
        for value in inner.inputs:
            if value is not None and value not in values and isinstance(value.owner, Node):
                values[value] = build.add(value.owner.op, name=value.name)
        inputs = [None if value is None else values[value] for value in inner.inputs]
        outputs = build.add_many(inner.op, inputs, [v.name for v in inner.outputs], name=inner.name)
        values.update(zip(inner.outputs, outputs, strict=True))
    hoisted = set(moved)
    region.nodes = [inner for inner in region.nodes if inner not in hoisted]
    used = region.used_values()
    inside: dict[Value, Value] = {}
    for value in (value for inner in moved for value in inner.outputs if value in used):
        node.inputs.append(values[value])
        for each in node.regions:
            argument = each.add_argument(value.name, values[value].type, values[value].known)
            if each is region:
                inside[value] = argument
    region.replace_uses(inside)
