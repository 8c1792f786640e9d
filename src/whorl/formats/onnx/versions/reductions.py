"""Reductions before their axes became an input, and what element types and axes they took then."""

from __future__ import annotations

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.limits import axis_for, require_element_type
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, BY_NAME, FLOAT64, is_integer
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.casting import Cast
from whorl.ops.reduce.reductions import ArgumentReduction, Reduction

_OF_NO_AXES = {
    "ReduceL1": "Abs",
    "ReduceL2": "Abs",
    "ReduceLogSum": "Log",
    "ReduceLogSumExp": "Identity",
    "ReduceMax": "Identity",
    "ReduceMean": "Identity",
    "ReduceMin": "Identity",
    "ReduceProd": "Identity",
    "ReduceSum": "Identity",
    "ReduceSumSquare": "Mul",
}
"""What each reduction is along no axes, which cannot be asked for by an attribute."""


@importer("ReduceL1", until=17)
@importer("ReduceL2", until=17)
@importer("ReduceMax", until=17)
@importer("ReduceMean", until=17)
@importer("ReduceMin", until=17)
@importer("ReduceProd", until=17)
@importer("ReduceSum", until=12)
@importer("ReduceSumSquare", until=17)
def reduction_1(node: OnnxNode, build: Builder) -> list[Value]:
    """Axes are an attribute."""
    return build.add_many(make_op(node, axes=None), _inputs(node, build), node.outputs, name=node.name)


@importer("ReduceLogSum", until=27)
@importer("ReduceLogSumExp", until=27)
def reduction_of_logarithm_1(node: OnnxNode, build: Builder) -> list[Value]:
    """Axes are an attribute before 18; integers, which were allowed, are computed in float64."""
    op, (data, *axes) = make_op(node, axes=None), _inputs(node, build)
    dtype = tensor(node.required(0)).dtype
    if not is_integer(dtype):
        return build.add_many(op, [data, *axes], node.outputs, name=node.name)
    result = build.add(op, build.add(Cast(FLOAT64), data), *axes, name=node.name)
    return build.add_many(Cast(dtype), [result], node.outputs)


def _inputs(node: OnnxNode, build: Builder) -> list[Value | None]:
    axes = node.attribute("axes")
    return [*node.inputs, build.int64(*axes, name="axes")] if axes else node.inputs


@exporter("ReduceL1", until=17)
@exporter("ReduceL2", until=17)
@exporter("ReduceLogSum", until=17)
@exporter("ReduceLogSumExp", until=17)
@exporter("ReduceMean", until=17)
@exporter("ReduceProd", until=17)
@exporter("ReduceSum", until=12)
@exporter("ReduceSumSquare", until=17)
def reduction_17(node: Node, write: NodeWriter) -> None:
    """Axes as an attribute."""
    data = node.inputs[0]
    require_element_type(data, node.op.name, write)
    _write_reduction(node, write.name(data), write.outputs(node)[0], write)


@exporter("ReduceMax", until=19)
@exporter("ReduceMin", until=19)
def extreme_19(node: Node, write: NodeWriter) -> None:
    """Axes as an attribute before 18; bool goes through unsigned integers, whose extremes are those of bool."""
    data, result = node.inputs[0], write.outputs(node)[0]
    assert data is not None
    if tensor(data).dtype != BOOL:
        require_element_type(data, node.op.name, write)
        return _write_reduction(node, write.name(data), result, write)
    numbers, extreme = write.fresh("numbers"), write.fresh("extreme")
    write.node("Cast", [write.name(data)], [numbers], to=BY_NAME["uint8" if write.opset >= 12 else "uint32"])
    _write_reduction(node, numbers, extreme, write)
    write.node("Cast", [extreme], [result], to=BOOL)


def _write_reduction(node: Node, data: str, result: str, write: NodeWriter) -> None:
    """The reduction of a named tensor in the form of the target opset."""
    op, axes = node.op, node.inputs[1] if len(node.inputs) > 1 else None
    assert isinstance(op, Reduction)
    if write.opset >= 18:
        keep, noop = op.keepdims, op.noop_with_empty_axes
        names = [data, write.name(axes)]
        return write.node(op.name, names, [result], name=node.name, keepdims=keep, noop_with_empty_axes=noop)
    listed = [] if axes is None else _constant_axes(axes, op.name, write)
    if listed or not op.noop_with_empty_axes:
        picked = tuple(axis_for(axis, node.inputs[0], write) for axis in listed)
        return write.node(op.name, [data], [result], name=node.name, axes=picked or None, keepdims=op.keepdims)
    instead = _OF_NO_AXES[op.name]
    write.node(instead, [data, data] if instead == "Mul" else [data], [result], name=node.name)


def _constant_axes(axes: Value, name: str, write: NodeWriter) -> list[int]:
    elements = write.constant_value(axes)
    if elements is None:
        first = 13 if name == "ReduceSum" else 18
        raise SaveError("the axes are computed at run time", fix=f"opset {first} or later can say it")
    return elements.reshape(-1).tolist()


@exporter("ArgMax", until=11)
@exporter("ArgMin", until=11)
def argument_11(node: Node, write: NodeWriter) -> None:
    """Always the first of equal elements; below 11 no negative axis."""
    op, data = node.op, node.inputs[0]
    assert isinstance(op, ArgumentReduction)
    require_element_type(data, op.name, write)
    if op.select_last_index:
        raise SaveError("the last of equal elements is asked for", fix="opset 12 or later can say it")
    axis = axis_for(op.axis, data, write)
    write.node(op.name, [write.name(data)], write.outputs(node), name=node.name, axis=axis, keepdims=op.keepdims)
