"""Types of an ONNX model's inputs and outputs as metadata of a graph, and back."""

from __future__ import annotations

from whorl.errors import LoadError
from whorl.ir import dims
from whorl.ir.dtypes import BY_NAME, name_of
from whorl.ir.types import UNRANKED, AnyShape, OptionalType, SequenceType, TensorType, Type

_HOLDERS = {"sequence": SequenceType, "optional": OptionalType}
MAX_DEPTH = 16


def data_of_type(type: Type) -> dict[str, object] | None:
    """A type as plain data: lengths are numbers, names, or None; None for a map."""
    match type:
        case TensorType(dtype=dtype, shape=shape):
            data: dict[str, object] = {"dtype": name_of(dtype)}
            if not isinstance(shape, AnyShape):
                data["shape"] = [None if d is dims.UNKNOWN else d if isinstance(d, int) else str(d) for d in shape]
            return data
        case SequenceType(element=element):
            return {"sequence": data_of_type(element)}
        case OptionalType(element=element):
            return {"optional": data_of_type(element)}
        case _:
            pass
    return None


def type_of_data(data: object, what: str, depth: int = 0) -> Type:
    """The type that data says. Errors: LoadError."""
    if isinstance(data, dict) and len(data) == 1 and depth < MAX_DEPTH:
        for key, holder in _HOLDERS.items():
            if key in data:
                return holder(type_of_data(data[key], what, depth + 1))
    if not isinstance(data, dict) or data.get("dtype") not in BY_NAME:
        raise LoadError(f"{what} has the type {str(data)[:60]}", fix='write {"dtype": "float32", "shape": ["N", 3]}')
    dtype, shape = BY_NAME[data["dtype"]], data.get("shape")
    if shape is None:
        return TensorType(dtype, UNRANKED)
    if not isinstance(shape, list) or not all(map(_is_length, shape)):
        raise LoadError(f"{what} has the shape {str(shape)[:60]}", fix="a length is a number, a name or null")
    return TensorType(dtype, tuple(map(_dim, shape)))


def _is_length(length: object) -> bool:
    return length is None or (isinstance(length, str) and bool(length)) or (type(length) is int and length >= 0)


def _dim(length: int | str | None) -> dims.Dim:
    return dims.UNKNOWN if length is None else dims.name(length) if isinstance(length, str) else length
