"""Operations on NumPy scalars: results of the operands' type, integers that wrap, floats as NumPy computes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from whorl.errors import VerifyError
from whorl.ir.dtypes import BY_NAME
from whorl.ir.native.expressions import Apply, Const
from whorl.kernel.scalar_functions import function_of


def computed(op: str, kind: str, *numbers: Any, result: str | None = None) -> Any:
    dtype = BY_NAME[kind]
    args = [np.array(n).astype(dtype)[()] for n in numbers]
    expr = Apply(BY_NAME[result or kind], op, tuple(Const(dtype, n) for n in numbers))
    return function_of(expr)(*args)


@pytest.mark.parametrize(
    ("op", "kind", "numbers", "expected"),
    [
        ("add", "int8", (127, 1), -128),
        ("sub", "uint8", (0, 1), 255),
        ("mul", "int64", (1 << 62, 4), 0),
        ("div", "int32", (-7, 2), -3),
        ("rem", "int32", (-7, 2), -1),
        ("div", "int8", (-128, -1), -128),
        ("neg", "uint16", (1,), 65535),
        ("abs", "int8", (-128,), -128),
        ("shl", "int16", (3, 16), 0),
        ("shr", "int16", (-3, 16), -1),
        ("shr", "uint8", (200, 3), 25),
        ("xor", "int32", (6, 3), 5),
        ("not", "int32", (0,), -1),
        ("pow", "int64", (3, 41), 3**41 - (1 << 64) * round(3**41 / (1 << 64))),
        ("max", "float32", (1.0, np.nan), np.nan),
        ("min", "float64", (np.nan, 1.0), np.nan),
        ("rint", "float32", (2.5,), 2.0),
        ("add", "float32", (1.0, 1e-9), 1.0),
        ("erf", "float64", (0.5,), 0.5204998778130465),
        ("sigmoid", "float64", (-800.0,), 0.0),
        ("add", "int64", ((1 << 62) - 1, 1), 1 << 62),
        ("mul", "int64", (1 << 62, 2), -(1 << 63)),
        ("shr", "int32", (-8, 40), -1),
        ("xor", "bool", (True, True), False),
        ("not", "bool", (True,), False),
    ],
)
def test_operation_is_exact(op: str, kind: str, numbers: tuple[Any, ...], expected: Any) -> None:
    actual = computed(op, kind, *numbers)
    assert actual.dtype == BY_NAME[kind]
    np.testing.assert_array_equal(actual, np.asarray(expected).astype(actual.dtype))


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_floats_are_rounded_to_their_type(kind: str) -> None:
    dtype = BY_NAME[kind]
    third, pair = dtype.type(1) / dtype.type(3), np.array([1, 3]).astype(dtype)
    for op, expected in [("div", third), ("add", pair[0] + pair[1]), ("mul", pair[1]), ("sub", pair[0] - pair[1])]:
        value = computed(op, kind, 1, 3)
        assert (value, value.dtype) == (expected, dtype)
    assert computed("neg", kind, 0.0).dtype == dtype
    assert math.copysign(1, float(computed("neg", kind, 0.0))) == -1


def test_comparisons_of_nan_do_not_hold() -> None:
    for op in ("lt", "le", "gt", "ge", "eq"):
        assert not computed(op, "float32", math.nan, math.nan, result="bool")
    assert computed("ne", "float32", math.nan, math.nan, result="bool")
    assert computed("isnan", "float32", math.nan, result="bool")


def test_division_by_zero_is_refused_for_integers_alone() -> None:
    with pytest.raises(VerifyError, match="a division by zero"):
        computed("div", "int32", 1, 0)
    with np.errstate(all="ignore"):
        assert computed("div", "float32", 1, 0) == math.inf


def test_conversions_are_the_ones_of_cast() -> None:
    assert computed("cast", "float32", -1.9, result="int32") == -1
    assert computed("cast", "int64", 300, result="uint8") == 44
    assert computed("cast", "bool", True, result="float64") == 1
    assert computed("bits", "float32", 1.0, result="int32") == 0x3F800000
