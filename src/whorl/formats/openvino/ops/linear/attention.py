"""ScaledDotProductAttention read."""

from __future__ import annotations

import numpy as np

from whorl.formats.openvino.ops.linear.products import turned
from whorl.formats.openvino.ops.nodes import cast, emit, like
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Add, Div, Mul
from whorl.ops.elementwise.comparison import LessOrEqual, Where
from whorl.ops.elementwise.functions import Sqrt
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.filling import Range
from whorl.ops.movement.shapes import Shape, Squeeze, Unsqueeze
from whorl.ops.reduce.softmax import Softmax


@importer("ScaledDotProductAttention", 13)
def scaled_dot_product_attention_13(node: IrNode, build: Builder) -> list[Value]:
    """softmax(q k^T * scale + mask) v; where it is causal, a query reaches no later key, and the mask is not read."""
    q, k, v = (node.required(n) for n in range(3))
    mask, scale = node.input(3), node.input(4)
    if scale is None:
        size = cast(build, build.add(Squeeze(), build.add(Shape(start=-1), q), build.int64(0)), tensor(q).dtype)
        scale = build.add(Div(), like(build, q, 1), build.add(Sqrt(), size))
    scores = build.add(MatMul(), build.add(Mul(), q, scale), turned(build, k))
    least = like(build, q, -np.inf)
    if node.flag("causal", False):
        scores = build.add(Where(), _reached(build, q, k), scores, least)
    elif mask is not None:
        if tensor(mask).dtype == BOOL:
            mask = build.add(Where(), mask, like(build, q, 0), least)
        scores = build.add(Add(), scores, mask)
    return emit(node, build, MatMul(), build.add(Softmax(-1), scores), v)


def _reached(build: Builder, q: Value, k: Value) -> Value:
    """[queries, keys]: whether a key stands no later than a query."""
    zero, one = (build.constant(np.array(n, np.int64)) for n in (0, 1))
    positions = []
    for x, axis in ((q, 1), (k, 0)):
        count = build.add(Squeeze(), build.add(Shape(start=-2, end=-1), x), build.int64(0))
        positions.append(build.add(Unsqueeze(), build.add(Range(), zero, count, one), build.int64(axis)))
    return build.add(LessOrEqual(), positions[1], positions[0])
