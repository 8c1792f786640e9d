"""The values of cases, and how the data files write them."""

from __future__ import annotations

from typing import Any

import numpy as np

Value = Any
"""An array, a list of values (a sequence), or None (an empty optional)."""

ELEMENT_TYPES: dict[str, np.dtype] = {
    "bool": np.dtype(np.bool_),
    "float16": np.dtype(np.float16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "complex64": np.dtype(np.complex64),
    "complex128": np.dtype(np.complex128),
    "string": np.dtype(object),
} | {f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
"""The dtype of each element type, by the name that ONNX text gives it."""


def decode(text: Any) -> Value:
    """The value that JSON describes: `{"float": [1, "nan"]}`, a list of values, or None.

    `{"float": 0, "shape": [2, 3]}` repeats one element, and `{"float": [], "shape": [0, 3]}` has none. A complex
    element is a list of its two parts.
    """
    if text is None:
        return None
    if isinstance(text, list):
        return [decode(item) for item in text]
    shape = text.get("shape")
    name = next(iter(text))
    array = _array(text[name], ELEMENT_TYPES[name])
    if shape is None:
        return array
    return array.reshape(shape) if array.size == 0 else np.full(shape, array)


def _array(elements: Any, dtype: np.dtype) -> np.ndarray:
    if dtype.kind != "c":
        return np.array(elements, dtype)
    parts = np.array(elements, np.float32 if dtype.itemsize == 8 else np.float64)
    return parts.view(dtype).reshape(parts.shape[:-1])
