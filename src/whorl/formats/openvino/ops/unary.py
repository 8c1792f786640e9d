"""Functions of one number, conversions of the element type, and questions about one number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import cast, emit, like
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT32, is_float, is_integer
from whorl.ir.graph import Value
from whorl.ir.op import Op
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Abs, Add, Ceil, Clip, Floor, Identity, Mul, Neg, Round, Sign
from whorl.ops.elementwise.casting import Cast, CastLike
from whorl.ops.elementwise.comparison import IsInf, IsNaN
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
from whorl.ops.elementwise.nonlinear import Sigmoid

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
