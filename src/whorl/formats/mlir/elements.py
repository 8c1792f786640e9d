"""The elements of a tensor in MLIR text: lists, splats, hexadecimal bytes, sparse entries; read and printed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.formats.mlir.numbers import element_text
from whorl.ir.dtypes import BOOL, COMPLEX, INTEGERS, STRING, bits
from whorl.ir.types import AnyShape, TensorType

HEX_ABOVE = 100
"""Elements above which MLIR prints bytes."""
MAX_RANK = 64
MAX_BYTES = 1 << 31
"""What protobuf holds in one piece."""
_SHOWN = 40
"""Characters of an element that a message shows."""
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_ITEMS = {"string": _STRING, "complex": re.compile(r"\(([^()]*)\)"), "number": re.compile(r"([^\s\[\],]+)")}
_ROW = re.compile(r"\[([^\[\]]*)\]")
_WORDS = {"true": 1, "false": 0}
_LETTERS = {"n": b"\n", "t": b"\t"}


def static_shape(type: TensorType) -> tuple[int, ...]:
    """The shape of a tensor whose elements are written out. Errors: ValueError."""
    if isinstance(type.shape, AnyShape) or not all(isinstance(dim, int) for dim in type.shape):
        raise ValueError("a tensor that is written out needs a static shape")
    if len(type.shape) > MAX_RANK:
        raise ValueError(f"a tensor may have up to {MAX_RANK} axes")
    shape = tuple(dim for dim in type.shape if isinstance(dim, int))
    if math.prod(shape) * type.dtype.itemsize > MAX_BYTES:
        raise ValueError(f"a constant may have up to {MAX_BYTES} bytes")
    return shape


def read_dense(body: str, type: TensorType) -> np.ndarray:
    """The array that stands between `dense<` and `>`. Errors: ValueError."""
    shape, dtype, body = static_shape(type), type.dtype, body.strip()
    if dtype != STRING:
        if body.startswith('"'):
            return read_bytes(_hexadecimal(body), type)
        body = re.sub(r"//[^\n]*", "", body)
    kind, items = _kind(dtype), _items(body, dtype)
    if body and not body.startswith("["):
        if len(items) != 1:
            raise ValueError("expected one element, or a list in brackets")
        return np.broadcast_to(_array(items, dtype).reshape(()), shape)
    if len(items) != math.prod(shape):
        raise ValueError(f"{len(items)} elements are given, the type has {math.prod(shape)}")
    if body:
        _check_brackets(_STRING.sub("s", body) if kind == "string" else body, shape, kind)
    return _array(items, dtype).reshape(shape)


def read_list(body: str, dtype: np.dtype) -> np.ndarray:
    """The elements of a list, or a single one, in a row. Errors: ValueError."""
    return _array(_items(body, dtype), dtype)


def _items(body: str, dtype: np.dtype) -> list[str]:
    return _ITEMS[_kind(dtype)].findall(body)


def _kind(dtype: np.dtype) -> str:
    return "string" if dtype == STRING else "complex" if dtype in COMPLEX else "number"


def _check_brackets(body: str, shape: tuple[int, ...], kind: str) -> None:
    """The brackets must nest as the shape does, and every innermost list be as long as the last axis."""
    expected = ""
    for dim in reversed(shape):
        expected = f"[{expected * dim}]"
    if re.sub(r"[^\[\]]", "", body) != expected:
        raise ValueError(f"the lists are not nested as {list(shape)} says")
    commas = 2 * shape[-1] - 1 if kind == "complex" else shape[-1] - 1
    if any(row.count(",") != commas for row in _ROW.findall(body) if row.strip()):
        raise ValueError(f"a list does not have {shape[-1]} elements")


def _array(items: Sequence[str], dtype: np.dtype) -> np.ndarray:
    if dtype == STRING:
        flat = np.empty(len(items), object)
        flat[:] = [unescaped(item) for item in items]
        return flat
    if dtype in COMPLEX:
        part = np.dtype(f"f{dtype.itemsize // 2}")
        pairs = _array([half.strip() for item in items for half in item.split(",")], part)
        return pairs.view(dtype)
    if dtype == BOOL:
        return np.array([_integer(item) & 1 for item in items], np.uint8).view(BOOL)
    if dtype in INTEGERS:
        return _integers([_integer(item) for item in items], dtype)
    return _floats(items, dtype)


def _integer(item: str) -> int:
    if item in _WORDS:
        return _WORDS[item]
    try:
        return int(item, 16) if "0x" in item.lower() else int(item)
    except ValueError:
        raise ValueError(f"{item[:_SHOWN]!r} is no integer") from None


def _integers(values: list[int], dtype: np.dtype) -> np.ndarray:
    """Integers that fit as they are, or as the bits of the type."""
    width = bits(dtype)
    if any(not -(1 << (width - 1)) <= value < 1 << width for value in values):
        raise ValueError(f"an element does not fit into {width} bits")
    wide = np.array([value & 0xFFFFFFFFFFFFFFFF for value in values], np.uint64)
    return wide.astype(np.int64).astype(dtype) if width < 8 else wide.astype(f"u{dtype.itemsize}").view(dtype)


def _floats(items: Sequence[str], dtype: np.dtype) -> np.ndarray:
    with np.errstate(over="ignore"):
        return _rounded(items, dtype)


def _rounded(items: Sequence[str], dtype: np.dtype) -> np.ndarray:
    """Decimal numbers rounded to the type, and bits after 0x."""
    if not any("x" in item for item in items):
        return np.array([_number(item) for item in items], np.float64).astype(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    raw = [
        _integer(item) if "x" in item else int(np.asarray(_number(item)).astype(dtype).view(unsigned)) for item in items
    ]
    if any(value >> bits(dtype) for value in raw):
        raise ValueError(f"an element does not fit into {bits(dtype)} bits")
    return np.array(raw, unsigned).view(dtype)


def _number(item: str) -> float:
    try:
        return float(item)
    except ValueError:
        raise ValueError(f"{item[:_SHOWN]!r} is no number") from None


def _hexadecimal(body: str) -> bytes:
    if not body.startswith('"0x') or not body.endswith('"'):
        raise ValueError('expected bytes as "0x..."')
    try:
        return bytes.fromhex(body[3:-1])
    except ValueError:
        raise ValueError("expected two hexadecimal digits for each byte") from None


def read_bytes(data: bytes, type: TensorType) -> np.ndarray:
    """Little-endian bytes as an array; those of one element stand for all. Errors: ValueError."""
    shape, dtype = static_shape(type), type.dtype
    count = math.prod(shape)
    if dtype == STRING:
        raise ValueError("strings have no bytes of a fixed size")
    if dtype == BOOL and len(data) != count:
        flags = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
        if len(data) == 1 and data[0] in (0, 255):
            return np.broadcast_to(np.array(data[0] == 255), shape)
        if len(data) == (count + 7) // 8:
            return flags[:count].view(BOOL).reshape(shape)
    elif len(data) == count * dtype.itemsize:
        return np.frombuffer(data, dtype).reshape(shape)
    elif len(data) == dtype.itemsize:
        return np.broadcast_to(np.frombuffer(data, dtype).reshape(()), shape)
    raise ValueError(f"{len(data)} bytes are given, the type has {count * dtype.itemsize}")


def read_sparse(indices: np.ndarray, values: np.ndarray, type: TensorType) -> np.ndarray:
    """The array whose elements are zero but for those given. Errors: ValueError."""
    result = np.full(static_shape(type), "" if type.dtype == STRING else 0, type.dtype)
    coordinates = indices.reshape(-1, result.ndim) if indices.size else np.empty((0, result.ndim), np.int64)
    elements = np.broadcast_to(values.reshape(-1), (len(coordinates),))
    for index, value in zip(coordinates.tolist(), elements, strict=True):
        if not all(0 <= k < dim for k, dim in zip(index, result.shape, strict=True)):
            raise ValueError(f"index {index} lies outside")
        result[tuple(index)] = value
    return result


def unescaped(text: str) -> str:
    """What stands between double quotes: `\\41`, `\\n`, `\\\\` and the like replaced by what they mean."""
    if "\\" not in text:
        return text
    parts, start = bytearray(), 0
    for match in _ESCAPE.finditer(text):
        parts += text[start : match.start()].encode("utf-8", "surrogateescape")
        code = match[1]
        parts += bytes.fromhex(code) if len(code) == 2 else _LETTERS.get(code, code.encode())
        start = match.end()
    return (parts + text[start:].encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def print_dense(array: np.ndarray) -> str:
    """`dense<...>` without the type, as MLIR chooses between a splat, a list and bytes."""
    dtype = array.dtype
    if not array.size:
        return "dense<>"
    first = array[(0,) * array.ndim]
    if array.size == 1 or _is_splat(array, first):
        return f"dense<{element_text(first, dtype)}>"
    if array.size > HEX_ABOVE and dtype != STRING:
        flat = np.ascontiguousarray(array).reshape(-1)
        data = np.packbits(flat, bitorder="little") if dtype == BOOL else flat
        return f'dense<"0x{data.tobytes().hex().upper()}">'
    return f"dense<{_nested(array, dtype)}>"


def is_repeated(value: Any) -> bool:
    """Whether a value is an array that holds one element for all of its elements."""
    if not isinstance(value, np.ndarray):
        return False
    return not any(step for step, dim in zip(value.strides, value.shape, strict=True) if dim > 1)


def _is_splat(array: np.ndarray, first: Any) -> bool:
    if is_repeated(array):
        return True
    if array.dtype == STRING:
        return all(item == first for item in array.flat)
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, -1)
    return bool((flat == flat[0]).all())


def _nested(array: np.ndarray, dtype: np.dtype) -> str:
    if not array.ndim:
        return element_text(array[()], dtype)
    return f"[{', '.join(_nested(np.asarray(part, dtype), dtype) for part in array)}]"
