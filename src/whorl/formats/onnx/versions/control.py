"""Writing If and Loop: a Loop becomes ONNX Scan where that says it exactly, else ONNX Loop and what that lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.protos import GraphProto
from whorl.formats.onnx.schemas import require_type
from whorl.formats.onnx.versions.loop_forms import is_plain, write_through
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import TensorType, contradict, tensor
from whorl.ops.control.flow import Collected, Loop, Scanned

_INT64 = np.iinfo(np.int64)


@exporter("If")
def write_if(node: Node, write: NodeWriter) -> None:
    """The branches see captured values by their outer names. Before version 11 both give one shape."""
    _check_outputs(node, "If", write)
    if write.opset < 11:
        _require_same_shapes(node)
    graphs = {}
    for region, key in zip(node.regions, ("then_branch", "else_branch"), strict=True):
        child = write.child()
        _name_captured(child, region.arguments, node.inputs[1:], write)
        graphs[key] = child.finish(region, region.results)
    write.node("If", [write.name(node.inputs[0])], write.outputs(node), name=node.name, **graphs)


def _require_same_shapes(node: Node) -> None:
    for k, (a, b) in enumerate(zip(node.regions[0].results, node.regions[1].results, strict=True)):
        if contradict(a.type, b.type):
            message = f"output {k} is {a.type} in then_branch and {b.type} in else_branch, which If-1 does not allow"
            raise SaveError(message, fix="opset 11 or later can say it")


@exporter("Loop")
def write_loop(node: Node, write: NodeWriter) -> None:
    """Scan, or Loop with the slices gathered inside and axes and directions of collected values put right behind it."""
    op = node.op
    assert isinstance(op, Loop)
    if not is_plain(op):
        write_through(node, write)
    elif is_scan(node) and write.opset >= 9:
        _write_scan(node, op, write)
    else:
        _write_loop(node, op, write)


def is_scan(node: Node) -> bool:
    """Whether a Loop is one that ONNX Scan says: bounded by its scanned inputs alone, with no number or condition."""
    op, body = node.op, node.regions[0]
    assert isinstance(op, Loop)
    trip, condition, *_ = op.split(node.inputs)
    if trip is not None or condition is not None or not op.scanned or not (op.keep_shapes or not op.carried):
        return False
    states = all(isinstance(value.type, TensorType) for value in node.inputs[2 : 2 + op.carried] if value is not None)
    return states and not _is_used(body, body.arguments[0]) and not _is_used(body, body.arguments[1], skip=1)


def _is_used(region: Region, value: Value, skip: int = 0) -> bool:
    return value in region.results[skip:] or any(value in node.inputs for node in region.nodes)


def _name_captured(
    child: NodeWriter, arguments: Sequence[Value], operands: Sequence[Value | None], write: NodeWriter
) -> None:
    for argument, value in zip(arguments, operands, strict=True):
        child.values[argument] = write.name(value)


def _check_outputs(node: Node, op_type: str, write: NodeWriter) -> None:
    for value in node.outputs:
        require_type(value.type, write.schema(op_type, ""), result=True)


def _write_scan(node: Node, op: Loop, write: NodeWriter) -> None:
    first = 2 + op.carried + len(op.scanned)
    body, operands = node.regions[0], node.inputs[2:first]
    _check_outputs(node, "Scan", write)
    child = write.child()
    _name_captured(child, body.arguments[first:], node.inputs[first:], write)
    child.add_inputs(body.arguments[2:first])
    graph = child.finish(body, body.results[1:], declared=_declared(op, op.carried))
    write.node(
        "Scan",
        [write.name(value) for value in operands],
        _all_outputs(node, op, write),
        name=node.name,
        body=graph,
        num_scan_inputs=len(op.scanned),
        **_lists("scan_input", op.scanned),
        **_lists("scan_output", op.collected),
    )


def _all_outputs(node: Node, op: Loop, write: NodeWriter) -> list[str]:
    """A name for everything that the body gives, as onnxruntime wants it, used or not."""
    missing = op.carried + len(op.collected) - len(node.outputs)
    return [*write.outputs(node), *(write.fresh("unused") for _ in range(missing))]


def _declared(op: Loop, first: int) -> dict[int, TensorType | None]:
    """What the file said of collected elements, by the index of the body's output."""
    return {first + k: how.declared for k, how in enumerate(op.collected)}


def _lists(prefix: str, parts: Sequence[Scanned | Collected]) -> dict[str, Any]:
    axes, directions = [how.axis for how in parts], [int(how.reverse) for how in parts]
    return {
        f"{prefix}_axes": axes if any(axes) else None,
        f"{prefix}_directions": directions if any(directions) else None,
    }


def _write_loop(node: Node, op: Loop, write: NodeWriter) -> None:
    trip, condition, carried, scanned, captured = op.split(node.inputs)
    if not carried and write.opset < 11:
        raise SaveError("carries nothing, which Loop-1 does not allow", fix="opset 11 or later can say it")
    _check_outputs(node, "Loop", write)
    body = node.regions[0]
    i, go_on, states, slices, copies = op.split(body.arguments)
    child = write.child()
    _name_captured(child, copies, captured, write)
    child.add_inputs([i, go_on, *states])
    lengths = [_length(x, how, write) for x, how in zip(scanned, op.scanned, strict=True)]
    for argument, value, how, length in zip(slices, scanned, op.scanned, lengths, strict=True):
        _gather_slice(argument, value, how, length, i, child, write)
    answer = go_on if condition is None and not _is_used(body, go_on, skip=1) else body.results[0]
    graph = child.finish(body, [answer, *body.results[1:]], declared=_declared(op, 1 + op.carried))
    bound = write.name(trip)
    if lengths and bound:
        write.node("Min", [bound, lengths[0]], [least := write.fresh("trip_count")])
        bound = least
    outputs = _all_outputs(node, op, write)
    inner = [_collected_name(k, op, name, write) for k, name in enumerate(outputs)]
    bound = bound or (lengths[0] if lengths else "")
    inputs = [bound, _condition(condition, go_on, write), *map(write.name, carried)]
    _add_loop(node, inputs, inner, graph, write)
    for k, (name, raw) in enumerate(zip(outputs, inner, strict=True)):
        if raw != name and k < len(node.outputs):
            _put_right(raw, name, op.collected[k - op.carried], node.outputs[k], write)


def _condition(condition: Value | None, go_on: Value, write: NodeWriter) -> str:
    """The condition with the rank that the body gives it, as ONNX's inference wants it."""
    name, rank = write.name(condition), tensor(go_on).rank
    if condition is None or tensor(condition).rank == rank:
        return name
    shape = write.constant(np.ones(rank or 0, np.int64), "shape")
    write.node("Reshape", [name, shape], [scalar := write.fresh("condition")])
    return scalar


def _add_loop(node: Node, inputs: list[str], outputs: list[str], graph: GraphProto, write: NodeWriter) -> None:
    """A Loop node keeps its first two inputs, blank or not, also where nothing is carried."""
    write.node("Loop", [name or "-" for name in inputs], outputs, name=node.name, body=graph)
    proto = write.graph.node[-1]
    proto.input[:] = ["" if name == "-" else name for name in proto.input]


def _length(value: Value, how: Scanned, write: NodeWriter) -> str:
    """The number of slices of a scanned input, as a scalar."""
    write.node("Shape", [write.name(value)], [shape := write.fresh("shape")])
    rank = tensor(value).rank
    if how.axis < 0 and rank is None:
        raise SaveError(f"scans axis {how.axis} of {value!r}, whose rank is not known", fix="declare its shape")
    axis = write.constant(np.array(how.axis % rank if rank else how.axis, np.int64), "axis")
    write.node("Gather", [shape, axis], [length := write.fresh("length")], axis=0)
    return length


def _gather_slice(
    argument: Value, value: Value, how: Scanned, length: str, number: Value, child: NodeWriter, write: NodeWriter
) -> None:
    index = child.values[number]
    if tensor(number).rank:
        child.node("Reshape", [index, child.constant(np.zeros(0, np.int64), "scalar")], [flat := child.fresh("index")])
        index = flat
    if how.reverse:
        one = child.constant(np.array(1, np.int64), "one")
        child.node("Sub", [length, one], [final := child.fresh("last")])
        child.node("Sub", [final, index], [index := child.fresh("index")])
    child.values[argument] = child.fresh(argument.name)
    child.node("Gather", [write.name(value), index], [child.values[argument]], axis=how.axis)


def _collected_name(index: int, op: Loop, name: str, write: NodeWriter) -> str:
    """The name an output has behind the Loop node itself: its own, or a fresh one where something follows."""
    if index < op.carried:
        return name
    how = op.collected[index - op.carried]
    return write.fresh(name) if how.axis or how.reverse else name


def _put_right(raw: str, name: str, how: Collected, value: Value, write: NodeWriter) -> None:
    """Move the collected axis from the front to its place, and turn the order where elements are prepended."""
    rank = tensor(value).rank
    if rank is None:
        message = f"collects along axis {how.axis} of {value!r}, whose rank is not known"
        raise SaveError(message, fix="declare its shape")
    axis = how.axis % rank
    if how.reverse and write.opset < 10:
        raise SaveError("puts collected elements before the earlier ones", fix="opset 10 or later can turn them")
    if how.reverse:
        turned = write.fresh(name) if axis else name
        ends = [np.array([k], np.int64) for k in (-1, _INT64.min, 0, -1)]
        write.node("Slice", [raw, *(write.constant(end, "end") for end in ends)], [turned])
        raw = turned
    if axis:
        perm = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
        write.node("Transpose", [raw], [name], perm=perm)
