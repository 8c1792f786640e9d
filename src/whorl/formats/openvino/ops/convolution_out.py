"""Convolutions written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter
from whorl.ir.dims import Dim
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, TensorType, tensor
from whorl.ops.windows.convolution import Conv
from whorl.ops.windows.geometry import split_padding, windows_of
from whorl.ops.windows.transposed_convolution import ConvTranspose

AUTO_PADS = {"NOTSET": "explicit", "SAME_UPPER": "same_upper", "SAME_LOWER": "same_lower", "VALID": "valid"}


def ranked(value: Value, what: str) -> tuple[Dim, ...]:
    """The shape of a value, whose rank must be known."""
    shape = tensor(value).shape
    if isinstance(shape, AnyShape):
        raise SaveError(f"{what} has no known rank", fix="declare the shape")
    return shape


def require_spatial(count: int) -> None:
    """Refuse what the CPU plugin has no kernel for."""
    if not 1 <= count <= 3:
        raise SaveError(f"has {count} spatial axes", fix="OpenVINO takes one to three")


@exporter("Conv")
def conv(node: Node, write: LayerWriter) -> Source:
    op, type = node.op, tensor(node.outputs[0])
    assert isinstance(op, Conv)
    x, w, bias = (*node.inputs, None)[:3]
    assert x is not None and w is not None
    shape = ranked(w, "the filter")
    rank = len(shape) - 2
    require_spatial(rank)
    filters = write.source(w) if op.group == 1 else _in_groups(write, w, op.group)
    attributes = _attributes(op, rank) | _pads(op.pads, rank) | {"auto_pad": AUTO_PADS[op.auto_pad]}
    kind = "Convolution" if op.group == 1 else "GroupConvolution"
    (y,) = write.layer(kind, 1, [write.source(x), filters], [type], node.name, **attributes)
    return with_bias(write, y, bias, type)


@exporter("ConvTranspose")
def conv_transpose(node: Node, write: LayerWriter) -> Source:
    """Padding that is automatic, or follows from an output shape, is written as numbers."""
    op, type = node.op, tensor(node.outputs[0])
    assert isinstance(op, ConvTranspose)
    x, w, bias = (*node.inputs, None)[:3]
    assert x is not None and w is not None
    lengths, kernel = ranked(x, "the input")[2:], ranked(w, "the filter")[2:]
    rank = len(kernel)
    require_spatial(rank)
    pads, extra = _transposed_pads(op, lengths, kernel)
    filters = write.source(w) if op.group == 1 else _in_groups(write, w, op.group)
    attributes = _attributes(op, rank) | _pads(pads, rank) | {"auto_pad": "explicit", "output_padding": extra}
    kind = "ConvolutionBackpropData" if op.group == 1 else "GroupConvolutionBackpropData"
    (y,) = write.layer(kind, 1, [write.source(x), filters], [type], node.name, **attributes)
    return with_bias(write, y, bias, type)


def _transposed_pads(
    op: ConvTranspose, lengths: Sequence[Dim], kernel: Sequence[Dim]
) -> tuple[Sequence[int], Sequence[int]]:
    """The padding, all begins and all ends, and how much longer the result is beyond what the windows reach."""
    rank = len(kernel)
    extra = list(op.output_padding or (0,) * rank)
    if not op.output_shape and not op.auto_pad.startswith("SAME"):
        windows = windows_of(op, kernel, op.auto_pad)
        pairs = [windows.padding(axis) for axis in range(rank)]
        return [*(begin for begin, _ in pairs), *(end for _, end in pairs)], extra
    begins, ends = [], []
    reached, sizes = op.reached(lengths, kernel), op.sizes(lengths, kernel)
    for axis, (length, size) in enumerate(zip(reached, sizes, strict=True)):
        over = length - size
        if not isinstance(over, int):
            raise SaveError("pads by the lengths of the input, which are not known", fix="give pads, or fixed lengths")
        begin, end = split_padding(over, op.auto_pad)
        begins.append(begin)
        ends.append(end)
        extra[axis] += max(0, -over)
    return [*begins, *ends], extra


def _attributes(op: Conv | ConvTranspose, rank: int) -> dict[str, Any]:
    return {"strides": op.strides or (1,) * rank, "dilations": op.dilations or (1,) * rank}


def _pads(pads: Sequence[int] | None, rank: int) -> dict[str, Any]:
    pads = pads or (0,) * (2 * rank)
    return {"pads_begin": tuple(pads[:rank]), "pads_end": tuple(pads[rank:])}


def _in_groups(write: LayerWriter, w: Value, group: int) -> Source:
    """The filters with the groups as an axis of their own before all others."""
    known = write.constant_value(w)
    if known is not None:
        return write.constant(known.reshape(group, -1, *known.shape[1:]), w.name)
    shape = ranked(w, "the filter")
    if not all(isinstance(dim, int) for dim in shape[1:]):
        raise SaveError(f"has filters {w.type}, which cannot be split into groups", fix="give them a fixed shape")
    sizes = (group, -1, *cast(tuple[int, ...], shape[1:]))
    lead = shape[0] // group
    target = write.constant(np.array(sizes, np.int64))
    type = TensorType(tensor(w).dtype, (group, lead, *shape[1:]))
    return write.layer("Reshape", 1, [write.source(w), target], [type], special_zero=False)[0]


def with_bias(write: LayerWriter, y: Source, bias: Value | None, type: TensorType) -> Source:
    """y [N, M, ...] + bias [M]."""
    if bias is None:
        return y
    shape = (1, -1, *(1,) * (len(cast(tuple[Dim, ...], type.shape)) - 2))
    known = write.constant_value(bias)
    if known is not None:
        added = write.constant(known.reshape(shape), bias.name)
    else:
        target = write.constant(np.array(shape, np.int64))
        column = tensor(bias).with_shape((1, *ranked(bias, "the bias"), *shape[2:]))
        (added,) = write.layer("Reshape", 1, [write.source(bias), target], [column], special_zero=False)
    return write.layer("Add", 1, [y, added], [type], auto_broadcast="numpy")[0]
