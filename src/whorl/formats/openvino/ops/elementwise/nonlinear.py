"""Activations: functions of one number with parameters, which are attributes or inputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.formats.onnx.versions.broadcasting import aligned
from whorl.formats.openvino.ops.elementwise.functions import function
from whorl.formats.openvino.ops.nodes import constant_of, emit, like, number_of, one
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, is_float
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.elementwise.arithmetic import Add, Clip, Max, Mul, Sub
from whorl.ops.elementwise.comparison import Greater, Where
from whorl.ops.elementwise.functions import Exp
from whorl.ops.elementwise.nonlinear import (
    Elu,
    Gelu,
    HardSigmoid,
    HardSwish,
    LeakyRelu,
    Mish,
    PRelu,
    Relu,
    Selu,
    Sigmoid,
    Softplus,
    Softsign,
    Swish,
)

Importer = Callable[[IrNode, Builder], list[Value]]

importer("HSigmoid", 5)(function(HardSigmoid(1 / 6, 0.5)))
importer("HSwish", 4)(function(HardSwish()))
importer("Mish", 4)(function(Mish()))
importer("SoftPlus", 4)(function(Softplus()))
importer("SoftSign", 9)(function(Softsign()))
importer("Gelu", 2)(function(Gelu()))


@importer("ReLU", 1)
def relu_1(node: IrNode, build: Builder) -> list[Value]:
    """max(x, 0)."""
    x = node.required(0)
    if is_float(tensor(x).dtype):
        return emit(node, build, Relu(), x)
    return emit(node, build, Max(), x, like(build, x, 0))


@importer("Elu", 1)
def elu_1(node: IrNode, build: Builder) -> list[Value]:
    """alpha is an attribute."""
    return function(Elu(node.number("alpha")))(node, build)


@importer("Gelu", 7)
def gelu_7(node: IrNode, build: Builder) -> list[Value]:
    """Exact, or by tanh."""
    mode = node.text("approximation_mode", "erf", ("erf", "tanh"))
    return function(Gelu("none" if mode == "erf" else "tanh"))(node, build)


@importer("PReLU", 1)
def prelu_1(node: IrNode, build: Builder) -> list[Value]:
    """A slope with one axis lies under axis 1 of x, or under the last one where that alone fits."""
    x, slope = node.required(0), node.required(1)
    number = _attribute(slope)
    if number is not None and is_float(tensor(x).dtype):
        return emit(node, build, LeakyRelu(number), x)
    return emit(node, build, PRelu(), x, aligned(build, x, slope, 1) if _is_of_channels(x, slope) else slope)


def _is_of_channels(x: Value, slope: Value) -> bool:
    lengths, shape = tensor(slope).shape, tensor(x).shape
    if isinstance(lengths, AnyShape) or len(lengths) != 1 or lengths == (1,):
        return False
    return isinstance(shape, AnyShape) or (len(shape) > 1 and not dims.differ(shape[1], lengths[0]))


@importer("HardSigmoid", 1)
def hard_sigmoid_1(node: IrNode, build: Builder) -> list[Value]:
    """Slope and offset are inputs."""
    x, alpha, beta = (node.required(k) for k in range(3))
    a, b = _attribute(alpha), _attribute(beta)
    if a is not None and b is not None:
        return emit(node, build, HardSigmoid(a, b), x)
    line = build.add(Add(), build.add(Mul(), x, one(build, alpha)), one(build, beta))
    return emit(node, build, Clip(), line, like(build, x, 0), like(build, x, 1))


@importer("Selu", 1)
def selu_1(node: IrNode, build: Builder) -> list[Value]:
    """Both factors are inputs."""
    x, alpha, factor = (node.required(k) for k in range(3))
    a, b = _attribute(alpha), _attribute(factor)
    if a is not None and b is not None:
        return emit(node, build, Selu(a, b), x)
    falling = build.add(Mul(), one(build, alpha), build.add(Sub(), build.add(Exp(), x), like(build, x, 1)))
    chosen = build.add(Where(), build.add(Greater(), x, like(build, x, 0)), x, falling)
    return emit(node, build, Mul(), one(build, factor), chosen)


@importer("Swish", 4)
def swish_4(node: IrNode, build: Builder) -> list[Value]:
    """The factor of x inside is an input, 1 without it."""
    x, beta = node.required(0), node.input(1)
    number = 1.0 if beta is None else _attribute(beta)
    if number is not None:
        return emit(node, build, Swish(number), x)
    assert beta is not None
    inner = build.add(Sigmoid(), build.add(Mul(), x, one(build, beta)))
    return emit(node, build, Mul(), x, inner)


def _attribute(value: Value) -> float | None:
    """The number of a constant that an attribute, which is a float32, can hold."""
    found, number = constant_of(value), number_of(value)
    if found is None or number is None or (found.dtype != FLOAT32 and float(np.float32(number)) != number):
        return None
    return number
