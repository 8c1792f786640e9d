"""A region made ready for native code: composite ops decomposed, and weights packed once for their products."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.graph import Node, Region, Value
from whorl.lowering.convolutions import lay_out_convolutions
from whorl.lowering.decomposition import decompose
from whorl.lowering.feature_concat import merge_feature_concats
from whorl.lowering.inner_loops import move_out, products_of_slices
from whorl.lowering.products import laid_out
from whorl.lowering.split_concat_matmul import split_matmul_of_concat
from whorl.ops.control.flow import Loop


def prepare(region: Region, captured: Sequence[Value]) -> None:
    """Write composite ops out, give every product by a fixed matrix that matrix in panels, and filters likewise.

    Fixed is what follows from `captured` and constants alone; the nodes that make panels read only such values, so
    that they can run once, before the region. Every type has its shape.
    """
    decompose(region)
    _lay_out(region, captured)


def _lay_out(region: Region, captured: Sequence[Value]) -> None:
    lay_out_convolutions(region, captured)
    merge_feature_concats(region)
    split_matmul_of_concat(region, captured)
    fixed = set(captured)
    nodes, region.nodes = region.nodes, []
    for node in nodes:
        if node.op.pure and not node.regions and all(v is None or v in fixed for v in node.inputs):
            fixed.update(node.outputs)
            region.nodes.append(node)
            continue
        for inner in node.regions:
            _lay_out(inner, _fixed_inside(node, inner, fixed))
        moved = move_out(node, None if isinstance(node.op, Loop) else fixed) if node.regions else []
        for each in moved:
            if all(v in fixed for v in each.inputs):
                fixed.update(each.outputs)
        before = products_of_slices(node) if isinstance(node.op, Loop) else []
        region.nodes += [*moved, *before, *laid_out(node, fixed)]


def _fixed_inside(node: Node, region: Region, fixed: set[Value]) -> list[Value]:
    """The arguments that no iteration of a loop changes; those of a branch that are fixed outside."""
    if isinstance(node.op, Loop):
        return node.op.split(region.arguments)[4]
    return [a for a, v in zip(region.arguments, node.inputs[1:], strict=True) if v in fixed]
