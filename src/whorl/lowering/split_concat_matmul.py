"""MatMul(Concat(x, h), W) becomes MatMul(x, W1) + MatMul(h, W2): the part of x can then be hoisted out of the loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType, lengths_of
from whorl.kernels.machine import FEW_ROWS
from whorl.ops.core.base import length_of
from whorl.ops.core.writer import Writer, is_fixed, sizes_of
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.linear.products import Gemm, MatMul
from whorl.ops.movement.axes import Concat

LEAST_WIDTH, MOST_PARTS = 8, 4
"""Parts that are worth a product of their own."""


def split_matmul_of_concat(region: Region, fixed: Sequence[Value]) -> None:
    """Replace products of few rows of concat tensors by a fixed matrix by sums of products."""
    known = set(fixed)
    inference = Inference()
    inference.depth = 1
    build = Builder(region, inference)
    nodes, region.nodes = region.nodes, []
    for node in nodes:
        if node.op.pure and not node.regions and all(v is None or v in known for v in node.inputs):
            known.update(node.outputs)
        parts = _parts(node, known)
        if not parts:
            region.nodes.append(node)
            continue
        total = _sum(node, parts, build)
        last = region.nodes[-1]
        total.owner, last.outputs, last.name = last, node.outputs, node.name
        for value in node.outputs:
            value.owner = last


def _parts(node: Node, known: set[Value]) -> list[Value]:
    """The tensors that lie side by side in the left operand of a product, where it is to be taken apart."""
    is_product = isinstance(node.op, MatMul) or (isinstance(node.op, Gemm) and not node.op.transA)
    a, matrix = node.inputs[:2] if is_product else (None, None)
    if a is None or matrix is None or matrix not in known or a in known or not is_fixed(matrix):
        return []
    concat, type = a.owner, a.type
    if not isinstance(concat, Node) or not isinstance(concat.op, Concat) or not isinstance(type, TensorType):
        return []
    shape, parts = lengths_of(type), [v for v in concat.inputs if v is not None]
    fits = concat.op.axis in (-1, len(shape) - 1) and len(sizes_of(matrix)) == 2
    if not fits or type.dtype not in (FLOAT32, FLOAT64) or not _may_be_few(dims.product(shape[:-1])):
        return []
    return parts if len(parts) <= MOST_PARTS and all(_width(x) >= LEAST_WIDTH for x in parts) else []


def _may_be_few(rows: Dim) -> bool:
    return 0 < rows <= FEW_ROWS if isinstance(rows, int) else rows is not UNKNOWN


def _width(x: Value) -> int:
    """The last length of a tensor; 0 where it is no number."""
    length = length_of(x, -1)
    return length if isinstance(length, int) else 0


def _sum(node: Node, parts: Sequence[Value], build: Builder) -> Value:
    """The sum of the products of the parts; the first one takes what else a Gemm adds."""
    write, matrix = Writer(build), node.inputs[1]
    assert matrix is not None
    axis = 1 if isinstance(node.op, Gemm) and node.op.transB else 0
    ends = np.cumsum([0, *map(_width, parts)]).tolist()
    total: Value | None = None
    for x, start, stop in zip(parts, ends, ends[1:], strict=False):
        rest = node.inputs[2:] if total is None else []
        product = build.add(node.op, x, write.slice(matrix, axis, start, stop), *rest)
        total = product if total is None else build.add(Add(), total, product)
    assert total is not None
    return total
