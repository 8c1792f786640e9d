"""If nodes whose condition is known, and outputs that both branches give alike."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from whorl.ir.build import Builder
from whorl.ir.constants import same_elements
from whorl.ir.graph import Node, Value
from whorl.ops.control.flow import known_bool
from whorl.passes.context import Context
from whorl.passes.inline import inline
from whorl.passes.rules.pattern import constant_of


def simplify_if(
    node: Node, build: Builder, context: Context, used: Collection[Value | None] = ()
) -> Sequence[Value | None] | None:
    """What takes the place of an If: the branch that is taken, or, of the values in `used`, what both branches give."""
    condition, *captured = node.inputs
    is_true = None if condition is None else known_bool(condition)
    if is_true is not None:
        if not context.may_edit("IfOfConst"):
            return None
        return inline(node.regions[0 if is_true else 1], [v for v in captured if v is not None], build)
    common = {
        k: shared for k, v in enumerate(node.outputs) if v in used and (shared := _common(node, k, build)) is not None
    }
    if not common or not context.may_edit("IfGivesTheSame"):
        return None
    if len(common) < len(node.outputs):
        build.region.nodes.append(node)
    return [common.get(k, value) for k, value in enumerate(node.outputs)]


def _common(node: Node, index: int, build: Builder) -> Value | None:
    """The outer value that both branches give as an output; a constant that both hold is made anew."""
    then, other = (region.results[index] for region in node.regions)
    if then in node.regions[0].arguments and other in node.regions[1].arguments:
        a, b = node.inputs[1 + then.index], node.inputs[1 + other.index]
        return a if a is b else None
    x, y = constant_of(then), constant_of(other)
    if x is None or y is None or not same_elements(x.value, y.value):
        return None
    return build.constant(x.value, node.outputs[index].name)
