"""Numbers and texts as MLIR prints them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whorl.formats.mlir.elements import read_dense, unescaped
from whorl.formats.mlir.numbers import element_text, float_text, string_text
from whorl.ir.dtypes import BY_NAME
from whorl.ir.types import TensorType

F32 = np.dtype(np.float32)


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (1.0, np.float32, "1.000000e+00"),
        (-0.0, np.float32, "-0.000000e+00"),
        (0.1, np.float32, "1.000000e-01"),
        (1 / 3, np.float32, "0.333333343"),
        (-3.9825665e-10, np.float32, "-3.9825665E-10"),
        (1 / 3, np.float64, "0.33333333333333331"),
        (123456.7, np.float32, "123456.703"),
        (16777217.0, np.float64, "0x4170000010000000"),
        (1e300, np.float64, "1.000000e+300"),
        (3.14, np.float16, "3.140630e+00"),
        (3.3895314e38, ml_dtypes.bfloat16, "3.389530e+38"),
        (np.inf, np.float32, "0x7F800000"),
        (-np.inf, ml_dtypes.bfloat16, "0xFF80"),
        (np.nan, np.float64, "0x7FF8000000000000"),
        (np.nan, ml_dtypes.float8_e4m3fnuz, "0x80"),
        (448.0, ml_dtypes.float8_e4m3fn, "4.480000e+02"),
        (2.5, np.float32, "2.500000e+00"),
        (5.2, np.float32, "5.200000e+00"),
        (6.2, np.float32, "6.1999998"),
        (1e-45, np.float32, "1.401300e-45"),
    ],
)
def test_float_as_llvm_prints_it(value: float, dtype: type, text: str) -> None:
    kind = np.dtype(dtype)
    assert float_text(np.asarray(value).astype(kind)[()], kind) == text


@given(st.floats(width=32, allow_nan=False))
@settings(max_examples=300, deadline=None)
def test_float_text_is_read_back(value: float) -> None:
    text = float_text(np.float32(value), F32)
    assert read_dense(text, TensorType(F32, ()))[()].tobytes() == np.float32(value).tobytes()


@given(st.text(max_size=20))
def test_text_is_read_back(text: str) -> None:
    if text.isprintable() or text.isascii():
        assert unescaped(string_text(text)[1:-1]) == text


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (True, "bool", "true"),
        (-8, "int4", "-8"),
        (255, "uint8", "255"),
        ('é"\\\n', "string", '"\\C3\\A9\\22\\\\\\0A"'),
        (1 - 2.5j, "complex64", "(1.000000e+00,-2.500000e+00)"),
        (0.5, "float4e2m1", "5.000000e-01"),
    ],
)
def test_element_of_every_kind(value: object, name: str, text: str) -> None:
    dtype = BY_NAME[name]
    assert element_text(np.array([value], dtype)[0], dtype) == text
