"""Short constructors of the arrays that the cases feed and expect."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike

Value = Any
"""An array, a list of values (a sequence), or None (an empty optional)."""

EXOTIC: dict[str, np.dtype] = {
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "float8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "float8e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "float8e8m0": np.dtype(ml_dtypes.float8_e8m0fnu),
    "float4e2m1": np.dtype(ml_dtypes.float4_e2m1fn),
    "int4": np.dtype(ml_dtypes.int4),
    "uint4": np.dtype(ml_dtypes.uint4),
    "int2": np.dtype(ml_dtypes.int2),
    "uint2": np.dtype(ml_dtypes.uint2),
}
"""ONNX's element types that NumPy itself lacks, by the name ONNX text gives them."""


def f16(x: ArrayLike) -> np.ndarray:
    return np.asarray(x, np.float16)


def f32(x: ArrayLike) -> np.ndarray:
    return np.asarray(x, np.float32)


def f64(x: ArrayLike) -> np.ndarray:
    return np.asarray(x, np.float64)


def i8(x: ArrayLike) -> np.ndarray:
    return np.asarray(x, np.int8)


def i32(x: ArrayLike) -> np.ndarray:
    return np.asarray(x, np.int32)


def i64(x: ArrayLike) -> np.ndarray:
    return np.asarray(x, np.int64)


def u8(x: ArrayLike) -> np.ndarray:
    return np.asarray(x, np.uint8)


def flags(x: ArrayLike) -> np.ndarray:
    """A bool array."""
    return np.asarray(x, np.bool_)


def words(x: ArrayLike) -> np.ndarray:
    """A string array: object elements of type str."""
    return np.array(x, object)


def empty(*shape: int) -> np.ndarray:
    """A float32 array; used for shapes without elements."""
    return np.zeros(shape, np.float32)
