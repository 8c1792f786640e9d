"""Functions of one number, conversions and activations."""

import numpy as np
import pytest
from formats.openvino.one_layer import Input, check_layer, check_node, fixed, scalar

from whorl.ir.dtypes import BY_NAME
from whorl.ops.elementwise.arithmetic import Abs, Ceil, Floor, Identity, Neg, Reciprocal, Round, Sign
from whorl.ops.elementwise.casting import Cast, CastLike
from whorl.ops.elementwise.comparison import IsInf, IsNaN
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
from whorl.ops.elementwise.nonlinear import (
    Celu,
    Elu,
    Gelu,
    HardSigmoid,
    HardSwish,
    LeakyRelu,
    Mish,
    PRelu,
    Relu,
    Selu,
    Shrink,
    Sigmoid,
    Softplus,
    Softsign,
    SwiGLU,
    Swish,
    ThresholdedRelu,
)

X = np.array([-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 3.7], np.float32)
INSIDE = np.array([-0.9, -0.3, 0.0, 0.3, 0.9], np.float32)
SPECIAL = np.array([-np.inf, -1, 1, np.inf, np.nan], np.float32)
WHOLE = np.array([-8, -3, 0, 3, 8, 15], np.int32)
FUNCTIONS = {"Sin": 1, "Cos": 1, "Tan": 1, "Sinh": 1, "Cosh": 1, "Tanh": 1, "Erf": 1, "Sigmoid": 1, "Sqrt": 1, "Log": 1}
FUNCTIONS |= {"Asin": 1, "Acos": 1, "Atan": 1, "Acosh": 4, "Asinh": 4, "Atanh": 4, "Floor": 1, "Ceiling": 1}
FUNCTIONS |= {"Abs": 1, "Negative": 1, "Sign": 1, "HSigmoid": 5, "HSwish": 4, "Mish": 4, "SoftPlus": 4, "SoftSign": 9}
FUNCTIONS |= {"Gelu": 2, "Relu": 1, "Identity": 16}


@pytest.mark.parametrize(("type", "version"), FUNCTIONS.items())
def test_functions(type: str, version: int) -> None:
    check_layer(type, version, [X])
    check_layer(type, version, [np.array(0.5, np.float32)])


@pytest.mark.parametrize("type", ["Abs", "Sign", "Floor", "Sqrt", "Log", "Cos", "Tanh", "Sigmoid", "Atan"])
def test_special_numbers(type: str) -> None:
    check_layer(type, 1, [SPECIAL])


@pytest.mark.parametrize("type", ["Exp", "Tan", "Sigmoid", "Tanh", "Erf", "Abs", "Negative", "Sign", "Floor", "Relu"])
def test_functions_of_integers_are_rounded(type: str) -> None:
    check_layer(type, 1, [WHOLE])


def test_rounding_of_halves() -> None:
    for mode in ("half_to_even", "half_away_from_zero"):
        check_layer("Round", 5, [X], {"mode": mode})
        check_layer("Round", 5, [WHOLE], {"mode": mode})


def test_bounds() -> None:
    check_layer("Clamp", 1, [X], {"min": -1.2, "max": 1.7})
    check_layer("Clamp", 1, [WHOLE], {"min": -1.2, "max": 1.7})
    check_layer("Clamp", 1, [WHOLE.astype(np.int64)], {"min": -1e30, "max": 4.0})


@pytest.mark.parametrize("target", ["i32", "u8", "i8", "boolean", "f16", "i64"])
def test_conversions(target: str) -> None:
    least = 0 if target == "u8" else -100
    check_layer("Convert", 1, [np.array([least, 0.3, 2.7, 100.9], np.float32)], {"destination_type": target})
    check_layer("Convert", 1, [np.array([-2, 0, 3, 300, -300], np.int64)], {"destination_type": target})
    check_layer("Convert", 1, [np.array([True, False])], {"destination_type": target})


def test_conversion_to_the_type_of_another() -> None:
    check_layer("ConvertLike", 1, [X, np.array([1])])


def test_questions() -> None:
    check_layer("IsNaN", 10, [SPECIAL])
    check_layer("IsFinite", 10, [SPECIAL])
    for negative in (True, False):
        for positive in (True, False):
            check_layer("IsInf", 10, [SPECIAL], {"detect_negative": negative, "detect_positive": positive})


def test_negations() -> None:
    check_layer("LogicalNot", 1, [np.array([True, False])])
    for x in (np.array([True, False]), WHOLE, np.array([3, 5], np.uint8)):
        check_layer("BitwiseNot", 13, [x])


def test_activations_with_parameters() -> None:
    check_layer("Elu", 1, [X], {"alpha": 0.7})
    check_layer("Gelu", 7, [X], {"approximation_mode": "ERF"})
    check_layer("Gelu", 7, [X], {"approximation_mode": "TANH"})
    check_layer("HardSigmoid", 1, [X, scalar(0.3, np.float32), scalar(0.4, np.float32)])
    check_layer("Selu", 1, [X, scalar(0.3, np.float32), scalar(0.4, np.float32)])
    check_layer("Swish", 4, [X])
    check_layer("Swish", 4, [X, scalar(0.3, np.float32)])
    check_layer("Swish", 4, [X, np.array(0.3, np.float32)])


def test_parameters_computed_at_run_time() -> None:
    numbers = [np.array(0.3, np.float32), np.array(0.4, np.float32)]
    line = np.clip(X * np.float32(0.3) + np.float32(0.4), 0, 1)
    check_layer("HardSigmoid", 1, [X, *numbers], expected=[line])
    curve = np.float32(0.4) * np.where(X > 0, X, np.float32(0.3) * np.expm1(X))
    check_layer("Selu", 1, [X, *numbers], expected=[curve])


SLOPES: list[tuple[tuple[int, ...], Input]] = [
    ((2, 3, 3), np.array([0.1, 0.2, 0.3], np.float32)),
    ((2, 3, 4), np.array([0.1, 0.2, 0.3], np.float32)),
    ((3, 3), np.array([0.1, 0.2, 0.3], np.float32)),
    ((3,), np.array([0.1, 0.2, 0.3], np.float32)),
    ((2, 3, 4), np.array([0.1], np.float32)),
    ((2, 3, 4), fixed(0.1, dtype=np.float32)),
    ((2, 3, 4), np.array([[0.1], [0.2], [0.3]], np.float32)),
    ((2, 3, 4), np.array(0.5, np.float32)),
]


@pytest.mark.parametrize(("shape", "slope"), SLOPES)
def test_slopes(shape: tuple[int, ...], slope: Input) -> None:
    x = np.linspace(-3, 2, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    check_layer("PRelu", 1, [x, slope])


WRITTEN = [
    Acos(),
    Asin(),
    Atan(),
    Atanh(),
    Asinh(),
    Cos(),
    Cosh(),
    Erf(),
    Exp(),
    Sin(),
    Sinh(),
    Tan(),
    Tanh(),
    Abs(),
    Ceil(),
    Floor(),
    Identity(),
    Neg(),
    Round(),
    Sign(),
    Celu(0.5),
    Elu(0.5),
    Gelu(),
    Gelu("tanh"),
    HardSigmoid(0.3, 0.4),
    HardSwish(),
    LeakyRelu(0.3),
    Mish(),
    Relu(),
    Selu(0.3, 0.4),
    Shrink(0.1, 0.2),
    Sigmoid(),
    Softplus(),
    Softsign(),
    Swish(),
    Swish(0.5),
    ThresholdedRelu(0.2),
    Acosh(),
    Log(),
    Reciprocal(),
    Sqrt(),
    IsNaN(),
]


@pytest.mark.parametrize("op", WRITTEN, ids=repr)
def test_functions_written(op: Abs) -> None:
    x = 1 + INSIDE if isinstance(op, (Log, Sqrt, Reciprocal, Acosh)) else INSIDE
    check_node(op, [2 + x if isinstance(op, Acosh) else x])


@pytest.mark.parametrize("op", [Abs(), Neg(), Sign(), Relu(), Identity()], ids=repr)
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_functions_of_integers_written(op: Abs, dtype: type) -> None:
    check_node(op, [np.array([-128, -3, 0, 3], dtype)])


def test_questions_written() -> None:
    check_node(IsNaN(), [SPECIAL])
    for negative, positive in ((1, 1), (1, 0), (0, 1)):
        check_node(IsInf(negative, positive), [SPECIAL])


def test_gate_written() -> None:
    check_node(SwiGLU(0.5), [INSIDE, INSIDE + 1])


def test_slopes_written() -> None:
    x = np.linspace(-3, 2, 12, dtype=np.float32).reshape(2, 2, 3)
    for shape in ((3,), (1,), (2, 1), (2, 1, 1)):
        check_node(PRelu(), [x, np.linspace(0.1, 0.5, int(np.prod(shape)), dtype=np.float32).reshape(shape)])
    check_node(PRelu(), [WHOLE, np.array(2, np.int32)])


TYPES = "float32", "float16", "bfloat16", "int8", "uint8", "int64", "bool"


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("target", [*TYPES, "int16"])
def test_conversions_written(source: str, target: str) -> None:
    x = np.array([0, 1, 3, 100]) if source in ("uint8", "bool") else np.array([-100, -1, 0, 2.5])
    if target.startswith("uint"):
        x = np.abs(x)
    check_node(Cast(BY_NAME[target]), [x.astype(BY_NAME[source])])


@pytest.mark.parametrize("target", ["float8e4m3fn", "float8e5m2"])
def test_conversions_to_few_bits_keep_within_the_range(target: str) -> None:
    check_node(CastLike(), [np.array([0.3, 1e6, -1e6, np.inf, np.nan], np.float32), np.zeros(1, BY_NAME[target])])
