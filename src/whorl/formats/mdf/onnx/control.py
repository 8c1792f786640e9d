"""`onnx::Loop`, `onnx::Scan` and `onnx::If` with graphs of the file as bodies, as the hub's Loop and If."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.errors import LoadError
from whorl.formats.mdf.onnx.bodies import GraphNodes, GraphScope
from whorl.formats.mdf.onnx.calls import CONTROL, operand, recast
from whorl.formats.mdf.onnx.operators import Binding
from whorl.formats.onnx.scope import Scope, align_captures
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Value
from whorl.ir.types import TensorType, tensor
from whorl.mdf.bodies import body_graph, branch_signature, loop_signature, scan_signature
from whorl.mdf.functions.builder import NodeBuilder
from whorl.mdf.functions.operators import Precision
from whorl.mdf.model import Datum, Graph
from whorl.ops.control.flow import Collected, If, Loop, Scanned
from whorl.ops.elementwise.casting import Cast


def emit_loop(binding: Binding, scope: Scope, precision: Precision) -> list[Value]:
    """Loop: the body takes (iteration, condition, states) and gives (condition, states, elements)."""
    graph = body_graph(binding.attributes.get("body"), "body")
    nodes = NodeBuilder(scope.build)
    trip, condition, *rest = [*binding.inputs, None, None][: max(len(binding.inputs), 2)]
    trip = None if trip is None else _as(nodes, operand(trip, scope.build, "given"), INT64)
    condition = None if condition is None else nodes.truth(operand(condition, scope.build, "given"))
    states = [operand(part, scope.build, precision) for part in rest]
    signature = loop_signature(graph, len(states), _Known(scope))
    inner = _inner(scope, "body")
    arguments = [inner.region.add_argument("iteration", TensorType(INT64, ()))]
    arguments.append(inner.region.add_argument("keep_going", TensorType(BOOL, ())))
    arguments += [inner.region.add_argument(f"state_{k}", state.type) for k, state in enumerate(states)]
    results = _results(graph, signature.inputs, signature.outputs, arguments, inner, precision, 1 + len(states))
    inside = NodeBuilder(inner.build)
    inner.region.results = [
        inside.truth(results[0]),
        *(_like(inside, result, state) for result, state in zip(results[1:], states, strict=False)),
        *results[1 + len(states) :],
    ]
    op = Loop(len(states), (), (Collected(),) * (len(results) - 1 - len(states)))
    operands = [trip, condition, *states, *align_captures([inner], 2 + len(states))]
    return _added(scope, op, operands, inner, precision, len(results) - 1)


def emit_scan(binding: Binding, scope: Scope, precision: Precision) -> list[Value]:
    """Scan: the body takes (states, slices) and gives (states, elements)."""
    graph, attributes = body_graph(binding.attributes.get("body"), "body"), binding.attributes
    values = [operand(part, scope.build, precision) for part in binding.inputs]
    scanned = attributes.get("num_scan_inputs", 0)
    states = len(values) - scanned
    if scanned < 1 or states < 0:
        raise LoadError(f"num_scan_inputs is {scanned}, with {len(values)} inputs")
    axes = _entries(attributes, "scan_input_axes", scanned)
    backwards = map(bool, _entries(attributes, "scan_input_directions", scanned))
    how = tuple(map(Scanned, axes, backwards))
    inner = _inner(scope, "body")
    inner.region.add_argument("iteration", TensorType(INT64, ()))
    go_on = inner.region.add_argument("keep_going", TensorType(BOOL, ()))
    types = [tensor(value) for value in values[:states]]
    types += [cut.slice_type(tensor(value)) for cut, value in zip(how, values[states:], strict=True)]
    arguments = [inner.region.add_argument(f"input_{k}", type) for k, type in enumerate(types)]
    signature = scan_signature(graph, len(values), _Known(scope))
    results = _results(graph, signature.inputs, signature.outputs, arguments, inner, precision, states)
    inside = NodeBuilder(inner.build)
    states_out = [_like(inside, result, value) for result, value in zip(results[:states], values, strict=False)]
    inner.region.results = [go_on, *states_out, *results[states:]]
    count = len(results) - states
    out_axes = _entries(attributes, "scan_output_axes", count)
    out_backwards = map(bool, _entries(attributes, "scan_output_directions", count))
    op = Loop(states, how, tuple(map(Collected, out_axes, out_backwards)), keep_shapes=True)
    operands = [None, None, *values, *align_captures([inner], 2 + len(values))]
    return _added(scope, op, operands, inner, precision, len(results))


def emit_if(binding: Binding, scope: Scope, precision: Precision) -> list[Value]:
    """If: the branches take nothing but what they capture."""
    nodes = NodeBuilder(scope.build)
    condition = nodes.truth(operand(binding.inputs[0], scope.build, "given"))
    branches, results = [], []
    for name in ("then_branch", "else_branch"):
        graph = body_graph(binding.attributes.get(name), name)
        inner = _inner(scope, name)
        branches.append(inner)
        results.append(_results(graph, [], branch_signature(graph).outputs, [], inner, precision, 0))
    if len(results[0]) != len(results[1]):
        raise LoadError(f"then_branch gives {len(results[0])} values, else_branch {len(results[1])}")
    for inner, own, others in zip(branches, results, reversed(results), strict=True):
        inside = NodeBuilder(inner.build)
        inner.region.results = [_wider(inside, value, other) for value, other in zip(own, others, strict=True)]
    captured = align_captures(branches)
    names = [f"If.{k}" for k in range(len(results[0]))]
    regions = [inner.region for inner in branches]
    values = scope.build.add_many(If(), [condition, *captured], names, regions)
    return [recast(scope.build, value, precision) for value in values]


CONTROL.update({"Loop": emit_loop, "Scan": emit_scan, "If": emit_if})


class _Known:
    """The ids that mean something around a body."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.scope.find(name) is not None


def _inner(scope: Scope, name: str) -> GraphScope:
    plain = scope.child(name)
    return plain if isinstance(plain, GraphScope) else GraphScope(plain.region, plain.inference, scope)


def _results(
    graph: Graph,
    inputs: Sequence[str],
    outputs: Sequence[str],
    arguments: list[Value],
    inner: GraphScope,
    precision: Precision,
    least: int,
) -> list[Value]:
    """The outputs of a body whose formal inputs are these arguments."""
    where = f"graph {graph.id!r}"
    if len(inputs) != len(arguments):
        raise LoadError(f"it takes {len(inputs)} inputs, expected {len(arguments)}", where)
    if len(outputs) < least:
        raise LoadError(f"it gives {len(outputs)} outputs, expected at least {least}", where)
    inner.values.update({name: value for name, value in zip(inputs, arguments, strict=True) if name})
    inner.inference.depth += 1
    try:
        nodes = GraphNodes(graph, inner, precision)
        inner.own = nodes.port
        return [nodes.output(name) for name in outputs]
    finally:
        inner.inference.depth -= 1


def _added(
    scope: Scope, op: Loop, operands: list[Datum], inner: Scope, precision: Precision, count: int
) -> list[Value]:
    names = [f"Loop.{k}" for k in range(count)]
    values = scope.build.add_many(op, operands, names, [inner.region])
    return [recast(scope.build, value, precision) for value in values]


def _entries(attributes: dict[str, Datum], name: str, count: int) -> Sequence[int]:
    entries = attributes.get(name) or (0,) * count
    if len(entries) != count:
        raise LoadError(f"{name} has {len(entries)} entries, expected {count}")
    return entries


def _as(nodes: NodeBuilder, value: Value, dtype: Datum) -> Value:
    return value if nodes.type(value).dtype == dtype else nodes.add(Cast(to=dtype), value)


def _like(nodes: NodeBuilder, result: Value, state: Value) -> Value:
    """A state's next value in its own element type."""
    if not isinstance(state.type, TensorType) or not isinstance(result.type, TensorType):
        return result
    return _as(nodes, result, state.type.dtype)


def _wider(nodes: NodeBuilder, value: Value, other: Value) -> Value:
    """A result of a branch as float64 where the other branch gives that."""
    if not isinstance(value.type, TensorType) or not isinstance(other.type, TensorType):
        return value
    dtypes = value.type.dtype, other.type.dtype
    is_number = all(dtype.kind in "if" for dtype in dtypes)
    return _as(nodes, value, max(dtypes, key=lambda dtype: (dtype.kind == "f", dtype.itemsize))) if is_number else value
