"""Whether the values that an engine gave are the expected ones: dtype, shape and every element."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.conformance.values import Value


def difference(expected: Sequence[Value], got: Sequence[Value], tolerance: float = 0.0) -> str:
    """What differs between two lists of outputs, in words; empty where nothing does."""
    if len(expected) != len(got):
        return f"{len(got)} outputs, expected {len(expected)}"
    for k, (want, value) in enumerate(zip(expected, got, strict=True)):
        if text := value_difference(want, value, tolerance):
            return f"output {k}: {text}"
    return ""


def value_difference(want: Value, value: Value, tolerance: float = 0.0) -> str:
    """As `difference`, for one value; floats are equal where both are NaN, and the sign of zero counts."""
    if want is None or value is None:
        return "" if want is value else f"{brief(value)}, expected {brief(want)}"
    if isinstance(want, list) or isinstance(value, list):
        return _list_difference(want, value, tolerance)
    value = np.asarray(value)
    if _kind(want) != _kind(value):
        return f"dtype {value.dtype}, expected {want.dtype}"
    if want.shape != value.shape:
        return f"shape {list(value.shape)}, expected {list(want.shape)}"
    if _equal(want, value, tolerance):
        return ""
    return f"{brief(value)}, expected {brief(want)}"


def brief(value: Value) -> str:
    """A value in one short line."""
    if isinstance(value, list):
        return f"a sequence of {len(value)}"
    if value is None:
        return "None"
    text = " ".join(np.array2string(np.asarray(value), threshold=12, max_line_width=200).split())
    return text if len(text) <= 120 else text[:117] + "..."


def _list_difference(want: Value, value: Value, tolerance: float) -> str:
    if not (isinstance(want, list) and isinstance(value, list)):
        return f"{brief(value)}, expected {brief(want)}"
    if len(want) != len(value):
        return f"{len(value)} items, expected {len(want)}"
    for k, (a, b) in enumerate(zip(want, value, strict=True)):
        if text := value_difference(a, b, tolerance):
            return f"item {k}: {text}"
    return ""


def _kind(array: np.ndarray) -> str:
    return "string" if array.dtype.kind in "OSU" else str(array.dtype)


def _equal(want: np.ndarray, value: np.ndarray, tolerance: float) -> bool:
    if _kind(want) == "string":
        return all(str(a) == str(b) for a, b in zip(want.ravel(), value.ravel(), strict=True))
    if want.dtype.kind in "biu":
        return bool((want == value).all())
    if want.dtype.kind == "c":
        return bool(np.array_equal(want, value, equal_nan=True))
    want, value = want.astype(np.float64), value.astype(np.float64)
    if tolerance:
        return bool(np.allclose(value, want, rtol=tolerance, atol=tolerance, equal_nan=True))
    same_sign = np.isnan(want) | (np.signbit(want) == np.signbit(value))
    return bool(np.array_equal(want, value, equal_nan=True) and same_sign.all())
