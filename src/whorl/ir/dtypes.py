"""The element types: one table of names and NumPy dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np

BY_NAME: dict[str, np.dtype] = {
    "bool": np.dtype(np.bool_),
    "int2": np.dtype(ml_dtypes.int2),
    "int4": np.dtype(ml_dtypes.int4),
    "int8": np.dtype(np.int8),
    "int16": np.dtype(np.int16),
    "int32": np.dtype(np.int32),
    "int64": np.dtype(np.int64),
    "uint2": np.dtype(ml_dtypes.uint2),
    "uint4": np.dtype(ml_dtypes.uint4),
    "uint8": np.dtype(np.uint8),
    "uint16": np.dtype(np.uint16),
    "uint32": np.dtype(np.uint32),
    "uint64": np.dtype(np.uint64),
    "float4e2m1": np.dtype(ml_dtypes.float4_e2m1fn),
    "float6e2m3": np.dtype(ml_dtypes.float6_e2m3fn),
    "float6e3m2": np.dtype(ml_dtypes.float6_e3m2fn),
    "float8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "float8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "float8e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "float8e8m0": np.dtype(ml_dtypes.float8_e8m0fnu),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
    "complex64": np.dtype(np.complex64),
    "complex128": np.dtype(np.complex128),
    "string": np.dtype(object),
}
NAMES: dict[np.dtype, str] = {dtype: name for name, dtype in BY_NAME.items()}

BOOL, STRING = BY_NAME["bool"], BY_NAME["string"]
INT32, INT64 = BY_NAME["int32"], BY_NAME["int64"]
FLOAT32, FLOAT64 = BY_NAME["float32"], BY_NAME["float64"]

SIGNED = frozenset(BY_NAME[n] for n in ("int2", "int4", "int8", "int16", "int32", "int64"))
UNSIGNED = frozenset(BY_NAME[n] for n in ("uint2", "uint4", "uint8", "uint16", "uint32", "uint64"))
INTEGERS = SIGNED | UNSIGNED
FLOATS = frozenset(dtype for name, dtype in BY_NAME.items() if "float" in name)
COMPUTED_FLOATS = frozenset(BY_NAME[n] for n in ("bfloat16", "float16", "float32", "float64"))
"""The floating-point types with arithmetic; the others are only stored."""
COMPLEX = frozenset((BY_NAME["complex64"], BY_NAME["complex128"]))
PACKED_BITS = {
    **{BY_NAME[n]: 2 for n in ("int2", "uint2")},
    **{BY_NAME[n]: 4 for n in ("int4", "uint4", "float4e2m1")},
    **{BY_NAME[n]: 6 for n in ("float6e2m3", "float6e3m2")},
}
"""Bits an element takes in a file, for the types that pack several into a byte."""


def name_of(dtype: np.dtype) -> str:
    """The hub's name of an element type; NumPy's own where it is none of ours."""
    return NAMES.get(dtype, str(dtype))


def is_float(dtype: np.dtype) -> bool:
    return dtype in FLOATS


def is_integer(dtype: np.dtype) -> bool:
    return dtype in INTEGERS


def bits(dtype: np.dtype) -> int:
    """Bits one element takes in a file (strings: 0)."""
    return 0 if dtype == STRING else PACKED_BITS.get(dtype, dtype.itemsize * 8)


def single(value: float) -> float:
    """The number that a float attribute, a float32 in ONNX, holds for a value."""
    return float(np.float32(value))
