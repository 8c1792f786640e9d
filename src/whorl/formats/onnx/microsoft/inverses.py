"""Inverses of matrices, as a Loop over their columns."""

from __future__ import annotations

import numpy as np

from whorl.formats.onnx.control import GRAPH_READERS
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.formula import DOMAIN, Formula
from whorl.formats.onnx.protos import NodeProto
from whorl.formats.onnx.scope import Scope, align_captures
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.graph import Value
from whorl.ir.types import TensorType, tensor
from whorl.ops.control.flow import Loop


def read_inverse(node: OnnxNode, _: NodeProto, scope: Scope, __: object) -> list[Value]:
    """Gauss's and Jordan's way, with the largest pivot of each column; where that is 0, infinities and NaN."""
    f = Formula(scope.build, node.name)
    x = node.required(0)
    dtype, shape = tensor(x).dtype, f("Shape", x)
    matrices = f.cast(x, FLOAT32) if dtype.itemsize < 4 else x
    n, rows = f.length(x, -1), f.range(f.length(x, -1))
    batch = f("ReduceProd", f("Shape", x, end=-2), [0])
    whole = f("Concat", batch, n, n, axis=0)
    one = f.cast(f("Equal", f("Unsqueeze", rows, [1]), rows), tensor(matrices).dtype)
    beside = f("Concat", f("Reshape", matrices, whole, allowzero=True), f("Expand", one, whole), axis=2)
    operands = [f.scalar(n), None, beside]
    inner = scope.child("body")
    column = inner.region.add_argument("column", TensorType(INT64, ()))
    go_on = inner.region.add_argument("keep_going", TensorType(BOOL, ()))
    state = inner.region.add_argument("state", beside.type)
    inner.inference.depth += 1
    following = _eliminate(Formula(inner.build, node.name), state, column, inner.capture(rows))
    inner.inference.depth -= 1
    inner.region.results = [go_on, following]
    operands += align_captures([inner], len(operands))
    (state,) = scope.build.add_many(Loop(1), operands, ["state"], [inner.region], node.name)
    inverse = f("Reshape", f.slice(state, n, f("Mul", n, 2), 2), shape, allowzero=True)
    return [f.cast(inverse, dtype)]


def _eliminate(f: Formula, state: Value, column: Value, rows: Value) -> Value:
    """The state [batch, n, 2n] with a column that is 1 in its own row and 0 in all others."""
    passed, here = f("Less", rows, column), f("Equal", rows, column)
    size = f("Abs", f("Gather", state, column, axis=2))
    lowest = np.array(-1, tensor(state).dtype)
    pivot = f("ArgMax", f("Where", passed, lowest, size), axis=1, keepdims=1)
    order = f("Where", here, pivot, f("Where", f("Equal", rows, pivot), column, rows))
    index = f("Expand", f("Unsqueeze", order, [2]), f("Shape", state))
    swapped = f("GatherElements", state, index, axis=1)
    row = f("Gather", swapped, column, axis=1)
    row = f("Unsqueeze", f("Div", row, f("Unsqueeze", f("Gather", row, column, axis=1), [1])), [1])
    factors = f("Where", here, np.zeros((), lowest.dtype), f("Gather", swapped, column, axis=2))
    others = f("Sub", swapped, f("Mul", f("Unsqueeze", factors, [2]), row))
    return f("Where", f("Unsqueeze", here, [1]), row, others)


GRAPH_READERS[DOMAIN, "Inverse"] = read_inverse
