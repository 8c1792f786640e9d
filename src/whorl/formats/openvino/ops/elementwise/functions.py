"""Functions of one number, conversions of the element type, questions about one number; activations written."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.ops.layers import in_int32, number, plain, row, scalar, types_of
from whorl.formats.openvino.ops.nodes import cast, emit, like
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import LayerWriter, Source, exporter, rewritten
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT32, UNSIGNED, is_float, is_integer
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import (
    Abs,
    Add,
    Ceil,
    Clip,
    Div,
    Floor,
    Identity,
    Max,
    Min,
    Mul,
    Neg,
    Round,
    Sign,
    Sub,
)
from whorl.ops.elementwise.casting import Cast, CastLike
from whorl.ops.elementwise.comparison import Greater, IsInf, IsNaN, Less, Where
from whorl.ops.elementwise.conversion import FLOAT8E8M0, SATURATING
from whorl.ops.elementwise.functions import (
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Cos,
    Cosh,
    Erf,
    Exp,
    Log,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
)
from whorl.ops.elementwise.logic import BitwiseNot, Not, Or
from whorl.ops.elementwise.nonlinear import (
    Celu,
    Elu,
    Gelu,
    HardSigmoid,
    LeakyRelu,
    Selu,
    Shrink,
    Sigmoid,
    SwiGLU,
    Swish,
    ThresholdedRelu,
)

_OF_EIGHT_BITS = (*SATURATING, FLOAT8E8M0)
"""The floating-point types whose range says what becomes of large numbers."""


def function(op: Op) -> Callable[[IrNode, Builder], list[Value]]:
    """A function of floats; integers are computed in float32, and the result is rounded."""

    def read(node: IrNode, build: Builder) -> list[Value]:
        x = node.required(0)
        if is_float(tensor(x).dtype):
            return emit(node, build, op, x)
        result = build.add(op, cast(build, x, FLOAT32))
        return emit(node, build, Cast(tensor(x).dtype), build.add(Round(), result))

    return read


def _rounding(op: Op) -> Callable[[IrNode, Builder], list[Value]]:
    """Integers are whole already."""

    def read(node: IrNode, build: Builder) -> list[Value]:
        x = node.required(0)
        return emit(node, build, op if is_float(tensor(x).dtype) else Identity(), x)

    return read


_FUNCTIONS = {
    "Acos": (1, Acos()),
    "Acosh": (3, Acosh()),
    "Asin": (1, Asin()),
    "Asinh": (3, Asinh()),
    "Atan": (1, Atan()),
    "Atanh": (3, Atanh()),
    "Cos": (1, Cos()),
    "Cosh": (1, Cosh()),
    "Erf": (1, Erf()),
    "Exp": (1, Exp()),
    "Log": (1, Log()),
    "Sigmoid": (1, Sigmoid()),
    "Sin": (1, Sin()),
    "Sinh": (1, Sinh()),
    "Sqrt": (1, Sqrt()),
    "Tan": (1, Tan()),
    "Tanh": (1, Tanh()),
}
for _name, (_version, _op) in _FUNCTIONS.items():
    importer(_name, _version)(function(_op))
importer("Floor", 1)(_rounding(Floor()))
importer("Ceiling", 1)(_rounding(Ceil()))


@importer("Identity", 16)
def identity_16(node: IrNode, build: Builder) -> list[Value]:
    """The input."""
    return emit(node, build, Identity(), node.required(0))


@importer("Abs", 1)
def abs_1(node: IrNode, build: Builder) -> list[Value]:
    """|x|."""
    return emit(node, build, Abs(), node.required(0))


@importer("Negative", 1)
def negative_1(node: IrNode, build: Builder) -> list[Value]:
    """-x."""
    return emit(node, build, Neg(), node.required(0))


@importer("Sign", 1)
def sign_1(node: IrNode, build: Builder) -> list[Value]:
    """-1, 0 or 1."""
    return emit(node, build, Sign(), node.required(0))


@importer("LogicalNot", 1)
def logical_not_1(node: IrNode, build: Builder) -> list[Value]:
    """Whether it is false."""
    return emit(node, build, Not(), node.required(0))


@importer("BitwiseNot", 13)
def bitwise_not_13(node: IrNode, build: Builder) -> list[Value]:
    """The bits that it lacks."""
    x = node.required(0)
    return emit(node, build, Not() if tensor(x).dtype == BOOL else BitwiseNot(), x)


@importer("Convert", 1)
def convert_1(node: IrNode, build: Builder) -> list[Value]:
    """The value in another element type; what is too large for one of few bits is infinite or NaN."""
    dtype = node.dtype("destination_type")
    op = Cast(dtype, saturate=0, round_mode="nearest") if dtype in _OF_EIGHT_BITS else Cast(dtype)
    return emit(node, build, op, node.required(0))


@importer("ConvertLike", 1)
def convert_like_1(node: IrNode, build: Builder) -> list[Value]:
    """The first input in the element type of the second."""
    like = node.required(1)
    op = CastLike(saturate=0, round_mode="nearest") if tensor(like).dtype in _OF_EIGHT_BITS else CastLike()
    return emit(node, build, op, node.required(0), like)


@importer("Round", 5)
def round_5(node: IrNode, build: Builder) -> list[Value]:
    """Halves go to the even number, or away from zero."""
    x = node.required(0)
    mode = node.text("mode", "half_to_even", ("half_to_even", "half_away_from_zero"))
    if not is_float(tensor(x).dtype):
        return emit(node, build, Identity(), x)
    if mode == "half_to_even":
        return emit(node, build, Round(), x)
    size = build.add(Floor(), build.add(Add(), build.add(Abs(), x), like(build, x, 0.5)))
    return emit(node, build, Mul(), build.add(Sign(), x), size)


@importer("Clamp", 1)
def clamp_1(node: IrNode, build: Builder) -> list[Value]:
    """Bounds are numbers; for integers they are rounded towards the inside."""
    x = node.required(0)
    dtype = tensor(x).dtype
    low, high = node.number("min"), node.number("max")
    if is_integer(dtype):
        limits = np.iinfo(dtype)
        low, high = np.ceil(max(low, limits.min)), np.floor(min(high, limits.max))
    bounds = (build.constant(_bound(value, dtype), "bound") for value in (low, high))
    return emit(node, build, Clip(), x, *bounds)


def _bound(value: float, dtype: np.dtype) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.array(int(value) if is_integer(dtype) else value).astype(dtype)


@importer("IsNaN", 10)
def is_nan_10(node: IrNode, build: Builder) -> list[Value]:
    """Whether it is not a number."""
    return emit(node, build, IsNaN(), node.required(0))


@importer("IsInf", 10)
def is_inf_10(node: IrNode, build: Builder) -> list[Value]:
    """Whether it is one of the infinities asked for."""
    op = IsInf(int(node.flag("detect_negative", True)), int(node.flag("detect_positive", True)))
    return emit(node, build, op, node.required(0))


@importer("IsFinite", 10)
def is_finite_10(node: IrNode, build: Builder) -> list[Value]:
    """Whether it is neither an infinity nor NaN."""
    x = node.required(0)
    return emit(node, build, Not(), build.add(Or(), build.add(IsInf(), x), build.add(IsNaN(), x)))


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
