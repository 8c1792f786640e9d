"""TensorProto, SparseTensorProto and TypeProto to and from arrays and hub types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import numpy_helper

from whorl.errors import LoadError, UnsupportedError
from whorl.formats.onnx.dtypes import TO_ONNX, from_onnx
from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BY_NAME, INT64, STRING, bits, name_of
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
BFLOAT16 = BY_NAME["bfloat16"]


def array_of(tensor: onnx.TensorProto, what: str) -> np.ndarray:
    """The elements of a tensor held inside the file. Raw bytes are used without a copy where their form allows."""
    dtype, shape = from_onnx(tensor.data_type, what), shape_of(tensor.dims, what)
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        raise LoadError(f"{what} lies in another file, which is not allowed here", fix="put its elements into this one")
    if dtype == STRING:
        return _strings(tensor, shape, what)
    if tensor.HasField("raw_data"):
        return from_bytes(tensor.raw_data, dtype, shape, what)
    try:
        return numpy_helper.to_array(tensor).astype(dtype, copy=False).reshape(shape)
    except (ValueError, TypeError, OverflowError) as error:
        raise LoadError(
            f"{what} does not hold the {math.prod(shape)} elements of {name_of(dtype)}{list(shape)}: {error}"
        ) from None


def from_bytes(data: Any, dtype: np.dtype, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Little-endian file bytes as an array; elements of less than a byte are unpacked, all else is a view."""
    count, width = math.prod(shape), bits(dtype)
    need = (count * width + 7) // 8
    if len(data) != need:
        raise LoadError(f"{what} has {len(data)} bytes, {name_of(dtype)}{list(shape)} takes {need}")
    if width >= 8:
        return np.frombuffer(data, dtype).reshape(shape)
    return unpacked(np.frombuffer(data, np.uint8), dtype, 0, count).reshape(shape)


def _strings(tensor: onnx.TensorProto, shape: tuple[int, ...], what: str) -> np.ndarray:
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


def dense(sparse: onnx.SparseTensorProto, what: str) -> np.ndarray:
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


def proto_of(array: np.ndarray, name: str = "") -> onnx.TensorProto:
    """An array as a TensorProto with raw bytes (strings: as strings)."""
    tensor = onnx.TensorProto(name=name, data_type=TO_ONNX[array.dtype], dims=array.shape)
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


def type_from(proto: onnx.TypeProto, what: str, depth: int = 0) -> Type:
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


def _shape(proto: onnx.TypeProto.Tensor) -> Shape:
    if not proto.HasField("shape"):
        return UNRANKED
    return tuple(_dim(dim) for dim in proto.shape.dim)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    if dim.dim_param:
        return dims.name(dim.dim_param)
    return dims.UNKNOWN


def type_to(type: Type) -> onnx.TypeProto:
    """A hub type as a TypeProto; unknown dims and those that no file can hold are blank, named ones written out."""
    proto = onnx.TypeProto()
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


def value_of(data: bytes, type: Type, what: str) -> Any:
    """A value from the bytes of a TensorProto, SequenceProto or OptionalProto, as `test_data_set` files hold it.

    A uint16 tensor is taken for the bits of bfloat16 where that is the type: onnx 1.16 and older wrote such files.
    """
    kinds = {TensorType: onnx.TensorProto, SequenceType: onnx.SequenceProto, OptionalType: onnx.OptionalProto}
    proto = kinds.get(type.__class__, onnx.MapProto)()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise LoadError(f"{what} does not hold {type}: {error}") from None
    value = _value(proto, what)
    if isinstance(type, TensorType) and type.dtype == BFLOAT16 and value.dtype == np.uint16:
        return value.view(BFLOAT16)
    return value


def _value(proto: Any, what: str) -> Any:
    match proto:
        case onnx.TensorProto():
            return array_of(proto, what)
        case onnx.SequenceProto():
            return [_value(item, what) for item in _items(proto, what)]
        case onnx.OptionalProto():
            items = _items(proto, what)
            return _value(items[0], what) if items else None
        case _:
            pass
    raise UnsupportedError(f"{what} holds a map")


def _items(proto: onnx.SequenceProto | onnx.OptionalProto, what: str) -> list[Any]:
    kinds = onnx.SequenceProto.DataType if isinstance(proto, onnx.SequenceProto) else onnx.OptionalProto.DataType
    kind = kinds.Name(proto.elem_type).lower()
    if kind == "undefined":
        return []
    if kind == "sparse_tensor":
        raise UnsupportedError(f"{what} holds a sparse tensor")
    if isinstance(proto, onnx.OptionalProto):
        field = f"{kind}_value"
        return [getattr(proto, field)] if proto.HasField(field) else []
    return list(getattr(proto, {"tensor": "tensor_values", "sequence": "sequence_values"}.get(kind, f"{kind}_values")))
