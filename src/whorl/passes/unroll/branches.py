"""If-conversion: an If as both of its branches, and a selection between what they give."""

from __future__ import annotations

from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ops.elementwise.comparison import Where
from whorl.ops.movement.shapes import Reshape
from whorl.passes.inline import inline
from whorl.passes.rules.pattern import tensor_type
from whorl.passes.unroll.clamping import speculatable
from whorl.passes.unroll.legality import require_same_type


def if_convert(node: Node, build: Builder) -> list[Value]:
    """The outputs of an If without the If. Errors: CannotUnroll where a branch could fail, or their types differ."""
    condition, *captured = (value for value in node.inputs if value is not None)
    regions = [speculatable(region, build.inference) for region in node.regions]
    then, other = (inline(region, captured, build) for region in regions)
    for k, (a, b) in enumerate(zip(then, other, strict=True)):
        require_same_type(a, b, f"output {k}")
    if tensor_type(condition).shape != ():
        condition = build.add(Reshape(), condition, build.int64(), name=condition.name)
    names = [value.name for value in node.outputs]
    return [
        a if a is b else build.add(Where(), condition, a, b, name=name)
        for a, b, name in zip(then, other, names, strict=False)
    ]
