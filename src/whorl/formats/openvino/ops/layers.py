"""Layers that the writers of several families put around theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.writing.exporter import Attribute, LayerWriter, Source
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, BY_NAME, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, TensorType, tensor

SHORT = frozenset(BY_NAME[name] for name in ("int8", "uint8"))
"""The types in which OpenVINO's CPU plugin saturates instead of keeping the low bits."""


def types_of(values: Sequence[Value]) -> list[TensorType]:
    """The types of a node's outputs."""
    return [tensor(value) for value in values]


def write_layer(write: LayerWriter, node: Node, type: str, version: int, **attributes: Attribute) -> list[Source]:
    """One layer with the node's inputs and outputs."""
    sources = [write.source(value) for value in node.inputs]
    return write.layer(type, version, sources, types_of(node.outputs), "", **attributes)


def convert(write: LayerWriter, source: Source, dtype: np.dtype) -> Source:
    """A source in an element type."""
    if source.type.dtype == dtype:
        return source
    return write.layer("Convert", 1, [source], [source.type.with_dtype(dtype)], destination_type=dtype)[0]


def combine(write: LayerWriter, type: str, x: Source, y: Source, result: TensorType | None = None) -> Source:
    """An elementwise layer of two operands, whose result has the first one's type unless another is given."""
    return write.layer(type, 1, [x, y], [result or x.type], auto_broadcast="numpy")[0]


def compare(write: LayerWriter, type: str, x: Source, y: Source) -> Source:
    """A comparison, or logic, whose result has the first operand's shape."""
    return combine(write, type, x, y, x.type.with_dtype(BOOL))


def select(write: LayerWriter, condition: Source, x: Source, y: Source, result: TensorType) -> Source:
    """x where the condition is true, else y."""
    return write.layer("Select", 1, [condition, x, y], [result], auto_broadcast="numpy")[0]


def scalar(write: LayerWriter, number: Any, dtype: np.dtype = INT64) -> Source:
    """A Const without axes."""
    return write.constant(np.array(number).astype(dtype))


def row(write: LayerWriter, numbers: Sequence[int]) -> Source:
    """A Const with one axis."""
    return write.constant(np.array(numbers, np.int64))


def drop_axes(write: LayerWriter, source: Source) -> Source:
    """A tensor of one element as a scalar."""
    if source.type.shape == ():
        return source
    inputs = [source, row(write, ())]
    return write.layer("Reshape", 1, inputs, [source.type.with_shape(())], special_zero=False)[0]


def ranked(value: Value, what: str) -> tuple[Dim, ...]:
    """The shape of a value, whose rank must be known."""
    shape = tensor(value).shape
    if isinstance(shape, AnyShape):
        raise SaveError(f"{what} has no known rank", fix="declare the shape")
    return shape
