"""BatchNormalization before `training_mode`, GroupNormalization with a scale for each group, `consumed_inputs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.limits import require_element_type
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.dtypes import FLOAT32, FLOAT64, name_of
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.core.base import accumulator
from whorl.ops.elementwise.arithmetic import Div
from whorl.ops.movement.shapes import Expand, Flatten, Reshape, Shape
from whorl.ops.reduce.normalization import BatchNormalization, GroupNormalization

_STATISTICS = 3
"""Outputs before this position are the result and the running statistics, the others those of the batch."""


@importer("InstanceNormalization", until=5)
def instance_normalization_1(node: OnnxNode, build: Builder) -> list[Value]:
    """`consumed_inputs` says what memory may be reused."""
    return build.add_many(make_op(node, consumed_inputs=None), node.inputs, node.outputs, name=node.name)


@importer("BatchNormalization", until=13)
def batch_normalization_1(node: OnnxNode, build: Builder) -> list[Value]:
    """Training is told by `is_test` before 7, then by the number of outputs; outputs 3 and 4 are the batch's own.

    With `spatial` 0 each place of a channel is a channel of its own: the other axes are folded into the channels.
    """
    training = len(node.outputs) > 1 if node.version >= 7 else not node.attribute("is_test", 0)
    dropped = dict.fromkeys(("consumed_inputs", "is_test", "spatial"))
    op = make_op(node, training_mode=int(training), **dropped)
    inputs, spatial = node.inputs, node.attribute("spatial", 1)
    if not spatial:
        flat = [build.add(Reshape(), node.required(k), build.int64(-1)) for k in range(1, 5)]
        inputs = [build.add(Flatten(1), node.required(0)), *flat]
    results = _batch_outputs(op, inputs, node, build)
    if spatial:
        return results
    like = [node.required(k) for k in (0, 3, 4, 3, 4)]
    return [
        build.add(Reshape(allowzero=1), result, build.add(Shape(), shaped), name=result.name)
        for result, shaped in zip(results, like, strict=False)
    ]


def _batch_outputs(op: object, inputs: Sequence[Value | None], node: OnnxNode, build: Builder) -> list[Value]:
    """All outputs; a batch's own statistics are running ones without momentum."""
    assert isinstance(op, BatchNormalization)
    results = build.add_many(op, inputs, node.outputs[:_STATISTICS], name=node.name)
    if len(node.outputs) <= _STATISTICS:
        return results
    names = [f"{node.outputs[0]}_again", *node.outputs[_STATISTICS:]]
    return [*results, *build.add_many(replace(op, momentum=0.0), inputs, names)[1:]]


@exporter("BatchNormalization")
def batch_normalization(node: Node, write: NodeWriter) -> None:
    """Training gives all outputs; from 7 to 13 nothing else says it. Statistics that inference passes on are copied."""
    op = node.op
    assert isinstance(op, BatchNormalization)
    require_element_type(node.inputs[0], op.name, write)
    _require_one_type(node, write)
    outputs, names = write.outputs(node), [write.name(x) for x in node.inputs]
    attributes: dict[str, Any] = {"epsilon": op.epsilon, "momentum": op.momentum}
    if write.opset >= 14:
        attributes["training_mode"] = op.training_mode
    elif write.opset < 7:
        attributes["is_test"] = 1 - op.training_mode
    if not op.training_mode:
        write.node(op.name, names, outputs[:1], name=node.name, **attributes)
        for source, target in zip(names[3:], outputs[1:], strict=False):
            write.node("Identity", [source], [target])
        return
    count = _STATISTICS if write.opset >= 14 else 5
    outputs += [write.fresh(f"{outputs[0]}_statistics") for _ in range(count - len(outputs))]
    write.node(op.name, names, outputs, name=node.name, **attributes)


def _require_one_type(node: Node, write: NodeWriter) -> None:
    """Opset 14 lets the statistics have an element type of their own, lower ones all inputs only one."""
    if write.opset >= 15:
        return
    checked = node.inputs[:_STATISTICS] if write.opset == 14 else node.inputs
    dtypes = dict.fromkeys(name_of(tensor(x).dtype) for x in checked if x is not None)
    if len(dtypes) > 1:
        raise SaveError(f"inputs have different element types: {', '.join(dtypes)}", fix="opset 15 or later can say it")


@importer("GroupNormalization", until=20)
def group_normalization_18(node: OnnxNode, build: Builder) -> list[Value]:
    """Scale and bias are given for each group and repeated for its channels."""
    x, groups = node.required(0), node.attribute("num_groups")
    channels = build.add(Shape(1, 2), x)
    count = build.add(Div(), channels, build.int64(groups))
    repeated = [_repeated(node.required(k), groups, count, build) for k in (1, 2)]
    op = make_op(node, stash_type=FLOAT64 if tensor(x).dtype == FLOAT64 else FLOAT32)
    return build.add_many(op, [x, *repeated], node.outputs, name=node.name)


def _repeated(value: Value, groups: int, count: Value, build: Builder) -> Value:
    column = build.add(Reshape(), value, build.int64(groups, 1))
    return build.add(Reshape(), build.add(Expand(), column, count), build.int64(-1))


@exporter("GroupNormalization", until=20)
def group_normalization_20(node: Node, write: NodeWriter) -> None:
    """InstanceNormalization with each group as one channel, then scaled by channels in nodes of their own."""
    op, (x, scale, bias) = node.op, node.inputs
    assert isinstance(op, GroupNormalization) and x is not None
    require_element_type(x, "InstanceNormalization", write)
    shape, wide = tensor(x).shape, accumulator(tensor(x).dtype)
    if isinstance(shape, AnyShape):
        raise SaveError("has an input of unknown rank", fix="opset 21 or later can say it")
    if np.promote_types(op.stash_type, wide) != wide:
        raise SaveError(f"has stash_type {name_of(op.stash_type)}", fix="opset 21 or later can say it")
    scaled = write.fresh("scaled")
    write.node("Mul", [_normalized(op, x, shape, node.name, write), _on_channels(scale, shape, write)], [scaled])
    write.node("Add", [scaled, _on_channels(bias, shape, write)], write.outputs(node))


def _normalized(op: GroupNormalization, x: Value, shape: tuple[Dim, ...], name: str, write: NodeWriter) -> str:
    """A tensor [N, C, ...] standardized by groups: as [N, num_groups, the rest], and back."""
    count = dims.product(shape[1:])
    rest = count // op.num_groups if isinstance(count, int) and count else -1
    source, lengths, grouped = write.name(x), write.fresh("shape"), write.fresh("grouped")
    normal, result = write.fresh("normalized"), write.fresh("ungrouped")
    ones, zeros = (write.constant(np.full(op.num_groups, k, tensor(x).dtype)) for k in (1, 0))
    write.node("Reshape", [source, write.constant(np.array([0, op.num_groups, rest]))], [grouped])
    write.node("InstanceNormalization", [grouped, ones, zeros], [normal], name=name, epsilon=op.epsilon)
    write.node("Shape", [source], [lengths])
    write.node("Reshape", [normal, lengths], [result], allowzero=1 if write.opset >= 14 else None)
    return result


def _on_channels(value: Value | None, shape: tuple[Dim, ...], write: NodeWriter) -> str:
    """A tensor [C] under a shape that broadcasts over [N, C, ...]."""
    if len(shape) == 2:
        return write.name(value)
    axes, result = np.arange(1, len(shape) - 1), write.fresh("on_channels")
    if write.opset < 13:
        write.node("Unsqueeze", [write.name(value)], [result], axes=tuple(axes.tolist()))
    else:
        write.node("Unsqueeze", [write.name(value), write.constant(axes)], [result])
    return result
