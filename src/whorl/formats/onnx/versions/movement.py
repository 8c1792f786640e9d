"""Concat, Split, Slice, Tile and Pad before their lists became inputs, and what older opsets cannot say of them."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError, SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.constants import fixed_ints
from whorl.formats.onnx.versions.limits import axis_for, require_element_type
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.core.base import normal_axis
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Concat, Slice, Split, Tile
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.scattering import ScatterElements
from whorl.ops.movement.shapes import Reshape, Shape


@importer("Concat", until=3)
def concat_1(node: OnnxNode, build: Builder) -> list[Value]:
    """The axis is 1 unless given."""
    return build.add_many(Concat(node.attribute("axis", 1)), node.inputs, node.outputs, name=node.name)


@exporter("Concat", until=10)
def concat_10(node: Node, write: NodeWriter) -> None:
    """The axis counts from the front."""
    op = node.op
    assert isinstance(op, Concat)
    require_element_type(node.inputs[0], op.name, write)
    names = [write.name(x) for x in node.inputs]
    write.node(op.name, names, write.outputs(node), name=node.name, axis=axis_for(op.axis, node.outputs[0], write))


@importer("Split", until=12)
def split_1(node: OnnxNode, build: Builder) -> list[Value]:
    """The lengths are an attribute; version 1 also has them as an input of the data's type."""
    lengths, parts = node.attribute("split"), node.input(1)
    if lengths is not None:
        parts = build.int64(*lengths, name="split")
    elif parts is not None:
        parts = _as_int64(parts, build)
    inputs = [node.required(0)] if parts is None else [node.required(0), parts]
    return build.add_many(make_op(node, split=None), inputs, node.outputs, name=node.name)


def _as_int64(value: Value, build: Builder) -> Value:
    return value if tensor(value).dtype == INT64 else build.add(Cast(INT64), value)


@exporter("Split")
def split(node: Node, write: NodeWriter) -> None:
    """Lengths as an attribute before 13; equal parts are the default before 18, then a number of outputs."""
    op, (x, *rest) = node.op, node.inputs
    assert isinstance(op, Split) and x is not None
    require_element_type(x, op.name, write)
    parts = rest[0] if rest else None
    outputs = write.outputs(node)
    outputs += [write.fresh("unused") for _ in range(op.output_count - len(outputs))]
    if write.opset >= 18:
        names, count = [write.name(x), write.name(parts)], None if parts else op.output_count
        return write.node(op.name, names, outputs, name=node.name, axis=op.axis, num_outputs=count)
    axis = axis_for(op.axis, x, write)
    lengths = _uneven_lengths(op, x) if op.num_outputs else None
    if write.opset >= 13:
        sizes = write.constant(np.array(lengths, np.int64), "split") if lengths else write.name(parts)
        return write.node(op.name, [write.name(x), sizes], outputs, name=node.name, axis=axis)
    if parts is not None:
        lengths = fixed_ints(parts, "split", 13, write)
    write.node(op.name, [write.name(x)], outputs, name=node.name, axis=axis, split=lengths)


def _uneven_lengths(op: Split, x: Value) -> tuple[int, ...] | None:
    """The parts that `num_outputs` makes; None where they are equal."""
    shape = tensor(x).shape
    length: Dim = UNKNOWN if isinstance(shape, AnyShape) else shape[normal_axis(op.axis, len(shape))]
    if dims.equal(dims.call("mod", length, op.output_count), 0):
        return None
    if not isinstance(length, int):
        raise SaveError(f"the last of {op.num_outputs} parts may be smaller", fix="opset 18 or later can say it")
    return tuple(part.shape[0] for part in Split(0, op.num_outputs, op.output_count).run(np.empty(length, np.bool_)))


@importer("Slice", until=9)
def slice_1(node: OnnxNode, build: Builder) -> list[Value]:
    """Starts, ends and axes are attributes."""
    lists = [node.attribute(name) for name in ("starts", "ends", "axes")]
    bounds = [build.int64(*numbers) for numbers in lists if numbers is not None]
    return build.add_many(Slice(), [node.required(0), *bounds], node.outputs, name=node.name)


@exporter("Slice", until=10)
def slice_10(node: Node, write: NodeWriter) -> None:
    """Attributes before 10; axes count from the front."""
    x, starts, ends, axes, steps = (*node.inputs, None, None)[:5]
    assert x is not None and starts is not None and ends is not None
    require_element_type(x, "Slice", write)
    named = None
    if axes is not None and not (write.opset == 10 and write.constant_value(axes) is None):
        named = [axis_for(axis, x, write) for axis in fixed_ints(axes, "axes", 10, write)]
    outputs = write.outputs(node)
    if write.opset == 10:
        listed = write.name(axes) if named is None else write.constant(np.array(named, tensor(starts).dtype), "axes")
        names = [write.name(x), write.name(starts), write.name(ends), listed, write.name(steps)]
        return write.node("Slice", names, outputs, name=node.name)
    if steps is not None and any(step != 1 for step in fixed_ints(steps, "steps", 10, write)):
        raise SaveError("has steps other than 1", fix="opset 10 or later can say it")
    first, last = fixed_ints(starts, "starts", 10, write), fixed_ints(ends, "ends", 10, write)
    write.node("Slice", [write.name(x)], outputs, name=node.name, starts=first, ends=last, axes=named)


@importer("Tile", until=5)
def tile_1(node: OnnxNode, build: Builder) -> list[Value]:
    """One number of copies, along one axis; both are scalars of the data's type."""
    x, row = node.required(0), build.int64(-1, name="row")
    tiles, axis = (build.add(Reshape(), _as_int64(node.required(k), build), row) for k in (1, 2))
    rank = build.add(Shape(), build.add(Shape(), x))
    ones = build.add(ConstantOfShape(np.ones(1, np.int64)), rank)
    repeats = build.add(ScatterElements(), ones, axis, tiles)
    return build.add_many(Tile(), [x, repeats], node.outputs, name=node.name)


@importer("Pad", until=10)
def pad_1(node: OnnxNode, build: Builder) -> list[Value]:
    """The pads are an attribute (called paddings in version 1), and so is the value, a float."""
    x, pads = node.required(0), node.attribute("paddings" if node.version == 1 else "pads")
    if pads is None:
        raise LoadError("lacks the numbers to pad by", node.title)
    inputs = [x, build.int64(*pads, name="pads")]
    if node.attribute("value"):
        inputs.append(build.constant(np.array(node.attribute("value")).astype(tensor(x).dtype), "value"))
    return build.add_many(Pad(node.attribute("mode", "constant")), inputs, node.outputs, name=node.name)


@exporter("Pad", until=10)
def pad_10(node: Node, write: NodeWriter) -> None:
    """Pads and value as attributes, for every axis."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Pad) and x is not None
    _check_mode(op)
    require_element_type(x, op.name, write)
    pads = _pads_of_all_axes(node, 11, write)
    value = node.inputs[2] if len(node.inputs) > 2 else None
    number = None
    if value is not None and op.mode == "constant":
        constant = write.constant_value(value)
        if constant is None:
            raise SaveError("constant_value is computed at run time", fix="opset 11 or later can say it")
        number = float(constant.reshape(-1)[0])
    write.node(op.name, [write.name(x)], write.outputs(node), name=node.name, mode=op.mode, pads=pads, value=number)


@exporter("Pad", until=18)
def pad_18(node: Node, write: NodeWriter) -> None:
    """Pads for every axis before 18; no wrapping before 19."""
    op, (x, pads, *rest) = node.op, node.inputs
    assert isinstance(op, Pad) and x is not None
    _check_mode(op)
    require_element_type(x, op.name, write)
    names = [write.name(value) for value in (x, pads, *rest)]
    if write.opset < 18 and len(rest) > 1 and rest[1] is not None:
        listed = np.array(_pads_of_all_axes(node, 18, write), np.int64)
        names = [names[0], write.constant(listed, "pads"), names[2]]
    write.node(op.name, names, write.outputs(node), name=node.name, mode=op.mode)


def _check_mode(op: Pad) -> None:
    if op.mode == "wrap":
        raise SaveError("mode is 'wrap'", fix="opset 19 or later can say it")


def _pads_of_all_axes(node: Node, since: int, write: NodeWriter) -> tuple[int, ...]:
    """The pads of every axis in order, 0 where the node names no pads."""
    x, pads, axes = node.inputs[0], node.inputs[1], node.inputs[3] if len(node.inputs) > 3 else None
    assert x is not None and pads is not None
    amounts = fixed_ints(pads, "pads", since, write)
    if axes is None:
        return amounts
    rank, named = tensor(x).rank, fixed_ints(axes, "axes", 18, write)
    if rank is None:
        raise SaveError("pads some axes of a tensor of unknown rank", fix="opset 18 or later can say it")
    result = [0] * (2 * rank)
    for k, axis in enumerate(named):
        position = normal_axis(axis, rank)
        result[position], result[position + rank] = amounts[k], amounts[k + len(named)]
    return tuple(result)
