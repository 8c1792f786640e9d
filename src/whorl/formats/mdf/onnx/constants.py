"""Constants and texts of ONNX models as parameters, in a form that modeci_mdf reads as the same array.

modeci_mdf gives a number one axis, an empty list no whole numbers, and takes a text for an expression. So these are
calls of NumPy, which are expressions everywhere.
"""

from __future__ import annotations

import math
import re

import numpy as np

from whorl.errors import LoadError
from whorl.ir.dtypes import BOOL, BY_NAME, FLOAT32, INT64, STRING, name_of
from whorl.mdf.model import STORED_FROM, Parameter

DTYPE = "dtype"
"""The key in a parameter's metadata with its element type, where that is not the one its form stands for."""
_PLAIN = {"f": FLOAT32, "i": INT64, "b": BOOL, **dict.fromkeys("OU", STRING)}
"""The element types that lists of floats, whole numbers, truth values and texts stand for."""
_QUOTED = re.compile(r"numpy\.array\((['\"]).*\1\)", re.DOTALL)


def make_constant(id: str, value: object, has_rank: bool = True) -> Parameter:
    """A parameter with an array, a number or a text. `has_rank`: whether a number must not become an array of one."""
    parameter = Parameter(id, write_value(value, has_rank))
    if isinstance(value, np.ndarray | np.generic) and value.dtype != _PLAIN.get(value.dtype.kind):
        parameter.extra["metadata"] = {DTYPE: name_of(value.dtype)}
    return parameter


def write_value(value: object, has_rank: bool = True) -> object:
    """What stands for a value in a file: a list, a number, or a call of NumPy."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, tuple | list):
        return [entry.item() if isinstance(entry, np.generic) else entry for entry in value]
    if not isinstance(value, np.ndarray):
        value = np.asarray(value)
    if not value.ndim:
        return _number(value.item(), has_rank)
    if not value.size and (value.ndim > 1 or value.dtype.kind != "f"):
        kind = {"b": "bool", "i": "int64", "u": "int64"}.get(value.dtype.kind, "float64")
        return f"numpy.zeros({value.shape}, dtype='{kind}')"
    return value.tolist() if value.size < STORED_FROM else value


def quote(value: str) -> str:
    """A text that means itself."""
    return f"numpy.array({value!r})"


def is_text(value: str) -> bool:
    """Whether an expression is such a text."""
    return _QUOTED.fullmatch(value) is not None


def _number(value: object, has_rank: bool) -> object:
    if isinstance(value, str):
        return quote(value)
    if not has_rank:
        return value
    if isinstance(value, float) and not math.isfinite(value):
        sign = "-" if value < 0 else ""
        return f"numpy.array({sign}numpy.{abs(value)})"
    return f"numpy.array({value!r})"


def apply_type(parameter: Parameter, value: object) -> object:
    """A value of a parameter as an array of its element type in ONNX; what is no array or number as it is."""
    if not isinstance(value, np.ndarray | np.generic | list | tuple | int | float):
        return value
    array, metadata = np.asarray(value), parameter.extra.get("metadata")
    name = metadata.get(DTYPE) if isinstance(metadata, dict) else None
    if name is None:
        return array.astype(_PLAIN.get(array.dtype.kind, array.dtype))
    if name not in BY_NAME:
        raise LoadError(f"{name!r} is no element type", f"parameter {parameter.id!r}", f"one of {', '.join(BY_NAME)}")
    return array.astype(BY_NAME[name])
