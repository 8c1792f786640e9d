"""Gemm before its third input became optional, and before it broadcast like NumPy."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.limits import require_element_type
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.linear.products import Gemm


@importer("Gemm", until=6)
def gemm_1(node: OnnxNode, build: Builder) -> list[Value]:
    """What `broadcast` allows is always allowed now."""
    return build.add_many(make_op(node, broadcast=None), node.inputs, node.outputs, name=node.name)


@exporter("Gemm", until=10)
def gemm_10(node: Node, write: NodeWriter) -> None:
    """A missing C is written as a zero; before 7 `broadcast` says that C is smaller than the product."""
    op, (a, b, *rest) = node.op, node.inputs
    assert isinstance(op, Gemm) and a is not None
    require_element_type(a, op.name, write)
    c = rest[0] if rest else None
    if c is None:
        added, broadcast = write.constant(np.zeros(1, tensor(a).dtype), "zero"), True
    elif write.opset < 7:
        added, broadcast = _old_addend(c, node.outputs[0], write)
    else:
        added, broadcast = write.name(c), False
    write.node(
        op.name,
        [write.name(a), write.name(b), added],
        write.outputs(node),
        name=node.name,
        alpha=op.alpha,
        beta=op.beta,
        transA=op.transA,
        transB=op.transB,
        broadcast=1 if broadcast and write.opset < 7 else None,
    )


def _old_addend(c: Value, product: Value, write: NodeWriter) -> tuple[str, bool]:
    """C and whether it is broadcast: opset 6 knows one element, or the trailing axes of the product."""
    shape, target = tensor(c).shape, tensor(product).shape
    assert not isinstance(target, AnyShape)
    if not isinstance(shape, AnyShape):
        if len(shape) == 2 and all(dims.equal(x, y) for x, y in zip(shape, target, strict=True)):
            return write.name(c), False
        if len(shape) < 2 or all(dims.equal(dim, 1) for dim in shape):
            return write.name(c), True
        if dims.equal(shape[0], 1):
            row = write.fresh("row")
            write.node("Squeeze", [write.name(c)], [row], axes=(0,))
            return row, True
    raise SaveError(f"C is {c.type}, which may broadcast along columns", fix="opset 7 or later can say it")
