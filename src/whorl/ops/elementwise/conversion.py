"""Arrays from one element type to another: what ONNX Cast says for every pair, with one answer on every machine."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from whorl.errors import RunError
from whorl.ir.dtypes import BOOL, BY_NAME, FLOAT32, FLOAT64, INT32, INT64, INTEGERS, STRING, name_of

_CARRIERS: dict[np.dtype, np.dtype] = {
    **{BY_NAME[n]: BY_NAME["int8"] for n in ("int2", "int4")},
    **{BY_NAME[n]: BY_NAME["uint8"] for n in ("uint2", "uint4")},
    **{dtype: FLOAT32 for n, dtype in BY_NAME.items() if "float" in n and n not in ("float16", "float32", "float64")},
}
"""The NumPy type that represents every value of a type that NumPy lacks."""
SATURATING = {
    BY_NAME[n]: (float(ml_dtypes.finfo(BY_NAME[n]).min), float(ml_dtypes.finfo(BY_NAME[n]).max))
    for n in ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")
}
"""The range of the types to which `saturate` applies; float4 and float6 always saturate."""
FLOAT8E8M0 = BY_NAME["float8e8m0"]
ROUND_MODES = ("up", "down", "nearest")


def convert(x: np.ndarray, dtype: np.dtype, saturate: bool = True, round_mode: str = "up") -> np.ndarray:
    """The array in another element type.

    Integers keep their low bits. Floats are truncated to integers as by `to_integer` and rounded to narrower floats,
    halves to even. `saturate` is for float8 targets, `round_mode` for float8e8m0.
    """
    if x.dtype == dtype:
        return x
    if x.dtype == STRING:
        return _parsed(x, dtype, saturate, round_mode)
    x = x.astype(_CARRIERS.get(x.dtype, x.dtype), copy=False)
    if dtype == STRING:
        return _texts(x)
    if dtype == BOOL:
        return np.not_equal(x, 0)
    if dtype in INTEGERS:
        return x.astype(dtype) if x.dtype.kind in "iub" else to_integer(x, dtype)
    if dtype == FLOAT8E8M0:
        return _power_of_two(x.astype(FLOAT64), saturate, round_mode)
    if saturate and dtype in SATURATING:
        x = np.clip(x.astype(FLOAT64) if x.dtype.kind in "iub" else x, *SATURATING[dtype])
    return x.astype(dtype)


def to_integer(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Floats truncated toward zero. What no carrier represents, NaN included, becomes the carrier's smallest integer.

    The carrier is int64 for types of 64 bits and uint32, else int32, as in C on x86; then the low bits remain.
    """
    x = x.astype(_CARRIERS.get(x.dtype, FLOAT32 if x.dtype.itemsize == 2 else x.dtype), copy=False)
    if dtype == BY_NAME["uint64"]:
        x = np.where((x >= 2.0**63) & (x < 2.0**64), x - 2.0**64, x)
    carrier, bound = (INT64, 2.0**63) if dtype.itemsize == 8 or dtype == BY_NAME["uint32"] else (INT32, 2.0**31)
    whole = np.where((x >= -bound) & (x < bound), x, -bound).astype(carrier)
    return whole.astype(dtype, copy=False)


def _power_of_two(x: np.ndarray, saturate: bool, round_mode: str) -> np.ndarray:
    """float8e8m0, whose values are 2**-127 to 2**127 and NaN. Negative numbers, which it lacks, become NaN."""
    fraction, exponent = np.frexp(x)
    raised = {"up": fraction > 0.5, "down": np.False_, "nearest": fraction >= 0.75}[round_mode]
    code = exponent.astype(INT64) + 126 + raised
    code = np.where(x == 0, -1, np.where(np.isposinf(x), 255, code))
    if saturate:
        code = np.clip(code, 0, 254)
    valid = (x >= 0) & (code >= 0) & (code <= 254)
    return np.where(valid, code, 255).astype(np.uint8).view(FLOAT8E8M0)


def _texts(x: np.ndarray) -> np.ndarray:
    """Each element as text: the shortest that reads back as the same number, 1 and 0 for bools."""
    if x.dtype == BOOL:
        x = x.astype(np.uint8)
    texts = np.empty(x.size, object)
    texts[:] = [_text(value) for value in x.reshape(-1)]
    return texts.reshape(x.shape)


def _text(value: Any) -> str:
    if math.isfinite(value):
        return str(value)
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"


def _parsed(texts: np.ndarray, dtype: np.dtype, saturate: bool, round_mode: str) -> np.ndarray:
    """Numbers from their texts. A text with a point or an exponent is truncated for an integer type."""
    flat = texts.reshape(-1)
    if dtype in INTEGERS:
        numbers = np.array([_whole(text, dtype) for text in flat], np.uint64).astype(dtype)
    else:
        floats = np.array([_number(text, dtype) for text in flat], FLOAT64)
        numbers = floats if dtype == FLOAT64 else convert(floats, dtype, saturate, round_mode)
    return numbers.reshape(texts.shape)


def _number(text: str, dtype: np.dtype) -> float:
    try:
        return float(text)
    except ValueError:
        raise RunError(f"{text!r} is not a number, so it has no value in {name_of(dtype)}") from None


def _whole(text: str, dtype: np.dtype) -> int:
    """The low 64 bits of the integer that a text says."""
    try:
        value = int(text)
    except ValueError:
        number = _number(text, dtype)
        if not math.isfinite(number):
            raise RunError(f"{text!r} has no value in {name_of(dtype)}") from None
        value = int(number)
    return value & ((1 << 64) - 1)
