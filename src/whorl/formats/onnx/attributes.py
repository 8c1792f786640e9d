"""Attributes of a node as Python values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whorl.errors import LoadError
from whorl.formats.onnx.external import tensor_value
from whorl.formats.onnx.protos import AttributeProto, GraphProto
from whorl.formats.onnx.tensors import dense, type_from

_KINDS = AttributeProto
_FIELDS = {
    "f": _KINDS.FLOAT,
    "i": _KINDS.INT,
    "s": _KINDS.STRING,
    "t": _KINDS.TENSOR,
    "g": _KINDS.GRAPH,
    "floats": _KINDS.FLOATS,
    "ints": _KINDS.INTS,
    "strings": _KINDS.STRINGS,
    "tensors": _KINDS.TENSORS,
    "graphs": _KINDS.GRAPHS,
}
_NAMES = {kind: _KINDS.AttributeType.Name(kind) for kind in _FIELDS.values()}
_WITH_GRAPHS = (_KINDS.GRAPH, _KINDS.GRAPHS, _KINDS.UNDEFINED)


def with_kind(attribute: AttributeProto) -> AttributeProto:
    """The attribute with its kind written out; in files of IR version 1 only the field in use tells it."""
    if attribute.type != _KINDS.UNDEFINED:
        return attribute
    used = [_FIELDS[field.name] for field, _ in attribute.ListFields() if field.name in _FIELDS]
    if len(used) != 1:
        return attribute
    copy = AttributeProto()
    copy.CopyFrom(attribute)
    copy.type = used[0]
    return copy


def graphs_of(attribute: AttributeProto) -> list[GraphProto]:
    """The graphs that an attribute holds."""
    if attribute.type not in _WITH_GRAPHS:
        return []
    return [attribute.g, *attribute.graphs] if attribute.HasField("g") else list(attribute.graphs)


def attribute_value(attribute: AttributeProto, folder: Path | None) -> Any:
    """int, float, str, array or type, tuples of these; graphs stay protos. The declared kind must match the content.

    Tensors may lie in files inside the folder.
    """
    what = f"attribute {attribute.name!r}"
    _require_content(attribute, what)
    match attribute.type:
        case _KINDS.INT:
            return int(attribute.i)
        case _KINDS.FLOAT:
            return float(attribute.f)
        case _KINDS.STRING:
            return _text(attribute.s)
        case _KINDS.INTS:
            return tuple(attribute.ints)
        case _KINDS.FLOATS:
            return tuple(attribute.floats)
        case _KINDS.STRINGS:
            texts = {data: _text(data) for data in set(attribute.strings)}
            return tuple(map(texts.__getitem__, attribute.strings))
        case _KINDS.TENSOR:
            return tensor_value(attribute.t, folder, what)
        case _KINDS.TENSORS:
            return tuple(tensor_value(t, folder, what) for t in attribute.tensors)
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
        case _:
            pass
    raise LoadError(f"{what} has no kind that ONNX defines", fix="write the attribute's type field")


def _require_content(attribute: AttributeProto, what: str) -> None:
    """Refuse a content of another kind than the declared one; none at all is a 0 or an empty list."""
    kinds = {_FIELDS[field.name] for field, _ in attribute.ListFields() if field.name in _FIELDS}
    if kinds and attribute.type in _NAMES and attribute.type not in kinds:
        content = " and ".join(sorted(_NAMES[kind] for kind in kinds))
        raise LoadError(f"{what} is declared {_NAMES[attribute.type]}, its content is {content}")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
