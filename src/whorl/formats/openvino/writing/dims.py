"""Dims as layers: named ones are the axes of tensors at hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from whorl.formats.openvino.writing.layers import (
    axis_length,
    combine,
    compare,
    concatenate,
    convert,
    reshape,
    scalar,
)
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.dims import Call, Dim, Linear
from whorl.ir.dtypes import INT64
from whorl.ir.types import TensorType

_LAYERS = {"min": "Minimum", "max": "Maximum", "mul": "Multiply", "floor": "Divide", "mod": "FloorMod"}
_COMPARISONS = {"less": "Less", "equal": "Equal"}


def shape_vector(write: NetWriter, dims: Sequence[Dim | Source]) -> Source | None:
    """Dims as a vector of int64; None where one of them cannot be computed."""
    parts: list[Source] = []
    for dim in dims:
        length = dim if isinstance(dim, Source) else dim_source(write, dim)
        if length is None:
            return None
        parts.append(reshape(write, length, (1,)))
    return concatenate(write, parts, 0)


def dim_source(write: NetWriter, dim: Dim) -> Source | None:
    """A dim as an int64 without axes; None where a name in it is no axis of a tensor at hand."""
    if isinstance(dim, int):
        return scalar(write, dim)
    if not isinstance(dim, Linear):
        return None
    total = None
    for atom, factor in dim.terms:
        term = _named(write, atom) if isinstance(atom, str) else _computed(write, atom)
        if term is None:
            return None
        if factor != 1:
            term = combine(write, "Multiply", term, scalar(write, factor))
        total = term if total is None else combine(write, "Add", total, term)
    if total is None:
        return scalar(write, dim.constant)
    return combine(write, "Add", total, scalar(write, dim.constant)) if dim.constant else total


def _computed(write: NetWriter, call: Call) -> Source | None:
    """A length that is computed from others."""
    parts: list[Source] = []
    for dim in call.args:
        source = dim_source(write, dim)
        if source is None:
            return None
        parts.append(source)
    if call.kind in _COMPARISONS:
        return convert(write, compare(write, _COMPARISONS[call.kind], *parts), INT64)
    return reduce(lambda a, b: combine(write, _LAYERS[call.kind], a, b), parts)


def _named(write: NetWriter, name: str) -> Source | None:
    """The length of an axis that has a name."""
    for value in (*write.sources, *write.captured):
        if not isinstance(value.type, TensorType) or not isinstance(value.type.shape, tuple):
            continue
        for axis, dim in enumerate(value.type.shape):
            if isinstance(dim, Linear) and dim.terms == ((name, 1),) and not dim.constant:
                return axis_length(write, write.source(value), axis)
    return None
