"""ONNX's If, Loop, Scan and SequenceMap as the hub's If and Loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from whorl.errors import LoadError
from whorl.formats.onnx.attributes import with_kind
from whorl.formats.onnx.context import GRAPH_READERS, ReadContext
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.protos import AttributeProto, GraphProto, NodeProto, ValueInfoProto
from whorl.formats.onnx.reader import add_initializers, declared_type, read_body, read_results
from whorl.formats.onnx.scope import Scope, align_captures
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, SequenceType, TensorType, Type, contradict, tensor
from whorl.ops.control.flow import Collected, If, Loop, Scanned
from whorl.ops.elementwise.arithmetic import Sub
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Shape
from whorl.ops.sequence.sequences import SequenceAt, SequenceEmpty, SequenceInsert, SequenceLength


def read_if(node: OnnxNode, proto: NodeProto, scope: Scope, context: ReadContext) -> list[Value]:
    """If of every version: the branches become regions with the same captured arguments."""
    scopes = []
    for name in ("then_branch", "else_branch"):
        inner = scope.child(name)
        graph = _graph(proto, name)
        results = read_body(graph, inner, context.inside(f"{name} of {node.title}"), [])
        if len(results) != len(proto.output):
            raise LoadError(f"{name} gives {len(results)} values, the node has {len(proto.output)} outputs")
        inner.region.results = results[: len(node.outputs)]
        scopes.append(inner)
    captured = align_captures(scopes)
    regions = [inner.region for inner in scopes]
    return scope.build.add_many(If(), [node.required(0), *captured], node.outputs, regions, node.name)


def read_loop(node: OnnxNode, proto: NodeProto, scope: Scope, context: ReadContext) -> list[Value]:
    """Loop of every version. What the options say of an omitted condition is applied here."""
    graph = _graph(proto, "body")
    trip, condition = node.input(0), node.input(1)
    if trip is not None and tensor(trip, "the trip count").dtype != INT64:
        raise LoadError(f"the trip count is {trip.type}, expected int64", fix="insert a Cast")
    carried = [node.required(k) for k in range(2, len(proto.input))]
    if condition is None and context.options.condition_when_omitted == "honour":
        condition = scope.build.constant(np.array(True), "keep_going")
    inner = scope.child("body")
    inputs = _inputs(graph)
    number, go_on = (_flag_type(inputs, k, dtype) for k, dtype in ((0, INT64), (1, BOOL)))
    types: list[Type | None] = [number, go_on, *(value.type for value in carried)]
    inner.region.results = read_body(graph, inner, context.inside(f"body of {node.title}"), types)
    extra = len(inner.region.results) - 1 - len(carried)
    if extra < 0 or len(node.outputs) > len(carried) + extra:
        raise LoadError(
            f"has {len(carried)} carried inputs and {len(node.outputs)} outputs, but its body gives "
            f"{len(inner.region.results)} values"
        )
    collected = tuple(Collected(declared=_declared(info)) for info in graph.output[1 + len(carried) :])
    op = Loop(len(carried), (), collected)
    operands = [trip, condition, *carried, *align_captures([inner], 2 + len(carried))]
    return scope.build.add_many(op, operands, node.outputs, [inner.region], node.name)


def _inputs(graph: GraphProto) -> list:
    constants = {t.name for t in graph.initializer} | {s.values.name for s in graph.sparse_initializer}
    return [info for info in graph.input if info.name not in constants]


def _flag_type(inputs: list, index: int, dtype: np.dtype) -> TensorType:
    """The type of the iteration number or the condition inside: one element, of the rank that the body declares."""
    if index >= len(inputs):
        raise LoadError(f"its body takes {len(inputs)} inputs, expected the iteration number and the condition first")
    declared = declared_type(inputs[index], f"input {inputs[index].name!r} of the body")
    shape = declared.shape if isinstance(declared, TensorType) else ()
    if isinstance(shape, AnyShape):
        return TensorType(dtype, ())
    if any(isinstance(dim, int) and dim != 1 for dim in shape):
        raise LoadError(f"input {inputs[index].name!r} of its body is declared {declared}, expected one element")
    return TensorType(dtype, (1,) * len(shape))


def _declared(info) -> TensorType | None:
    type = declared_type(info, f"output {info.name!r}")
    return type if isinstance(type, TensorType) else None


def _graph(proto: NodeProto, name: str) -> GraphProto:
    for attribute in proto.attribute:
        if attribute.name == name and with_kind(attribute).type == AttributeProto.GRAPH:
            return attribute.g
    raise LoadError(f"lacks the graph attribute {name!r}")


# ---- Scan --------------------------------------------------------------------------------------------------------


def read_scan(node: OnnxNode, proto: NodeProto, scope: Scope, context: ReadContext) -> list[Value]:
    """Scan from version 9 on, and version 8 by a loop over the batch around a loop over the sequence."""
    graph = _graph(proto, "body")
    count = node.attribute("num_scan_inputs")
    if node.version == 8:
        return _read_scan_8(node, graph, count, scope, context)
    values = [node.required(k) for k in range(len(proto.input))]
    op = _scan_op(node, len(values), count, graph)
    inner = scope.child("body")
    operands = _scan_body(op, graph, inner, values, context.inside(f"body of {node.title}"))
    return scope.build.add_many(op, [None, None, *operands], node.outputs, [inner.region], node.name)


def _scan_op(node: OnnxNode, inputs: int, scanned: int, graph: GraphProto) -> Loop:
    """The Loop with the axes and directions of a Scan's attributes."""
    states, outputs = inputs - scanned, len(graph.output) - (inputs - scanned)
    if scanned < 1 or states < 0 or outputs < 0:
        raise LoadError(f"num_scan_inputs is {scanned}, with {inputs} inputs and {len(graph.output)} body outputs")
    if len(node.outputs) > len(graph.output):
        raise LoadError(f"has {len(node.outputs)} outputs, its body gives {len(graph.output)}")
    axes = _list(node, "scan_input_axes", scanned)
    reverse = _list(node, "scan_input_directions" if node.version > 8 else "directions", scanned, directions=True)
    out_axes = _list(node, "scan_output_axes", outputs)
    out_reverse = _list(node, "scan_output_directions", outputs, directions=True)
    declared = [_declared(info) for info in graph.output[states:]]
    return Loop(
        states,
        tuple(Scanned(axis, bool(back)) for axis, back in zip(axes, reverse, strict=True)),
        tuple(
            Collected(axis, bool(back), True, type)
            for axis, back, type in zip(out_axes, out_reverse, declared, strict=True)
        ),
        keep_shapes=True,
    )


def _list(node: OnnxNode, name: str, length: int, directions: bool = False) -> Sequence[int]:
    values = node.attribute(name) or (0,) * length
    if len(values) != length:
        raise LoadError(f"{name} has {len(values)} entries, expected {length}")
    if directions and any(v not in (0, 1) for v in values):
        raise LoadError(f"{name} is {list(values)}, expected 0 (forward) or 1 (reverse)")
    return values


def _scan_body(op: Loop, graph: GraphProto, inner: Scope, values: list[Value], context: ReadContext) -> list[Value]:
    """Read a Scan's body behind the two arguments every Loop body has; returns all operands, captured ones last."""
    inner.region.add_argument("iteration", TensorType(INT64, ()))
    go_on = inner.region.add_argument("keep_going", TensorType(BOOL, ()))
    states, scanned = values[: op.carried], values[op.carried :]
    types: list[Type | None] = [tensor(value, "a state") for value in states]
    types += [how.slice_type(tensor(x, "a scanned input")) for x, how in zip(scanned, op.scanned, strict=True)]
    results = read_body(graph, inner, context, types)
    _note_contradictions("input", _inputs(graph), types, "receives", context)
    _note_contradictions("output", graph.output, [value.type for value in results], "is computed as", context)
    inner.region.results = [go_on, *results]
    return [*values, *align_captures([inner], 2 + len(values))]


def _note_contradictions(
    kind: str, infos: Iterable[ValueInfoProto], types: Iterable[Type | None], verb: str, context: ReadContext
) -> None:
    """Note the declarations of a Scan's body that what runs through it contradicts; shapes come from the latter."""
    for info, type in zip(infos, types, strict=True):
        declared = declared_type(info, info.name)
        if declared is not None and type is not None and contradict(declared, type):
            context.contradictions.append(
                (context.location, f"{kind} {info.name!r} is declared {declared} but {verb} {type}")
            )


def _read_scan_8(node: OnnxNode, graph: GraphProto, count: int, scope: Scope, context: ReadContext) -> list[Value]:
    """One row of the batch an iteration of the outer loop; the inner one runs its row's length, the rest is zero."""
    lengths = node.input(0)
    values = [node.required(k) for k in range(1, len(node.inputs))]
    op = _scan_op(node, len(values), count, graph)
    row = scope.child("body")
    row.region.add_argument("row", TensorType(INT64, ()))
    go_on = row.region.add_argument("keep_going", TensorType(BOOL, ()))
    rows = [Scanned()] * (len(values) + (lengths is not None))
    arguments = []
    for value in [*values, *([lengths] if lengths is not None else [])]:
        arguments.append(row.region.add_argument(value.name, Scanned().slice_type(tensor(value))))
    row.inference.depth += 1
    inner = row.child("body")
    operands = _scan_body(op, graph, inner, arguments[: len(values)], context.inside(f"body of {node.title}"))
    trip = arguments[-1] if lengths is not None else None
    steps = row.build.add_many(op, [trip, None, *operands], node.outputs, [inner.region], node.name)
    if lengths is not None:
        full = arguments[op.carried]
        steps[op.carried :] = [_padded(row.build, value, full) for value in steps[op.carried :]]
    row.inference.depth -= 1
    row.region.results = [go_on, *steps]
    outer = Loop(0, tuple(rows), tuple(Collected() for _ in steps))
    sources = [*values, *([lengths] if lengths is not None else [])]
    captured = align_captures([row], 2 + len(sources))
    return scope.build.add_many(outer, [None, None, *sources, *captured], node.outputs, [row.region], node.name)


def _padded(build: Builder, value: Value, full: Value) -> Value:
    """A collected value with zeros appended up to the length of the whole sequence."""
    zero = build.int64(0)
    length, have = build.add(Shape(end=1), full), build.add(Shape(end=1), value)
    missing = build.add(Concat(axis=0), zero, build.add(Sub(), length, have))
    return build.add(Pad(), value, missing, None, zero)


# ---- SequenceMap -------------------------------------------------------------------------------------------------


def read_sequence_map(node: OnnxNode, proto: NodeProto, scope: Scope, context: ReadContext) -> list[Value]:
    """SequenceMap as a Loop that carries the output sequences and inserts one element an iteration."""
    values = [node.required(k) for k in range(len(proto.input))]
    if not isinstance(values[0].type, SequenceType):
        raise LoadError(f"its first input is {values[0].type}, expected a sequence")
    inner = scope.child("body")
    number = inner.region.add_argument("iteration", TensorType(INT64, ()))
    go_on = inner.region.add_argument("keep_going", TensorType(BOOL, ()))
    results = _map_body(_graph(proto, "body"), inner, number, values, context.inside(f"body of {node.title}"))
    if len(results) != len(node.outputs):
        raise LoadError(f"its body gives {len(results)} values, the node has {len(node.outputs)} outputs")
    empty = [scope.build.add(SequenceEmpty(tensor(r, "an output of its body").dtype)) for r in results]
    states = [inner.region.add_argument(name, value.type) for name, value in zip(node.outputs, empty, strict=True)]
    inner.region.arguments[2:] = states
    inner.inference.depth += 1
    grown = [inner.build.add(SequenceInsert(), s, r) for s, r in zip(states, results, strict=True)]
    inner.inference.depth -= 1
    inner.region.results = [go_on, *grown]
    length = scope.build.add(SequenceLength(), values[0])
    operands = [length, None, *empty, *align_captures([inner], 2 + len(empty))]
    return scope.build.add_many(Loop(len(empty)), operands, node.outputs, [inner.region], node.name)


def _map_body(graph: GraphProto, inner: Scope, number: Value, values: list[Value], context: ReadContext) -> list[Value]:
    """The body applied to item `number` of every sequence, and to tensors as they are."""
    add_initializers(graph, inner, context)
    inputs = _inputs(graph)
    if len(inputs) != len(values):
        raise LoadError(f"takes {len(inputs)} inputs, expected {len(values)}", context.location)
    inner.inference.depth += 1
    for info, value in zip(inputs, values, strict=True):
        item = inner.capture(value)
        if isinstance(value.type, SequenceType):
            item = inner.build.add(SequenceAt(), item, number)
        inner.values[info.name] = item
    inner.inference.depth -= 1
    return read_results(graph, inner, context)


GRAPH_READERS.update(
    {("", "If"): read_if, ("", "Loop"): read_loop, ("", "Scan"): read_scan, ("", "SequenceMap"): read_sequence_map}
)
