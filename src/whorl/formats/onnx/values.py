"""Values of tests beside a model: tensors, sequences and optionals, each in a file of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from onnx import MapProto, OptionalProto, SequenceProto

from whorl.errors import LoadError, UnsupportedError
from whorl.formats.onnx.protos import TensorProto
from whorl.formats.onnx.tensors import array_of, proto_of
from whorl.ir.dtypes import BY_NAME
from whorl.ir.types import OptionalType, SequenceType, TensorType, Type

BFLOAT16 = BY_NAME["bfloat16"]


def value_of(data: bytes, type: Type, what: str) -> Any:
    """A value from the bytes of a TensorProto, SequenceProto or OptionalProto, as `test_data_set` files hold it.

    A uint16 tensor is taken for the bits of bfloat16 where that is the type: onnx 1.16 and older wrote such files.
    """
    kinds = {TensorType: TensorProto, SequenceType: SequenceProto, OptionalType: OptionalProto}
    proto = kinds.get(type.__class__, MapProto)()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise LoadError(f"{what} does not hold {type}: {error}") from None
    value = _value(proto, what)
    if isinstance(type, TensorType) and type.dtype == BFLOAT16 and value.dtype == np.uint16:
        return value.view(BFLOAT16)
    return value


def bytes_of(value: Any, name: str) -> bytes:
    """A tensor or a sequence of tensors as the bytes of a TensorProto or SequenceProto."""
    if not isinstance(value, list):
        return proto_of(value, name).SerializeToString()
    items = [proto_of(item) for item in value]
    return SequenceProto(name=name, elem_type=SequenceProto.TENSOR, tensor_values=items).SerializeToString()


def _value(proto: Any, what: str) -> Any:
    match proto:
        case TensorProto():
            return array_of(proto, what)
        case SequenceProto():
            return [_value(item, what) for item in _items(proto, what)]
        case OptionalProto():
            items = _items(proto, what)
            return _value(items[0], what) if items else None
        case _:
            pass
    raise UnsupportedError(f"{what} holds a map")


def _items(proto: SequenceProto | OptionalProto, what: str) -> list[Any]:
    kinds = SequenceProto.DataType if isinstance(proto, SequenceProto) else OptionalProto.DataType
    kind = kinds.Name(proto.elem_type).lower()
    if kind == "undefined":
        return []
    if kind == "sparse_tensor":
        raise UnsupportedError(f"{what} holds a sparse tensor")
    if isinstance(proto, OptionalProto):
        field = f"{kind}_value"
        return [getattr(proto, field)] if proto.HasField(field) else []
    return list(getattr(proto, {"tensor": "tensor_values", "sequence": "sequence_values"}.get(kind, f"{kind}_values")))
