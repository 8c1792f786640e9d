"""Functions of single numbers: arithmetic, powers, angles, comparisons, logic, choices.

Bits of a native form are those of NumPy where the hub has the function. A formula puts one together of others and
differs from NumPy's in the last bits.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from whorl.errors import RunError
from whorl.ir.graph import Op, Value
from whorl.mdf.functions.arithmetic import BINARY
from whorl.mdf.functions.builder import NodeBuilder, Operand
from whorl.mdf.functions.table import Formula, Native, define, define_builtin, define_math
from whorl.mdf.model import Datum
from whorl.ops.elementwise.arithmetic import (
    Abs,
    Add,
    Ceil,
    Div,
    Floor,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Reciprocal,
    Round,
    Sign,
    Sub,
)
from whorl.ops.elementwise.comparison import Equal, Greater, GreaterOrEqual, IsInf, IsNaN, Less, LessOrEqual, Where
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
from whorl.ops.elementwise.logic import And, Not, Or, Xor
from whorl.ops.elementwise.powers import Pow
from whorl.ops.linear.products import MatMul


def op(op: Op) -> Native:
    """A function that is an op on numbers."""
    return lambda nodes, *operands: nodes.compute(op, *operands)


def logical(op: Op) -> Native:
    return lambda nodes, *operands: nodes.add(op, *map(nodes.truth, operands))


def select(nodes: NodeBuilder, test: Operand, x: Operand, y: Operand) -> Value:
    return nodes.add(Where(), nodes.truth(test), *nodes.alike(x, y))


def equal(nodes: NodeBuilder, x: Operand, y: Operand) -> Value:
    return nodes.add(Equal(), *nodes.alike(x, y))


def to_number(nodes: NodeBuilder, x: Operand) -> Value:
    return nodes.number(x)


def to_truth(nodes: NodeBuilder, x: Operand) -> Value:
    return nodes.truth(x)


def take_log(nodes: NodeBuilder, x: Operand, base: Operand = None) -> Value:
    return (
        nodes.compute(Log(), x)
        if base is None
        else nodes.compute(Div(), nodes.compute(Log(), x), take_log(nodes, base))
    )


def round_to(nodes: NodeBuilder, x: Operand, decimals: int = 0) -> Value:
    if not decimals:
        return nodes.compute(Round(), x)
    scale = 10.0 ** abs(decimals)
    first, last = (Mul(), Div()) if decimals > 0 else (Div(), Mul())
    return nodes.compute(last, nodes.compute(Round(), nodes.compute(first, x, scale)), scale)


def clip(nodes: NodeBuilder, x: Operand, low: Operand = None, high: Operand = None, **named: Operand) -> Value:
    low, high = named.get("a_min", named.get("min", low)), named.get("a_max", named.get("max", high))
    value = nodes.number(x)
    value = value if low is None else nodes.compute(Max(), value, low)
    return value if high is None else nodes.compute(Min(), value, high)


TRUNCATE = Formula("x", "numpy.where(x < 0, numpy.ceil(x), numpy.floor(x))")
FLOOR_DIVIDE = Formula(
    "x y",
    """
    rest = numpy.fmod(x, y)
    quotient = (x - rest) / y
    quotient = quotient - numpy.logical_and(rest, numpy.logical_xor(rest < 0, y < 0))
    floor = numpy.floor(quotient)
    nearest = floor + (quotient - floor > 0.5)
    exact = x / y
    signed = numpy.where(quotient == 0, exact * 0.0, nearest)
    numpy.where(y == 0, exact, signed)
    """,
)
"""The floored quotient from the exact remainder, as Python and NumPy take it."""

for name, function, math_name in (
    ("exp", Exp(), "exp"), ("sqrt", Sqrt(), "sqrt"), ("sin", Sin(), "sin"), ("cos", Cos(), "cos"),
    ("tan", Tan(), "tan"), ("sinh", Sinh(), "sinh"), ("cosh", Cosh(), "cosh"), ("tanh", Tanh(), "tanh"),
    ("arcsin", Asin(), "asin"), ("arccos", Acos(), "acos"), ("arctan", Atan(), "atan"),
    ("arcsinh", Asinh(), "asinh"), ("arccosh", Acosh(), "acosh"), ("arctanh", Atanh(), "atanh"),
    ("fabs", Abs(), "fabs"), ("ceil", Ceil(), "ceil"), ("floor", Floor(), "floor"), ("isnan", IsNaN(), "isnan"),
    ("isinf", IsInf(), "isinf"), ("power", Pow(), "pow"), ("fmod", Mod(fmod=1), "fmod"),
):  # fmt: skip
    define(name, op(function), math_name=math_name)
for names, function in (
    ("abs absolute", Abs()), ("sign", Sign()), ("rint", Round()), ("negative", Neg()), ("reciprocal", Reciprocal()),
    ("add", Add()), ("subtract", Sub()), ("multiply", Mul()), ("divide true_divide", Div()), ("float_power", Pow()),
    ("maximum", Max()), ("minimum", Min()), ("mod remainder", Mod()), ("matmul", MatMul()), ("greater", Greater()),
    ("greater_equal", GreaterOrEqual()), ("less", Less()), ("less_equal", LessOrEqual()),
):  # fmt: skip
    define(names, op(function))
define("logical_and", logical(And()))
define("logical_or", logical(Or()))
define("logical_xor", logical(Xor()))
define("logical_not", logical(Not()))
define("equal", equal)
define("not_equal", lambda nodes, x, y: nodes.add(Not(), equal(nodes, x, y)))
define("where", select, positional=3, is_elementwise=True)
define("clip", clip, positional=3, is_elementwise=True)
define("positive", to_number)
define("floor_divide", FLOOR_DIVIDE)
define("trunc", TRUNCATE, math_name="trunc")
define("fix", TRUNCATE, positional=1)
define("round around", round_to, positional=2)
define("log", take_log, math_name="log")
define("log2", Formula("x", f"numpy.log(x) / {math.log(2)!r}"), math_name="log2")
define("log10", Formula("x", f"numpy.log(x) / {math.log(10)!r}"), math_name="log10")
define(
    "log1p",
    Formula(
        "x",
        """
        more = x + 1.0
        log = numpy.log(more)
        corrected = log * x / (more - 1.0)
        numpy.where(more == 1.0, x, numpy.where(numpy.absolute(x) < 1.0, corrected, log))
        """,
    ),
    math_name="log1p",
)
define(
    "expm1",
    Formula(
        "x",
        """
        power = numpy.exp(x)
        less = power - 1.0
        corrected = less * x / numpy.log(power)
        numpy.where(power == 1.0, x, numpy.where(numpy.absolute(x) < 0.5, corrected, less))
        """,
    ),
    math_name="expm1",
)
define("exp2", Formula("x", "2.0 ** x"), math_name="exp2")
define("cbrt", Formula("x", "numpy.sign(x) * numpy.absolute(x) ** (1 / 3)"), math_name="cbrt")
define("square", Formula("x", "x * x"))
define("hypot", Formula("x y", "numpy.sqrt(x * x + y * y)"), math_name="hypot")
define("logaddexp", Formula("x y", "numpy.maximum(x, y) + numpy.log1p(numpy.exp(-numpy.absolute(x - y)))"))
define(
    "arctan2",
    Formula(
        "y x",
        """
        angle = numpy.arctan(y / x)
        half_turn = numpy.where(numpy.signbit(y), -numpy.pi, numpy.pi)
        turned = numpy.where(x < 0, angle + half_turn, angle)
        at_zero = numpy.where(numpy.signbit(x), half_turn, y * 1.0)
        numpy.where(numpy.logical_and(y == 0, x == 0), at_zero, turned)
        """,
    ),
    math_name="atan2",
)
define("signbit", Formula("x", "numpy.logical_or(x < 0, numpy.logical_and(x == 0, numpy.reciprocal(x) < 0))"))
define(
    "copysign",
    Formula("x y", "numpy.where(numpy.signbit(y), -numpy.absolute(x), numpy.absolute(x))"),
    math_name="copysign",
)
define("heaviside", Formula("x half", "numpy.where(numpy.isnan(x), x, numpy.where(x == 0, half, float(x > 0)))"))
define(
    "isfinite",
    Formula("x", "numpy.logical_not(numpy.logical_or(numpy.isnan(x), numpy.isinf(x)))"),
    math_name="isfinite",
)
define("deg2rad", Formula("x", f"x * {math.pi / 180!r}"))
define("radians", Formula("x", f"x * {math.pi / 180!r}"), math_name="radians")
define("rad2deg", Formula("x", f"x * {180 / math.pi!r}"))
define("degrees", Formula("x", f"x * {180 / math.pi!r}"), math_name="degrees")
define("bitwise_and bitwise_not bitwise_or bitwise_xor conjugate fmax fmin gcd invert lcm logaddexp2 nextafter spacing")

define_math("erf", op(Erf()))
define_math("erfc gamma gcd isclose lgamma remainder")
define_math("dist fsum sumprod", is_elementwise=False)


def _read_short(convert: Callable[[Datum], float]) -> Callable[[Datum], float]:
    """`int` and `float` take quadratic time for long texts of digits."""

    def read(value: Datum) -> float:
        if isinstance(value, str) and len(value) > 100:
            raise RunError("the text is too long for a number")
        return convert(value)

    return read


define_builtin(abs, op(Abs()), is_elementwise=True)
define_builtin(_read_short(int), TRUNCATE, "int", is_elementwise=True)
define_builtin(_read_short(float), to_number, "float", is_elementwise=True)
define_builtin(bool, to_truth, is_elementwise=True)
define_builtin(round, round_to, is_elementwise=True)
define_builtin(BINARY[ast.Pow], op(Pow()), "pow", is_elementwise=True)
