"""Functions of one number."""

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of
from formats.openvino.one_layer import check_layer, check_node

from whorl.errors import LoadError
from whorl.ops.elementwise.arithmetic import Abs, Ceil, Floor, Identity, Neg, Reciprocal, Round, Sign
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
    Relu,
    Selu,
    Shrink,
    Sigmoid,
    Softplus,
    Softsign,
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


def test_bounds_of_integers_that_are_no_numbers_are_refused() -> None:
    layers = [parameter(0, "2", "i32"), layer(1, "Clamp", 1, ("I32",), name="c", min="nan", max=3), result(2)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-1:0 1:1-2:0"))
    assert str(caught.value) == "Clamp 'c' (line 5): OV501: bounds integers by nan and 3.0\n  fix: make both numbers"
