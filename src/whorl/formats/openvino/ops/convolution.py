"""Convolutions read."""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import cast, emit
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, INT64, is_float
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.elementwise.arithmetic import Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Concat, Slice
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Reshape, Shape
from whorl.ops.windows.convolution import Conv
from whorl.ops.windows.transposed_convolution import ConvTranspose

AUTO_PADS = {"explicit": "NOTSET", "notset": "NOTSET", "same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER"}
_FAR = (1 << 63) - 1


def auto_pad(node: IrNode) -> str:
    """The hub's name of how an op pads."""
    names = AUTO_PADS | {"valid": "VALID"}
    return names[node.text("auto_pad", "explicit", tuple(names))]


def window_fields(node: IrNode) -> dict[str, Any]:
    """Strides, dilations and padding as the hub's fields; explicit padding only where it counts."""
    pad = auto_pad(node)
    pads = node.integers("pads_begin", ()) + node.integers("pads_end", ())
    fields = {"strides": node.integers("strides"), "dilations": node.integers("dilations", ()) or None, "auto_pad": pad}
    return fields | {"pads": pads if pad == "NOTSET" and any(pads) else None}


@importer("Convolution", 1)
def convolution_1(node: IrNode, build: Builder) -> list[Value]:
    return _convolved(node, build, Conv(**window_fields(node)), node.required(1))


@importer("GroupConvolution", 1)
def group_convolution_1(node: IrNode, build: Builder) -> list[Value]:
    """The filters [groups, features, channels, kernel...] become [groups * features, channels, kernel...]."""
    filters = node.required(1)
    op = Conv(group=_groups(node, filters), **window_fields(node))
    return _convolved(node, build, op, _merged(build, filters))


def _convolved(node: IrNode, build: Builder, op: Conv, filters: Value) -> list[Value]:
    """Integers through float32, as OpenVINO computes them."""
    x = node.required(0)
    dtype = tensor(x).dtype
    if is_float(dtype):
        return emit(node, build, op, x, filters)
    sums = build.add(op, cast(build, x, FLOAT32), cast(build, filters, FLOAT32))
    return emit(node, build, Cast(dtype), sums)


@importer("ConvolutionBackpropData", 1)
def convolution_backprop_data_1(node: IrNode, build: Builder) -> list[Value]:
    return _transposed(node, build, 1, node.required(1))


@importer("GroupConvolutionBackpropData", 1)
def group_convolution_backprop_data_1(node: IrNode, build: Builder) -> list[Value]:
    """The filters [groups, channels, features, kernel...] become [groups * channels, features, kernel...]."""
    filters = node.required(1)
    return _transposed(node, build, _groups(node, filters), _merged(build, filters))


def _groups(node: IrNode, filters: Value) -> int:
    shape = tensor(filters).shape
    count = None if isinstance(shape, AnyShape) or not shape else shape[0]
    if not isinstance(count, int):
        raise LoadError(f"has filters {filters.type}, the number of groups is open", node.title, "make it fixed")
    return count


def _merged(build: Builder, filters: Value) -> Value:
    """The first two axes as one."""
    shape = build.add(Shape(), filters)
    first, second = (build.add(Shape(start=n, end=n + 1), filters) for n in (0, 1))
    rest = build.add(Slice(), shape, *(build.int64(n) for n in (2, _FAR, 0)))
    target = build.add_many(Concat(0), [build.add(Mul(), first, second), rest], ["shape"])[0]
    return build.add(Reshape(allowzero=1), filters, target)


def _transposed(node: IrNode, build: Builder, group: int, filters: Value) -> list[Value]:
    """Padding is automatic only where an output shape is given, of which explicit padding asks no more than a cut."""
    x, shape = node.required(0), node.input(2)
    rank, pad = len(node.integers("strides")), auto_pad(node)
    extra = node.integers("output_padding", ())
    fields = window_fields(node) | {"group": group, "output_padding": extra if any(extra) else None}
    if shape is None:
        fields["auto_pad"] = "NOTSET"
        return build.add_many(ConvTranspose(**fields), [x, filters], node.outputs, name=node.name)
    if not pad.startswith("SAME"):
        begins = (fields["pads"] or (0,) * (2 * rank))[:rank]
        fields |= {"auto_pad": "NOTSET", "pads": (*begins, *(0,) * rank)}
        whole = build.add(ConvTranspose(**fields), x, filters, name=node.name)
        return [_sized(build, whole, build.add(Cast(INT64), shape), rank)]
    if shape.known is None:
        raise LoadError("pads by an output shape that is computed", node.title, "make it a constant")
    fields["auto_pad"] = "SAME_LOWER" if pad == "SAME_UPPER" else "SAME_UPPER"
    op = ConvTranspose(**fields, output_shape=tuple(int(n) for n in shape.known))
    return build.add_many(op, [x, filters], node.outputs, name=node.name)


def _sized(build: Builder, x: Value, sizes: Value, rank: int) -> Value:
    """The last axes cut to these lengths, or continued with zeros."""
    axes, zeros = build.int64(*range(2, 2 + rank)), build.int64(*(0,) * rank)
    cut = build.add(Slice(), x, zeros, sizes, axes)
    missing = build.add(Sub(), sizes, build.add(Shape(start=2), cut))
    ends = build.add_many(Concat(0), [zeros, missing], ["ends"])[0]
    return build.add(Pad(), cut, ends, build.constant(np.zeros((), tensor(x).dtype)), axes)
