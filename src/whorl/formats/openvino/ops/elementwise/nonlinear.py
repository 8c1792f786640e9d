"""Activations: functions of one number with parameters, which are attributes or inputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.versions.broadcasting import aligned
from whorl.formats.openvino.ops.elementwise.functions import read_function
from whorl.formats.openvino.ops.nodes import constant_of, emit, like, number_of, one
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.layers import integers, scalar, types_of
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, is_float
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.elementwise.arithmetic import Add, Clip, Max, Mul, Sub
from whorl.ops.elementwise.comparison import Greater, Less, Where
from whorl.ops.elementwise.functions import Exp
from whorl.ops.elementwise.nonlinear import HardSigmoid, LeakyRelu, PRelu, Relu, Selu, Sigmoid, Swish

General = Callable[..., tuple[Op, *tuple[Value, ...]]]


def read_relu(node: IrNode, build: Builder, op: Relu) -> list[Value]:
    """max(x, 0)."""
    x = node.required(0)
    if is_float(tensor(x).dtype):
        return emit(node, build, op, x)
    return emit(node, build, Max(), x, like(build, x, 0))


@importer("HSigmoid", 5)
def h_sigmoid_5(node: IrNode, build: Builder) -> list[Value]:
    return read_function(node, build, HardSigmoid(1 / 6, 0.5))


@importer("PReLU", 1)
def prelu_1(node: IrNode, build: Builder) -> list[Value]:
    """A slope with one axis lies under axis 1 of x, or under the last one where that alone fits."""
    x, slope = node.required(0), node.required(1)
    number = _attribute(slope)
    if number is not None and is_float(tensor(x).dtype):
        return emit(node, build, LeakyRelu(number), x)
    if tensor(x).rank == 0:
        slope = one(build, slope)
    return emit(node, build, PRelu(), x, aligned(build, x, slope, 1) if _is_of_channels(x, slope) else slope)


def _is_of_channels(x: Value, slope: Value) -> bool:
    lengths, shape = tensor(slope).shape, tensor(x).shape
    if isinstance(lengths, AnyShape) or len(lengths) != 1 or lengths == (1,):
        return False
    return isinstance(shape, AnyShape) or (len(shape) > 1 and not dims.differ(shape[1], lengths[0]))


@exporter(LeakyRelu)
def write_leaky(op: LeakyRelu, node: Node, write: NetWriter) -> list[Source]:
    """PReLU with one slope."""
    x = write.source(node.inputs[0])
    slope = write.constant(np.array([op.alpha]).astype(x.type.dtype))
    return write.layer("PReLU", 1, [x, slope], types_of(node.outputs))


@exporter(PRelu)
def write_prelu(op: PRelu, node: Node, write: NetWriter) -> list[Source]:
    """A slope with one axis would be read as one of the channels, so it gets the axes of x."""
    x, slope = write.source(node.inputs[0]), write.source(node.inputs[1])
    if not is_float(x.type.dtype):
        return write.through(node, _whole_prelu)
    rank = x.type.rank
    if isinstance(slope.type.shape, tuple) and len(slope.type.shape) == 1 and slope.type.shape != (1,) and rank != 1:
        if rank is None:
            raise SaveError("the slope has one axis, the rank of the input is not known", fix="declare its shape")
        ones = (1,) * (rank - 1)
        type = slope.type.with_shape((*ones, *slope.type.shape))
        (slope,) = write.layer("Reshape", 1, [slope, integers(write, *ones, -1)], [type], special_zero=False)
    return write.layer("PReLU", 1, [x, slope], types_of(node.outputs))


def _whole_prelu(build: Builder, x: Value, slope: Value) -> Value:
    return build.add(Where(), build.add(Less(), x, like(build, x, 0)), build.add(Mul(), x, slope), x)


# ---- parameters that are inputs there, and attributes here ---------------------------------------------------------


def _hard_sigmoid(build: Builder, x: Value, alpha: Value, beta: Value) -> tuple[Op, *tuple[Value, ...]]:
    return Clip(), build.add(Add(), build.add(Mul(), x, alpha), beta), like(build, x, 0), like(build, x, 1)


def _selu(build: Builder, x: Value, alpha: Value, factor: Value) -> tuple[Op, *tuple[Value, ...]]:
    falling = build.add(Mul(), alpha, build.add(Sub(), build.add(Exp(), x), like(build, x, 1)))
    return Mul(), factor, build.add(Where(), build.add(Greater(), x, like(build, x, 0)), x, falling)


def _swish(build: Builder, x: Value, alpha: Value) -> tuple[Op, *tuple[Value, ...]]:
    return Mul(), x, build.add(Sigmoid(), build.add(Mul(), x, alpha))


_PARAMETRIC: tuple[tuple[str, int, type[Op], tuple[str, ...], General, int], ...] = (
    ("HardSigmoid", 1, HardSigmoid, ("alpha", "beta"), _hard_sigmoid, 3),
    ("Selu", 1, Selu, ("alpha", "gamma"), _selu, 3),
    ("Swish", 4, Swish, ("alpha",), _swish, 1),
)
"""Layer type, opset, op, its fields that are inputs, the formula where a run computes them, the required inputs."""


def _register(type: str, opset: int, kind: type[Op], fields: tuple[str, ...], general: General, required: int) -> None:
    def read(node: IrNode, build: Builder) -> list[Value]:
        x, *parameters = (node.required(k) for k in range(max(required, min(len(node.inputs), 1 + len(fields)))))
        numbers = [_attribute(value) for value in parameters]
        if all(number is not None for number in numbers):
            return emit(node, build, kind(**dict(zip(fields, numbers, strict=False))), x)
        op, *inputs = general(build, x, *(one(build, value) for value in parameters))
        return emit(node, build, op, *inputs)

    def write(op: Op, node: Node, write: NetWriter) -> list[Source]:
        x = write.source(node.inputs[0])
        parameters = [scalar(write, getattr(op, name), x.type.dtype) for name in fields]
        return write.layer(type, opset, [x, *parameters], types_of(node.outputs))

    importer(type, opset)(read)
    exporter(kind)(write)


for _row in _PARAMETRIC:
    _register(*_row)


def _attribute(value: Value) -> float | None:
    """The number of a constant that an attribute, which is a float32, represents exactly."""
    elements, number = constant_of(value), number_of(value)
    if elements is None or number is None or (elements.dtype != FLOAT32 and float(np.float32(number)) != number):
        return None
    return number
