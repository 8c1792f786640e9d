"""Converts a caller's values to run-time values: nothing is narrowed, and what does not fit is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import ml_dtypes
import numpy as np

from whorl.errors import RunError
from whorl.ir.dtypes import COMPLEX, FLOATS, INTEGERS, NAMES, STRING, name_of
from whorl.ir.types import AnyShape, MapType, OptionalType, SequenceType, TensorType, Type, type_of
from whorl.runtime.values import is_array, is_map


def is_feeds(feeds: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(feeds, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def check_value(value: object, type: Type, what: str) -> Any:
    """A caller's value in the form that a run takes. Errors: RunError names `what`, its type and the declared one."""
    match type:
        case TensorType():
            return check_tensor(value, type, what)
        case SequenceType():
            if not _is_list(value):
                raise RunError(f"{what} is {_shown(value)}, expected {type}", fix="feed a list of arrays")
            return _check_items(value, type.element, what)
        case OptionalType():
            return None if value is None else check_value(value, type.element, what)
        case MapType():
            return _map(value, type, what)


def _check_items(items: Sequence[object], type: Type, what: str) -> list[Any]:
    if not isinstance(type, TensorType) or type.dtype == STRING:
        return [check_value(item, type, f"{what}[{k}]") for k, item in enumerate(items)]
    dtype, checked = type.dtype, list[Any]()
    for k, item in enumerate(items):
        fits = item.__class__ is np.ndarray and item.dtype == dtype and _fits(item, type)  # type: ignore[union-attr]
        checked.append(item if fits else check_tensor(item, type, f"{what}[{k}]"))
    return checked


def check_tensor(value: object, type: TensorType, what: str) -> np.ndarray:
    array = _array(value, type, what)
    if array.dtype != type.dtype:
        fix = "feed strings" if type.dtype == STRING else f"convert it, for example with .astype({str(type.dtype)!r})"
        raise RunError(f"{what} is {name_of(array.dtype)}{list(array.shape)}, expected {type}", fix=fix)
    if not _fits(array, type):
        raise RunError(f"{what} has shape {list(array.shape)}, expected {type}", fix="reshape the array")
    return array


def _fits(array: np.ndarray, type: TensorType) -> bool:
    """Whether rank and fixed lengths agree; names are not compared, since real models use one name for two lengths."""
    if isinstance(type.shape, AnyShape):
        return True
    if len(type.shape) != array.ndim:
        return False
    for d, n in zip(type.shape, array.shape):  # noqa: B905, SIM110 - a generator, and `strict`, take longer than the rest
        if isinstance(d, int) and d != n:
            return False
    return True


def _array(value: object, type: TensorType, what: str) -> np.ndarray:
    """Arrays as they are; Python numbers and lists in the declared element type where that loses nothing."""
    is_python = not hasattr(value, "__array__")
    if is_python and hasattr(value, "__dlpack__"):
        return _from_dlpack(value, what)
    try:
        array = np.asarray(value, STRING if is_python and type.dtype == STRING else None)
    except (ValueError, TypeError, RuntimeError) as error:
        raise _refusal(what, "is not an array", error, "feed a NumPy array") from None
    if array.dtype.kind in "UST" or (array.dtype == object and (type.dtype == STRING or _is_text(array))):
        return _strings(array, what)
    if array.dtype == object:
        raise RunError(f"{what} is {_shown(value)}, expected {type}", fix="feed a NumPy array")
    return _convert(array, type.dtype, what) if is_python else array.astype(array.dtype.newbyteorder("="), copy=False)


def _from_dlpack(value: Any, what: str) -> np.ndarray:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise _refusal(what, "cannot be read as an array", error, "convert it to a NumPy array") from None


def _refusal(what: str, problem: str, error: Exception, fix: str) -> RunError:
    """An error whose fix is the hint of the library that the value comes from ("Use ..."), if it gives one."""
    message, begin, hint = re.sub(r"\s+", " ", str(error)).partition(" Use ")
    return RunError(f"{what} {problem}: {message}", fix=begin.lower().lstrip() + hint.rstrip(".") if hint else fix)


def _convert(array: np.ndarray, dtype: np.dtype, what: str) -> np.ndarray:
    """Numbers that Python made, in the declared type; those of another kind as they are, for the caller to refuse."""
    kinds = "iu" if dtype in INTEGERS else "iuf" if dtype in FLOATS else "iufc" if dtype in COMPLEX else ""
    if array.size and array.dtype.kind not in kinds:
        return array
    with np.errstate(all="ignore"):
        converted = array.astype(dtype)
    if not _is_lossless(array, converted):
        raise RunError(f"{what} holds values that {name_of(dtype)} cannot", fix="feed an array of the right type")
    return converted


def _is_lossless(array: np.ndarray, converted: np.ndarray) -> bool:
    """Whether integers stayed equal; real and complex numbers are rounded, but stay finite."""
    if array.dtype.kind in "fc":
        return bool(np.array_equal(np.isfinite(array), np.isfinite(_wide(converted))))
    if converted.dtype in INTEGERS:
        limits = ml_dtypes.iinfo(converted.dtype)
        return not array.size or int(limits.min) <= int(array.min()) <= int(array.max()) <= int(limits.max)
    return bool(np.array_equal(_wide(converted).astype(object), array.astype(object)))


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype in COMPLEX else np.float64)


def _is_text(array: np.ndarray) -> bool:
    return bool(array.size) and all(isinstance(item, str | bytes) for item in array.flat)


def are_strings(array: np.ndarray) -> bool:
    """Whether all elements of an array of objects are strings, and of no class derived from these."""
    return [*map(type, array.ravel().tolist())].count(str) == array.size


def _strings(array: np.ndarray, what: str) -> np.ndarray:
    """Text in any of NumPy's forms as an object array of str; bytes are UTF-8."""
    if array.dtype == STRING and are_strings(array):
        return array
    result = np.empty(array.shape, object)
    for index, text in np.ndenumerate(array):
        if not isinstance(text, str | bytes):
            raise RunError(f"{what} holds {type(text).__name__} at {list(index)}, expected strings", fix="feed strings")
        result[index] = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else str(text)
    return result


def _map(value: object, type: MapType, what: str) -> dict[object, object]:
    if not is_map(value):
        raise RunError(f"{what} is {_shown(value)}, expected {type}", fix="feed a dictionary")
    for key in value:
        if not isinstance(key, str if type.key == STRING else int | np.integer):
            raise RunError(f"{what} has the key {key!r}, expected {type}", fix=f"use {name_of(type.key)} keys")
    items = {key: check_value(item, type.value, f"{what}[{key!r}]") for key, item in value.items()}
    return {key: item.item() if is_array(item) else item for key, item in items.items()}


def _shown(value: object) -> str:
    known = is_array(value) and value.dtype in NAMES and value.dtype != STRING
    return str(type_of(value)) if known else type(value).__name__
