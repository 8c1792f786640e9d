"""Hardmax."""

from __future__ import annotations

import numpy as np

from whorl.formats.openvino.ops.nodes import whole
from whorl.formats.openvino.writing.exporter import rewritten
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.selection import OneHot
from whorl.ops.movement.shapes import Shape
from whorl.ops.reduce.reductions import ArgMax
from whorl.ops.reduce.softmax import Hardmax


@rewritten(Hardmax)
def hardmax(op: Hardmax, build: Builder, x: Value) -> Value:
    depth = build.add(Gather(0), build.add(Shape(), x), whole(build, op.axis))
    values = build.constant(np.array([0, 1], tensor(x).dtype))
    return build.add(OneHot(op.axis), build.add(ArgMax(op.axis, keepdims=0), x), depth, values)
