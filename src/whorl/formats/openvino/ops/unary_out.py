"""Functions of one number, conversions, and activations written."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter, rewritten
from whorl.formats.openvino.ops.common_out import in_int32, number, plain, row, scalar, types_of
from whorl.ir.build import Builder
from whorl.ir.dtypes import UNSIGNED, is_float
from whorl.ir.graph import Node, Value
from whorl.ops.elementwise.arithmetic import Add, Div, Max, Min, Mul, Sub
from whorl.ops.elementwise.comparison import Greater, IsInf, Less, Where
from whorl.ops.elementwise.functions import Exp
from whorl.ops.elementwise.nonlinear import (
    Celu,
    Elu,
    Gelu,
    HardSigmoid,
    LeakyRelu,
    Selu,
    Shrink,
    SwiGLU,
    Swish,
    ThresholdedRelu,
)

_SAME = {
    "Acos": ("Acos", 1),
    "Acosh": ("Acosh", 4),
    "Asin": ("Asin", 1),
    "Asinh": ("Asinh", 4),
    "Atan": ("Atan", 1),
    "Atanh": ("Atanh", 4),
    "Ceil": ("Ceiling", 1),
    "Cos": ("Cos", 1),
    "Cosh": ("Cosh", 1),
    "Erf": ("Erf", 1),
    "Exp": ("Exp", 1),
    "Floor": ("Floor", 1),
    "HardSwish": ("HSwish", 4),
    "Identity": ("Identity", 16),
    "IsNaN": ("IsNaN", 10),
    "Log": ("Log", 1),
    "Mish": ("Mish", 4),
    "Sigmoid": ("Sigmoid", 1),
    "Sign": ("Sign", 1),
    "Sin": ("Sin", 1),
    "Sinh": ("Sinh", 1),
    "Softplus": ("SoftPlus", 4),
    "Softsign": ("SoftSign", 9),
    "Sqrt": ("Sqrt", 1),
    "Tan": ("Tan", 1),
    "Tanh": ("Tanh", 1),
}
for _name, (_type, _version) in _SAME.items():
    exporter(_name)(plain(_type, _version))
exporter("Neg")(in_int32("Negative", 1))
exporter("Relu")(plain("ReLU", 1))
exporter("Round")(plain("Round", 5, mode="half_to_even"))


@exporter("Abs")
def write_abs(node: Node, write: LayerWriter) -> Source | list[Source]:
    """Unsigned integers are their own absolute values."""
    source = write.source(node.inputs[0])
    return source if source.type.dtype in UNSIGNED else in_int32("Abs", 1)(node, write)


@exporter("IsInf")
def write_is_inf(node: Node, write: LayerWriter) -> Source | list[Source]:
    """One of the infinities, or both."""
    op = node.op
    assert isinstance(op, IsInf)
    flags = {"detect_negative": bool(op.detect_negative), "detect_positive": bool(op.detect_positive)}
    return plain("IsInf", 10, **flags)(node, write)


@rewritten("Reciprocal")
def reciprocal(node: Node, build: Builder, x: Value) -> Value:
    """1 / x."""
    return build.add(Div(), number(build, x, 1), x)


@exporter("LeakyRelu")
def write_leaky(node: Node, write: LayerWriter) -> list[Source]:
    """PReLU with one slope."""
    op, x = node.op, write.source(node.inputs[0])
    assert isinstance(op, LeakyRelu)
    slope = write.constant(np.array([op.alpha]).astype(x.type.dtype))
    return write.layer("PReLU", 1, [x, slope], types_of(node.outputs))


@exporter("PRelu")
def write_prelu(node: Node, write: LayerWriter) -> list[Source]:
    """A slope with one axis would be read as one of the channels, so it gets the axes of x."""
    x, slope = write.source(node.inputs[0]), write.source(node.inputs[1])
    if not is_float(x.type.dtype):
        return write.through(node, _whole_prelu)
    (result,) = types_of(node.outputs)
    rank = x.type.rank
    if slope.type.rank == 1 and slope.type.shape != (1,) and rank != 1:
        if rank is None:
            raise SaveError("the slope has one axis, the rank of the input is not known", fix="declare its shape")
        shape = row(write, (*(1,) * (rank - 1), -1))
        type = slope.type.with_shape((*(1,) * (rank - 1), *_dims(slope)))
        (slope,) = write.layer("Reshape", 1, [slope, shape], [type], special_zero=False)
    return write.layer("PReLU", 1, [x, slope], [result])


def _dims(source: Source) -> tuple:
    assert isinstance(source.type.shape, tuple)
    return source.type.shape


def _whole_prelu(build: Builder, x: Value, slope: Value) -> Value:
    return build.add(Where(), build.add(Less(), x, number(build, x, 0)), build.add(Mul(), x, slope), x)


@exporter("Elu")
def write_elu(node: Node, write: LayerWriter) -> Source | list[Source]:
    """alpha as an attribute."""
    op = node.op
    assert isinstance(op, Elu)
    return plain("Elu", 1, alpha=op.alpha)(node, write)


@exporter("Gelu")
def write_gelu(node: Node, write: LayerWriter) -> Source | list[Source]:
    """Exact, or by tanh."""
    op = node.op
    assert isinstance(op, Gelu)
    return plain("Gelu", 7, approximation_mode="TANH" if op.approximate == "tanh" else "ERF")(node, write)


@exporter("HardSigmoid")
def write_hard_sigmoid(node: Node, write: LayerWriter) -> list[Source]:
    """Slope and offset as inputs."""
    op = node.op
    assert isinstance(op, HardSigmoid)
    return _with_numbers("HardSigmoid", 1, (op.alpha, op.beta), node, write)


@exporter("Selu")
def write_selu(node: Node, write: LayerWriter) -> list[Source]:
    """Both factors as inputs."""
    op = node.op
    assert isinstance(op, Selu)
    return _with_numbers("Selu", 1, (op.alpha, op.gamma), node, write)


@exporter("Swish")
def write_swish(node: Node, write: LayerWriter) -> list[Source]:
    """The factor inside as an input."""
    op = node.op
    assert isinstance(op, Swish)
    return _with_numbers("Swish", 4, (op.alpha,), node, write)


def _with_numbers(type: str, version: int, numbers: tuple[float, ...], node: Node, write: LayerWriter) -> list[Source]:
    x = write.source(node.inputs[0])
    given = [scalar(write, each, x.type.dtype) for each in numbers]
    return write.layer(type, version, [x, *given], types_of(node.outputs))


@rewritten("SwiGLU")
def swiglu(node: Node, build: Builder, gate: Value, value: Value) -> Value:
    """The swish of the gate times the value."""
    op = node.op
    assert isinstance(op, SwiGLU)
    return build.add(Mul(), build.add(Swish(op.alpha), gate), value)


@rewritten("ThresholdedRelu")
def thresholded_relu(node: Node, build: Builder, x: Value) -> Value:
    """x or 0."""
    op = node.op
    assert isinstance(op, ThresholdedRelu)
    return build.add(Where(), build.add(Greater(), x, number(build, x, op.alpha)), x, number(build, x, 0))


@rewritten("Celu")
def celu(node: Node, build: Builder, x: Value) -> Value:
    """max(0, x) + min(0, alpha * (e^(x / alpha) - 1))."""
    op = node.op
    assert isinstance(op, Celu)
    zero, one, alpha = (number(build, x, each) for each in (0, 1, op.alpha))
    falling = build.add(Sub(), build.add(Exp(), build.add(Div(), x, alpha)), one)
    less = build.add(Min(), build.add(Mul(), alpha, falling), zero)
    return build.add(Add(), build.add(Max(), x, zero), less)


@rewritten("Shrink")
def shrink(node: Node, build: Builder, x: Value) -> Value:
    """Towards 0 by the bias, 0 between the limits."""
    op = node.op
    assert isinstance(op, Shrink)
    bias, low, high, zero = (number(build, x, each) for each in (op.bias, -op.lambd, op.lambd, 0))
    above = build.add(Where(), build.add(Greater(), x, high), build.add(Sub(), x, bias), zero)
    return build.add(Where(), build.add(Less(), x, low), build.add(Add(), x, bias), above)
