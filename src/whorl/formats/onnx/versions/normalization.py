"""BatchNormalization before `training_mode`, GroupNormalization with a scale for each group, `consumed_inputs`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.limits import require_element_type
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, FLOAT64, name_of
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.base import accumulator
from whorl.ops.elementwise import Div
from whorl.ops.normalization import BatchNormalization, GroupNormalization
from whorl.ops.shapes import Expand, Flatten, Reshape, Shape

if TYPE_CHECKING:
    from whorl.formats.onnx.writer import GraphWriter

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
    return [*results, *build.add_many(dataclasses.replace(op, momentum=0.0), inputs, names)[1:]]


@exporter("BatchNormalization", until=14)
def batch_normalization_14(node: Node, write: GraphWriter) -> None:
    """Training is told by the outputs before 14, by `is_test` too before 7; all element types are one."""
    op = node.op
    assert isinstance(op, BatchNormalization)
    require_element_type(node.inputs[0], op.name, write)
    _require_one_type(node, write)
    outputs = write.outputs(node)
    training: dict[str, Any] = {}
    if write.opset == 14:
        training["training_mode"] = op.training_mode
    elif op.training_mode:
        outputs += [write.fresh(f"{outputs[0]}_statistics") for _ in range(5 - len(outputs))]
    else:
        outputs = outputs[:1]
        training = {"is_test": 1} if write.opset < 7 else {}
    names = [write.name(x) for x in node.inputs]
    write.node(op.name, names, outputs, name=node.name, epsilon=op.epsilon, momentum=op.momentum, **training)


def _require_one_type(node: Node, write: GraphWriter) -> None:
    """Opset 14 lets the running statistics differ from the rest, lower ones nothing."""
    checked = node.inputs[:3] if write.opset == 14 else node.inputs
    found = dict.fromkeys(name_of(tensor(x).dtype) for x in checked if x is not None)
    if len(found) > 1:
        raise SaveError(f"inputs have different element types: {', '.join(found)}", fix="opset 15 or later can say it")


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
def group_normalization_20(node: Node, write: GraphWriter) -> None:
    """Scaled by 1 for each group, then by channels in nodes of their own."""
    op, (x, scale, bias) = node.op, node.inputs
    assert isinstance(op, GroupNormalization) and x is not None
    write.schema(op.name, "")
    dtype, rank = tensor(x).dtype, tensor(x).rank
    if rank is None or np.promote_types(op.stash_type, accumulator(dtype)) != accumulator(dtype):
        what = "an input of unknown rank" if rank is None else f"stash_type {name_of(op.stash_type)}"
        raise SaveError(f"{what} cannot be scaled for each channel", fix="opset 21 or later can say it")
    ones, zeros = (write.constant(np.full(op.num_groups, k, dtype)) for k in (1, 0))
    normal, scaled = write.fresh("normalized"), write.fresh("scaled")
    attributes = {"num_groups": op.num_groups, "epsilon": op.epsilon}
    write.node(op.name, [write.name(x), ones, zeros], [normal], name=node.name, **attributes)
    write.node("Mul", [normal, _on_channels(scale, rank, write)], [scaled])
    write.node("Add", [scaled, _on_channels(bias, rank, write)], write.outputs(node))


def _on_channels(value: Value | None, rank: int, write: GraphWriter) -> str:
    if rank == 2:
        return write.name(value)
    result = write.fresh("on_channels")
    write.node("Unsqueeze", [write.name(value), write.constant(np.arange(1, rank - 1))], [result])
    return result
