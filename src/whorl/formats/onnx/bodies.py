"""Graphs of ONNX as bodies that are called with arrays, and what they read from outside."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from onnx import helper

from whorl.errors import LoadError
from whorl.formats.onnx.element_types import element_types
from whorl.formats.onnx.files import load_onnx, read_proto
from whorl.formats.onnx.ordering import free_names
from whorl.formats.onnx.protos import GraphProto, ModelProto
from whorl.formats.onnx.tensors import type_to
from whorl.formats.options import LoadOptions
from whorl.formats.sources import File
from whorl.ir.dtypes import STRING
from whorl.ir.graph import Module
from whorl.ir.infer import unshaped
from whorl.ir.types import type_of


def load_body(source: object, captured: Mapping[str, Any], options: LoadOptions | None = None) -> Module:
    """A graph as a module in which values of the scope around it are inputs with a default. Errors: LoadError."""
    options = options or LoadOptions()
    if not isinstance(source, str | os.PathLike | bytes | bytearray | memoryview | ModelProto | GraphProto):
        raise LoadError(f"the body is {type(source).__name__}", fix="give a graph, bytes, a path or a Python function")
    names = captured.keys()
    proto = source if isinstance(source, ModelProto | GraphProto) else _read(source)
    graph = proto if isinstance(proto, GraphProto) else proto.graph
    outer = _outer_names(graph)
    missing = sorted(outer - names)
    if missing:
        example = f"{missing[0]}=array"
        raise LoadError(f"the body reads {missing[0]!r}, which it does not make", fix=f"pass its value: {example}")
    if not outer:
        return load_onnx(proto if isinstance(proto, GraphProto) else source, options)
    copy = ModelProto()
    copy.CopyFrom(read_proto(proto))
    types = element_types(graph)
    values: dict[str, Any] = {}
    for name in sorted(outer):
        try:
            values[name] = _as_array(captured[name], types.get(name))
        except LoadError as error:
            raise error.at(f"the value of {name!r}") from None
    for name, value in values.items():
        copy.graph.input.append(helper.make_value_info(name, type_to(unshaped(type_of(value)))))
    module = load_onnx(copy, options)
    module.defaults.update(values)
    return module


def _read(source: File) -> ModelProto | GraphProto:
    """A model, or where the bytes hold none, the graph that they are."""
    proto = read_proto(source)
    if proto.HasField("graph"):
        return proto
    graph = GraphProto()
    try:
        graph.ParseFromString(proto.SerializeToString())
    except DecodeError:
        return proto
    return graph if graph.output else proto


def _as_array(value: Any, dtype: np.dtype | None = None) -> Any:
    """An array; numbers of Python in the element type that the graph wants, where they fit into it."""
    if isinstance(value, list):
        return [_as_array(entry) for entry in value]
    array = np.asarray(value)
    if dtype is not None and type(value) in (int, float) and (array.dtype.kind == dtype.kind or dtype.kind == "f"):
        return array.astype(dtype)
    if array.dtype.kind == "O" and not all(isinstance(element, str) for element in array.flat):
        raise LoadError("is no array", fix="give numbers, text, or a list of arrays")
    return array.astype(STRING) if array.dtype.kind in "UT" else array


def _outer_names(graph: GraphProto) -> set[str]:
    """The names that a graph reads and nothing in it makes."""
    own = {info.name for info in graph.input} | {tensor.name for tensor in graph.initializer}
    own |= {tensor.values.name for tensor in graph.sparse_initializer}
    own |= {name for node in graph.node for name in node.output}
    read = set().union(*(free_names(node) for node in graph.node)) | {info.name for info in graph.output}
    return read - own
