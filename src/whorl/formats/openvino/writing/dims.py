"""Named lengths as layers: from the axes of tensors that are there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from whorl.formats.openvino.writing.exporter import Source
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sequences import SCALAR, concatenated, integers, length_of, scalar
from whorl.ir.dims import Call, Dim, Linear
from whorl.ir.types import AnyShape, TensorType

_LAYERS = {"min": "Minimum", "max": "Maximum", "mul": "Multiply", "floor": "Divide", "mod": "FloorMod"}


def shape_vector(dims: Sequence[Dim | Source], write: NetWriter) -> Source | None:
    """Dims as a vector of int64; None where one of them is not to be had."""
    parts: list[Source] = []
    for dim in dims:
        length = dim if isinstance(dim, Source) else length_source(dim, write)
        if length is None:
            return None
        inputs = [length, integers(write, 1)]
        type = length.type.with_shape((1,))
        parts += write.layer("Reshape", 1, inputs, [type], special_zero=False)
    return concatenated(parts, 0, write)


def length_source(dim: Dim, write: NetWriter) -> Source | None:
    """A dim as an int64 without axes; None where a name in it is no axis of a tensor that is there."""
    if isinstance(dim, int):
        return scalar(write, dim)
    if not isinstance(dim, Linear):
        return None
    total = None
    for atom, factor in dim.terms:
        term = _axis_called(atom, write) if isinstance(atom, str) else _called(atom, write)
        if term is None:
            return None
        if factor != 1:
            term = _computed("Multiply", term, scalar(write, factor), write)
        total = term if total is None else _computed("Add", total, term, write)
    if total is None:
        return scalar(write, dim.constant)
    return _computed("Add", total, scalar(write, dim.constant), write) if dim.constant else total


def _called(call: Call, write: NetWriter) -> Source | None:
    """A length that is computed from others."""
    parts: list[Source] = []
    for dim in call.args:
        source = length_source(dim, write)
        if source is None:
            return None
        parts.append(source)
    return reduce(lambda a, b: _computed(_LAYERS[call.kind], a, b, write), parts)


def _computed(type: str, a: Source, b: Source, write: NetWriter) -> Source:
    return write.layer(type, 1, [a, b], [SCALAR], auto_broadcast="numpy")[0]


def _axis_called(name: str, write: NetWriter) -> Source | None:
    """The length of an axis that has a name."""
    for value in (*write.sources, *write.captured):
        type = value.type
        if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
            continue
        for axis, dim in enumerate(type.shape):
            if isinstance(dim, Linear) and dim.terms == ((name, 1),) and not dim.constant:
                return length_of(write.source(value), axis, write)
    return None
