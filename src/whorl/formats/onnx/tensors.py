"""TensorProto, SparseTensorProto and TypeProto to and from arrays and hub types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whorl.errors import LoadError, UnsupportedError
from whorl.formats.onnx.dtypes import TO_ONNX, from_onnx
from whorl.formats.onnx.protos import SparseTensorProto, TensorProto, TensorShapeProto, TypeProto
from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, BY_NAME, COMPLEX, FLOAT32, FLOAT64, INT32, INT64, STRING, bits, name_of
from whorl.ir.elements.packed import packed_bytes, unpacked
from whorl.ir.types import (
    UNRANKED,
    AnyShape,
    MapType,
    OptionalType,
    SequenceType,
    Shape,
    TensorType,
    Type,
)

LARGEST_DIM = (1 << 63) - 1
_RAW_LIMIT = 1 << 40
_FIELDS = {
    **dict.fromkeys((FLOAT32, BY_NAME["complex64"]), "float_data"),
    **dict.fromkeys((FLOAT64, BY_NAME["complex128"]), "double_data"),
    **dict.fromkeys((BY_NAME["uint32"], BY_NAME["uint64"]), "uint64_data"),
    INT64: "int64_data",
}
_LISTED = {"float_data": "f4", "double_data": "f8", "uint64_data": "u8", "int64_data": "i8", "int32_data": "i4"}


def array_of(tensor: TensorProto, what: str) -> np.ndarray:
    """The elements of a tensor held inside the file. Raw bytes are used without a copy where their form allows."""
    dtype, shape = from_onnx(tensor.data_type, what), shape_of(tensor.dims, what)
    if tensor.data_location == TensorProto.EXTERNAL:
        raise LoadError(f"{what} lies in another file, which is not allowed here", fix="put its elements into this one")
    if dtype == STRING:
        return _strings(tensor, shape, what)
    if tensor.HasField("raw_data"):
        return from_bytes(tensor.raw_data, dtype, shape, what)
    try:
        return _listed(tensor, dtype, math.prod(shape)).reshape(shape)
    except ValueError as error:
        raise LoadError(
            f"{what} does not hold the {math.prod(shape)} elements of {name_of(dtype)}{list(shape)}: {error}"
        ) from None


def _listed(tensor: TensorProto, dtype: np.dtype, count: int) -> np.ndarray:
    """The elements that a tensor lists one by one in the field of its type; most types are bits of an int32."""
    field = _FIELDS.get(dtype, "int32_data")
    listed = np.array(getattr(tensor, field), _LISTED[field])
    if field == "int32_data" and dtype != INT32:
        return _from_words(listed, dtype, count)
    return listed.view(dtype) if dtype in COMPLEX else listed.astype(dtype, copy=False)


def _from_words(words: np.ndarray, dtype: np.dtype, count: int) -> np.ndarray:
    """The elements in the low bits of numbers: one in each, or those of a byte; 6 bits are one each."""
    if dtype == BOOL:
        return words != 0
    width = bits(dtype)
    if width in (2, 4):
        return unpacked(words.astype(np.uint8), dtype, 0, count)
    codes = words.astype(f"u{dtype.itemsize}")
    return (codes & 0x3F if width == 6 else codes).view(dtype)


def from_bytes(data: Any, dtype: np.dtype, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Little-endian file bytes as an array; elements of less than a byte are unpacked, all else is a view."""
    count, width = math.prod(shape), bits(dtype)
    need = (count * width + 7) // 8
    if len(data) != need:
        raise LoadError(f"{what} has {len(data)} bytes, {name_of(dtype)}{list(shape)} takes {need}")
    if width >= 8:
        return np.frombuffer(data, dtype).reshape(shape)
    return unpacked(np.frombuffer(data, np.uint8), dtype, 0, count).reshape(shape)


def _strings(tensor: TensorProto, shape: tuple[int, ...], what: str) -> np.ndarray:
    if len(tensor.string_data) != math.prod(shape):
        raise LoadError(
            f"{what} holds {len(tensor.string_data)} strings, its shape {list(shape)} needs {math.prod(shape)}"
        )
    array = np.empty(len(tensor.string_data), dtype=object)
    array[:] = [text.decode("utf-8", "surrogateescape") for text in tensor.string_data]
    return array.reshape(shape)


def shape_of(sizes: Any, what: str) -> tuple[int, ...]:
    """The dims of a tensor in the file, refused when negative or beyond any memory."""
    shape = tuple(int(size) for size in sizes)
    if any(size < 0 for size in shape) or math.prod(size for size in shape if size) > _RAW_LIMIT:
        raise LoadError(f"{what} declares the impossible shape {list(shape)}")
    return shape


def dense(sparse: SparseTensorProto, what: str) -> np.ndarray:
    """A sparse tensor with its zeros written out."""
    values, indices = array_of(sparse.values, what), array_of(sparse.indices, what)
    shape = shape_of(sparse.dims, what)
    if indices.dtype != INT64 or indices.ndim not in (1, 2):
        actual = f"{name_of(indices.dtype)}{list(indices.shape)}"
        raise LoadError(f"{what} has indices {actual}, expected int64[n] or int64[n, rank]")
    if indices.ndim == 2 and indices.shape[1] != len(shape):
        raise LoadError(f"{what} has indices of shape {list(indices.shape)} for a tensor of rank {len(shape)}")
    if len(indices) != values.size:
        raise LoadError(f"{what} has {values.size} values and {len(indices)} indices")
    bounds = np.array(shape if indices.ndim == 2 else math.prod(shape))
    if ((indices < 0) | (indices >= bounds)).any():
        raise LoadError(f"{what} has an index outside its shape {list(shape)}")
    try:
        result = np.full(shape, "", STRING) if values.dtype == STRING else np.zeros(shape, values.dtype)
    except MemoryError as error:
        raise LoadError(f"{what} is too large to be written out: {error}") from None
    coordinates = tuple(indices.T) if indices.ndim == 2 else np.unravel_index(indices, shape)
    result[coordinates] = values.reshape(-1)
    return result


def proto_of(array: np.ndarray, name: str = "") -> TensorProto:
    """An array as a TensorProto with raw bytes (strings: as strings)."""
    tensor = TensorProto(name=name, data_type=TO_ONNX[array.dtype], dims=array.shape)
    if array.dtype == STRING:
        tensor.string_data.extend(str(text).encode("utf-8", "surrogateescape") for text in array.reshape(-1))
    else:
        tensor.raw_data = to_bytes(array)
    return tensor


def to_bytes(array: np.ndarray) -> bytes:
    """The little-endian bytes of an array as a file holds them; elements of less than a byte packed."""
    width = bits(array.dtype)
    if width >= 8:
        return np.ascontiguousarray(array).tobytes()
    return packed_bytes(array).tobytes()


def type_from(proto: TypeProto, what: str, depth: int = 0) -> Type:
    """A declared type as a hub type. Dims without a value or name are unknown; sparse and opaque are refused."""
    if depth > 16:
        raise LoadError(f"{what} has a type nested deeper than 16")
    match proto.WhichOneof("value"):
        case "tensor_type":
            return TensorType(from_onnx(proto.tensor_type.elem_type, what), _shape(proto.tensor_type))
        case "sequence_type":
            return SequenceType(type_from(proto.sequence_type.elem_type, what, depth + 1))
        case "optional_type":
            return OptionalType(type_from(proto.optional_type.elem_type, what, depth + 1))
        case "map_type":
            key = from_onnx(proto.map_type.key_type, what)
            return MapType(key, type_from(proto.map_type.value_type, what, depth + 1))
        case "sparse_tensor_type":
            raise UnsupportedError(f"{what} is a sparse tensor", fix="no op takes one; use a dense tensor")
        case _:
            pass
    raise LoadError(f"{what} declares no type")


def _shape(proto: TypeProto.Tensor) -> Shape:
    if not proto.HasField("shape"):
        return UNRANKED
    return tuple(_dim(dim) for dim in proto.shape.dim)


def _dim(dim: TensorShapeProto.Dimension) -> Dim:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    if dim.dim_param:
        return dims.name(dim.dim_param)
    return dims.UNKNOWN


def type_to(type: Type) -> TypeProto:
    """A hub type as a TypeProto; unknown dims and those that no file can hold are blank, named ones written out."""
    proto = TypeProto()
    match type:
        case TensorType():
            proto.tensor_type.elem_type = TO_ONNX[type.dtype]
            if not isinstance(type.shape, AnyShape):
                proto.tensor_type.shape.SetInParent()
                for dim in type.shape:
                    slot = proto.tensor_type.shape.dim.add()
                    if isinstance(dim, int):
                        if dim <= LARGEST_DIM:
                            slot.dim_value = dim
                    elif dim is not dims.UNKNOWN:
                        slot.dim_param = str(dim)
        case SequenceType():
            proto.sequence_type.elem_type.CopyFrom(type_to(type.element))
        case OptionalType():
            proto.optional_type.elem_type.CopyFrom(type_to(type.element))
        case MapType():
            proto.map_type.key_type = TO_ONNX[type.key]
            proto.map_type.value_type.CopyFrom(type_to(type.value))
    return proto
