"""Between columns of Arrow and arrays: lists are tensors, and the rows of a column may differ in shape.

A list of lists is a tensor of two axes where its inner lists have one length. Numbers that are missing are NaN where
the column has floats; any other missing value is a fault of its row.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from msgspec import Struct

from whorl.errors import RunError
from whorl.ir.dtypes import COMPLEX, INTEGERS, STRING, name_of
from whorl.ir.types import AnyShape, MapType, SequenceType, TensorType, Type
from whorl.scoring.packages import arrow

STORED = {"?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d"}
"""The codes of NumPy's element types that Arrow has as well."""


class Column(Struct, frozen=True):
    """The elements of a column, each row's shape, and where it begins in them; rows that have no tensor.

    Without `starts`, all rows have one shape and follow each other.
    """

    elements: np.ndarray
    shapes: np.ndarray
    faults: dict[int, str]
    starts: np.ndarray | None = None

    @property
    def is_even(self) -> bool:
        """Whether it is known that all rows have one shape."""
        return self.starts is None

    def take(self, rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """The tensors of ascending rows that all have this shape, on a new first axis."""
        size, count = math.prod(shape), len(rows)
        first, last = (int(rows[0]), int(rows[-1])) if count else (0, -1)
        if last - first == count - 1 and (count == 0 or self._are_side_by_side(first, last, size)):
            start = self._start(first, size) if count else 0
            flat = self.elements[start : start + size * count]
        else:
            starts = rows * size if self.starts is None else self.starts[rows]
            flat = self.elements[starts[:, np.newaxis] + np.arange(size)]
        return flat.reshape(count, *shape)

    def _start(self, row: int, size: int) -> int:
        return row * size if self.starts is None else int(self.starts[row])

    def _are_side_by_side(self, first: int, last: int, size: int) -> bool:
        """Whether so many rows of one size fill what lies between the first and the last: starts never descend."""
        return self._start(last, size) - self._start(first, size) == size * (last - first)


def rank_of(type: Any) -> int:
    """The axes that a row of a column has: how deep its lists lie."""
    depth = 0
    while _is_list(type):
        type, depth = type.value_type, depth + 1
    return depth


def _is_list(type: Any) -> bool:
    types = arrow().types
    return types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type)


def read_column(column: Any, name: str) -> Column:
    """The rows of an Arrow array, chunked or not, as elements and shapes. Errors: RunError for others."""
    return _read(_one_array(column) if isinstance(column, arrow().ChunkedArray) else column, name)


def _one_array(column: Any) -> Any:
    """The chunks of a column as one array; pyarrow would copy one that is alone."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _read(array: Any, name: str) -> Column:
    if not _is_list(array.type):
        return _read_leaf(array, name)
    begins, ends, child = _bounds(array)
    inner = _read(child, name)
    if inner.is_even and arrow().types.is_fixed_size_list(array.type):
        return _read_even(array, name, inner, begins, ends)
    lengths = ends - begins
    padded = np.append(_starts(inner), len(inner.elements))
    starts = padded[np.minimum(begins, len(inner.shapes))]
    width = inner.shapes.shape[1]
    first = np.concatenate([inner.shapes, np.zeros((1, width), np.int64)])[np.minimum(begins, len(inner.shapes))]
    shapes = np.column_stack([lengths, np.where(lengths[:, np.newaxis] > 0, first, 0)]).astype(np.int64)
    faults = _faults_of_lists(array, name, inner, begins, ends)
    return Column(inner.elements, shapes, faults, starts)


def _read_even(array: Any, name: str, inner: Column, begins: np.ndarray, ends: np.ndarray) -> Column:
    """Lists of one length of what has one shape."""
    shape = array.type.list_size, *(inner.shapes[0] if len(inner.shapes) else (0,) * inner.shapes.shape[1])
    faults = _faults_of_lists(array, name, inner, begins, ends)
    return Column(inner.elements, np.broadcast_to(np.array(shape, np.int64), (len(array), len(shape))), faults)


def _starts(column: Column) -> np.ndarray:
    """Where each row begins."""
    if column.starts is not None:
        return column.starts
    count = len(column.shapes)
    return np.arange(count) * (len(column.elements) // count if count else 0)


def _bounds(array: Any) -> tuple[np.ndarray, np.ndarray, Any]:
    """Where the list of each row begins and ends in an array of what the lists have."""
    if arrow().types.is_fixed_size_list(array.type):
        size = array.type.list_size
        begins = size * np.arange(len(array), dtype=np.int64)
        return begins, begins + size, array.values.slice(array.offset * size, len(array) * size)
    offsets = _numbers(array.offsets).astype(np.int64)
    low, high = int(offsets[0]), int(offsets[-1])
    return offsets[:-1] - low, offsets[1:] - low, array.values.slice(low, high - low)


def _faults_of_lists(array: Any, name: str, inner: Column, begins: np.ndarray, ends: np.ndarray) -> dict[int, str]:
    faults = {int(row): f"column {name!r} has no value" for row in np.flatnonzero(_nulls(array))}
    if len(inner.shapes) > 1 and not inner.is_even:
        changes = np.flatnonzero((inner.shapes[1:] != inner.shapes[:-1]).any(axis=1)) + 1
        rows = np.searchsorted(ends, changes, side="right")
        ragged = rows[begins[rows.clip(max=len(begins) - 1)] < changes] if len(rows) else rows
        faults |= {int(row): f"the lists of column {name!r} have several lengths" for row in ragged}
    for element, fault in inner.faults.items():
        faults.setdefault(int(np.searchsorted(ends, element, side="right")), fault)
    return faults


def _read_leaf(array: Any, name: str) -> Column:
    pa = arrow()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    types = pa.types
    is_text = types.is_string(array.type) or types.is_large_string(array.type) or types.is_string_view(array.type)
    if not (is_text or types.is_boolean(array.type) or types.is_integer(array.type) or types.is_floating(array.type)):
        raise RunError(f"column {name!r} is {array.type}, which no tensor has", fix="convert it to numbers or strings")
    faults: dict[int, str] = {}
    if array.null_count and not types.is_floating(array.type):
        faults = {int(row): f"column {name!r} has no value" for row in np.flatnonzero(_nulls(array))}
        array = array.fill_null("" if is_text else False if types.is_boolean(array.type) else 0)
    elements = _numbers(array)
    return Column(elements, np.zeros((len(elements), 0), np.int64), faults)


def _numbers(array: Any) -> np.ndarray:
    """The elements of an array: numbers as they lie in memory, since pyarrow loads pandas to convert them."""
    dtype = _plain_types().get(array.type)
    if array.null_count or not len(array) or dtype is None:
        return array.to_numpy(zero_copy_only=False)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


@cache
def _plain_types() -> dict[Any, np.dtype]:
    """The types of Arrow whose elements lie in memory as NumPy's do."""
    dtypes = [np.dtype(code) for code in STORED - {"?"}]
    return {arrow().from_numpy_dtype(dtype): dtype for dtype in dtypes}


def _nulls(array: Any) -> np.ndarray:
    if not array.null_count:
        return np.zeros(len(array), np.bool_)
    return array.is_null().to_numpy(zero_copy_only=False)


def convert(array: np.ndarray, dtype: np.dtype, name: str) -> np.ndarray:
    """Elements of a column in those of an input: numbers stay of their kind, or integers become floats.

    Errors: RunError for another kind, and for integers that do not fit.
    """
    if array.dtype == dtype:
        return array
    kinds = array.dtype.kind, "f" if dtype.kind == "V" and dtype not in INTEGERS else dtype.kind
    if kinds not in {("i", "i"), ("u", "u"), ("i", "u"), ("u", "i"), ("f", "f"), ("i", "f"), ("u", "f"), ("b", "f")}:
        what = f"column {name!r} is {name_of(array.dtype)}, and the input takes {name_of(dtype)}"
        raise RunError(what, fix="convert the column, or map another one to the input")
    with np.errstate(over="ignore"):
        converted = array.astype(dtype)
    if kinds[1] in "iu" and array.size:
        limits = ml_dtypes.iinfo(dtype)
        if int(array.min()) < int(limits.min) or int(array.max()) > int(limits.max):
            raise RunError(f"column {name!r} has a number that {name_of(dtype)} cannot be")
    return converted


# ---- results -----------------------------------------------------------------------------------------------------


def arrow_type(type: Type, name: str, axes: int) -> Any:
    """The type of a column for an output whose first `axes` axes go over rows; lists of one length where it is known.

    Errors: RunError for values that no column has.
    """
    pa = arrow()
    match type:
        case SequenceType(element=MapType(key=key, value=TensorType(dtype=dtype))) if axes:
            return pa.map_(_element_type(key, name), _element_type(dtype, name))
        case TensorType(shape=tuple() as shape):
            column = _element_type(type.dtype, name)
            for length in reversed(shape[axes:]):
                is_fixed = isinstance(length, int) and length > 0
                column = pa.list_(column, length) if is_fixed else pa.list_(column)
            return column
        case TensorType(shape=AnyShape()):
            problem = f"output {name!r} is {type}, and a column needs a rank"
        case _:
            problem = f"output {name!r} is {type}, which no column has"
    raise RunError(problem, fix="choose other outputs")


def _element_type(dtype: np.dtype, name: str) -> Any:
    pa = arrow()
    if dtype in COMPLEX:
        raise RunError(f"output {name!r} is {name_of(dtype)}, which no column has", fix="choose other outputs")
    return pa.string() if dtype == STRING else pa.from_numpy_dtype(_stored(dtype))


def _stored(dtype: np.dtype) -> np.dtype:
    """The element type of a column; short ones that only tensors have become the next that Arrow has."""
    if dtype.char in STORED:
        return dtype
    return np.dtype(np.int8 if dtype in INTEGERS else np.float32)


def write_column(value: Any, type: Any) -> Any:
    """An Arrow array of values with the rows on their first axis: an array, or a list of dictionaries."""
    pa = arrow()
    if not isinstance(value, np.ndarray):
        return pa.array([list(row.items()) for row in value], type)
    depth, leaf = [], type
    while _is_list(leaf):
        depth.append(leaf)
        leaf = leaf.value_type
    flat = value.reshape(-1)
    column = _column(flat, leaf)
    count = len(value)
    sizes = [math.prod(value.shape[: axis + 1]) for axis in range(value.ndim)]
    for axis in range(len(depth), 0, -1):
        kind, length = depth[axis - 1], value.shape[axis]
        if pa.types.is_fixed_size_list(kind):
            column = pa.FixedSizeListArray.from_arrays(column, type=kind)
        else:
            offsets = length * np.arange(sizes[axis - 1] + 1, dtype=np.int32)
            column = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), column, type=kind)
    assert len(column) == count
    return column


def _column(flat: np.ndarray, type: Any) -> Any:
    """An Arrow array of elements: numbers as they lie in memory, since pyarrow loads pandas to convert them."""
    pa = arrow()
    if type == pa.string():
        return pa.array(flat.tolist(), type)
    stored = flat.astype(_stored(flat.dtype), copy=False)
    if _plain_types().get(type) != stored.dtype:
        return pa.array(stored, type)
    return pa.Array.from_buffers(type, len(stored), [None, pa.py_buffer(np.ascontiguousarray(stored))])


def array_column(array: np.ndarray, name: str) -> Any:
    """An array with the rows on its first axis as an Arrow array of its own shape."""
    dtype = np.dtype(object) if array.dtype.kind in "UT" else array.dtype
    shape = TensorType(dtype, array.shape)
    return write_column(array.astype(dtype, copy=False), arrow_type(shape, name, 1))
