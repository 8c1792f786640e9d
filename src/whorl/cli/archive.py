"""The .npz form of values: what `whorl run --output` writes, and `--input` reads again.

An array lies under its name. The items of a sequence lie under `name/0`, `name/1`, ... beside `name/length`; None is
`name/none`; a map is `name/keys` and `name/values`. Text is stored as NumPy's fixed-width strings, and element types
that NumPy lacks (bfloat16, int4, ...) as raw bytes of their width, which the declared type of an input turns back.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from whorl.cli.arguments import UsageError
from whorl.errors import WhorlError
from whorl.ir.dtypes import STRING
from whorl.ir.types import MapType, OptionalType, SequenceType, TensorType, Type

LENGTH, NONE, KEYS, VALUES = "length", "none", "keys", "values"


def write(path: Path, values: Mapping[str, Any]) -> None:
    """Write values to a .npz file. `np.savez` takes names as keywords, so it cannot write one called `file`."""
    arrays = {key: array for name, value in values.items() for key, array in flat(name, value).items()}
    try:
        with zipfile.ZipFile(path, "w", allowZip64=True) as archive:
            for key, array in arrays.items():
                with archive.open(f"{key}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)
    except OSError as error:
        raise WhorlError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def read(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a .npz file by their keys."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        raise UsageError(f"cannot read {str(path)!r} as .npz: {error}") from None


def flat(name: str, value: Any) -> dict[str, np.ndarray]:
    """A value as arrays under keys that begin with its name."""
    match value:
        case None:
            return {f"{name}/{NONE}": np.array(True)}
        case list():
            items = {f"{name}/{LENGTH}": np.array(len(value))}
            for k, item in enumerate(value):
                items |= flat(f"{name}/{k}", item)
            return items
        case dict():
            return {f"{name}/{KEYS}": np.array([*value]), f"{name}/{VALUES}": np.array([*value.values()])}
        case _:
            pass
    return {name: _fixed_width(value) if value.dtype == STRING else _raw(value)}


def _raw(array: np.ndarray) -> np.ndarray:
    """The array, or the bytes of its elements where their type is none of NumPy's own: its files cannot name it."""
    return array if array.dtype.isbuiltin == 1 else array.view(f"V{array.dtype.itemsize}")


def _fixed_width(text: np.ndarray) -> np.ndarray:
    fixed = text.astype(np.str_)
    if fixed.tolist() != text.tolist():
        raise WhorlError("NumPy's strings cannot hold a text that ends in a zero character", fix="use --json")
    return fixed


def value_of(arrays: Mapping[str, np.ndarray], name: str, type: Type) -> Any:
    """The value of a declared type that lies under a name. Errors: KeyError where there is none."""
    match type:
        case TensorType():
            array = arrays[name]
            is_raw = array.dtype.kind == "V" and array.dtype.itemsize == type.dtype.itemsize
            return array.view(type.dtype) if is_raw else array
        case SequenceType():
            return [value_of(arrays, f"{name}/{k}", type.element) for k in range(int(arrays[f"{name}/{LENGTH}"]))]
        case OptionalType():
            return None if f"{name}/{NONE}" in arrays else value_of(arrays, name, type.element)
        case MapType():
            keys, values = arrays[f"{name}/{KEYS}"], arrays[f"{name}/{VALUES}"]
            return dict(zip(keys.tolist(), values.tolist(), strict=True))


def names_in(arrays: Mapping[str, np.ndarray], known: Mapping[str, Type]) -> dict[str, Any]:
    """Every value of the file: by the names of `known`, and under its own key what belongs to none of them."""
    values: dict[str, Any] = {}
    for key in arrays:
        name = _owner(key, known)
        if name not in values:
            values[name] = value_of(arrays, name, known[name]) if name in known else arrays[key]
    return values


def _owner(key: str, known: Mapping[str, Type]) -> str:
    """The longest known name that a key is, or lies under; a tensor has nothing under its name, which may have `/`."""
    under = [n for n, type in known.items() if key.startswith(f"{n}/") and not isinstance(type, TensorType)]
    return key if key in known else max(under, key=len, default=key)
