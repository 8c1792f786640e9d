"""Constants that nodes say in fewer bytes: elements that repeat, and numbers in steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter
from whorl.formats.onnx.schemas import require_type
from whorl.ir.dtypes import BY_NAME, INT64
from whorl.ir.elements.base import Leaf
from whorl.ir.elements.views import Reshaped
from whorl.ir.types import TensorType

_WORTH = 1024
"""Bytes that a recipe must save."""
_LONG = 1 << 13
"""Numbers in steps from which they are written as a Range."""
_STEPPED = frozenset(BY_NAME[name] for name in ("int16", "int32", "int64"))


def write_recipe(write: NodeWriter, value: Any, hint: str) -> str | None:
    """Write a constant as nodes and return its name; None where its elements take no more bytes."""
    if math.prod(value.shape) * value.dtype.itemsize <= _WORTH:
        return None
    inner, shape = value, tuple(value.shape)
    if isinstance(inner, Reshaped):
        inner = inner.inputs[0]
    if isinstance(inner, Leaf):
        inner = inner.array
    if not isinstance(inner, np.ndarray):
        return None
    core = inner[tuple(slice(0, 1) if not step else slice(None) for step in inner.strides)]
    try:
        if core.nbytes + _WORTH < inner.nbytes:
            return _expanded(write, core, inner.shape, shape, hint)
        return _range(write, inner, hint) if inner.shape == shape else None
    except SaveError:
        return None


def _expanded(
    write: NodeWriter, core: np.ndarray, full: tuple[int, ...], shape: tuple[int, ...], hint: str
) -> str | None:
    """Expand of the elements that differ, then Reshape where axes were merged after that."""
    if write.opset < 8:
        return None
    require_type(TensorType(core.dtype, core.shape), write.schema("Expand", ""))
    name = write.fresh(hint)
    wide = name if full == shape else write.fresh(hint)
    inputs = [write.constant(np.ascontiguousarray(core), f"{hint}_core"), write.constant(_lengths(full), "shape")]
    write.node("Expand", inputs, [wide])
    if full != shape:
        write.node("Reshape", [wide, write.constant(_lengths(shape), "shape")], [name])
    return name


def _range(write: NodeWriter, array: np.ndarray, hint: str) -> str | None:
    """Range, for integers with one distance between neighbours."""
    if array.ndim != 1 or len(array) < _LONG or array.dtype not in _STEPPED or write.opset < 11:
        return None
    first, second, last = (int(array[k]) for k in (0, 1, -1))
    step = second - first
    if not step or last != first + step * (len(array) - 1) or not (np.diff(array) == step).all():
        return None
    limit = last + (1 if step > 0 else -1)
    if not np.iinfo(array.dtype).min <= limit <= np.iinfo(array.dtype).max:
        return None
    name = write.fresh(hint)
    numbers = [
        write.constant(np.array(n, array.dtype), f"{hint}_{k}")
        for k, n in zip("fls", (first, limit, step), strict=True)
    ]
    write.node("Range", numbers, [name])
    return name


def _lengths(shape: tuple[int, ...]) -> np.ndarray:
    return np.array(shape, INT64)
