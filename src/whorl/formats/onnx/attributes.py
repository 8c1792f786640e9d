"""Attributes of a node as Python values."""

from __future__ import annotations

from typing import Any

from onnx import AttributeProto

from whorl.errors import LoadError
from whorl.formats.onnx.tensors import array_of, dense, type_from

_KINDS = AttributeProto


def attribute_value(attribute: AttributeProto, where: str) -> Any:
    """int, float, str, array or type, tuples of these; graphs stay protos. The declared kind must match the content."""
    what = f"attribute {attribute.name!r} of {where}"
    match attribute.type:
        case _KINDS.INT:
            return int(attribute.i)
        case _KINDS.FLOAT:
            return float(attribute.f)
        case _KINDS.STRING:
            return _text(attribute.s)
        case _KINDS.INTS:
            return tuple(map(int, attribute.ints))
        case _KINDS.FLOATS:
            return tuple(map(float, attribute.floats))
        case _KINDS.STRINGS:
            return tuple(map(_text, attribute.strings))
        case _KINDS.TENSOR:
            return array_of(attribute.t, what)
        case _KINDS.TENSORS:
            return tuple(array_of(t, what) for t in attribute.tensors)
        case _KINDS.SPARSE_TENSOR:
            return dense(attribute.sparse_tensor, what)
        case _KINDS.SPARSE_TENSORS:
            return tuple(dense(t, what) for t in attribute.sparse_tensors)
        case _KINDS.TYPE_PROTO:
            return type_from(attribute.tp, what)
        case _KINDS.GRAPH:
            return attribute.g
        case _KINDS.GRAPHS:
            return tuple(attribute.graphs)
    raise LoadError(f"{what} has no kind that ONNX defines", fix="write the attribute's type field")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
