"""A module's structure as plain data: inputs, outputs, ops, and its loops and branches as a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from whorl.api.models import Source, load_module
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import Fact, tensor
from whorl.ops.control.flow import If, Loop, Scanned, known_bool


def describe(source: Source) -> dict[str, Any]:
    """Inputs and outputs with types, the number of nodes of each op at any depth, and the control flow as a tree.

    Takes whatever `load` takes; weights in a file beside the model are not read. Errors: LoadError, UnsupportedError.
    """
    module = load_module(source, LoadOptions(needs_weights=False))
    main = module.main
    return {
        "inputs": {value.name: str(value.type) for value in main.arguments},
        "defaults": [value.name for value in main.arguments if value.name in module.defaults],
        "states": [name for state in module.states for name in (state.input, state.output)],
        "outputs": {name: str(type) for name, type in module.output_types().items()},
        "nodes": sum(1 for _ in module.nodes()),
        "ops": dict(Counter(node.op.name for node in module.nodes()).most_common()),
        "control_flow": control_flow(main),
    }


def control_flow(region: Region) -> list[dict[str, Any]]:
    """One entry for every Loop and If of a region, those inside it under `inside`."""
    return [_loop(node) if isinstance(node.op, Loop) else _branch(node) for node in region.nodes if node.regions]


def _branch(node: Node) -> dict[str, Any]:
    assert isinstance(node.op, If)
    condition, *captured = node.inputs
    return {
        "kind": "If",
        "name": _title(node),
        "condition": _name(condition),
        "captured": _typed(captured),
        "gives": _typed(node.outputs),
        "inside": [
            {"branch": region.name, "nodes": len(region.nodes), "inside": control_flow(region)}
            for region in node.regions
        ],
    }


def _loop(node: Node) -> dict[str, Any]:
    op, (body,) = node.op, node.regions
    assert isinstance(op, Loop)
    trip, condition, carried, scanned, captured = op.split(node.inputs)
    arguments = op.split(body.arguments)
    elements = body.results[1 + op.carried + op.last :]
    return {
        "kind": "Loop",
        "name": _title(node),
        "trip_count": _trip_count(node, trip),
        "condition": _condition(condition, node),
        "carried": [
            {"name": inner.name, "type": str(inner.type), "used": _is_used(inner, body)}
            for inner, _ in zip(arguments[2], carried, strict=True)
        ],
        "scanned": [_scanned(*each) for each in zip(arguments[3], scanned, op.scanned, strict=True)],
        "captured": _typed(captured),
        "collected": [
            {
                "name": value.name,
                "element": str(value.type),
                "axis": how.axis,
                "reverse": how.reverse,
                "new_axis": how.stacks(tensor(value).rank or 0),
            }
            for value, how in zip(elements, op.collected, strict=True)
        ],
        "last": _typed(body.results[1 + op.carried : 1 + op.carried + op.last]),
        "nodes": len(body.nodes),
        "inside": control_flow(body),
    }


def _scanned(inner: Value, value: Value, how: Scanned) -> dict[str, Any]:
    return {
        "name": _name(value),
        "type": str(value.type),
        "slice": str(inner.type),
        "axis": how.axis,
        "reverse": how.reverse,
        "part": how.part,
    }


def _title(node: Node) -> str:
    return node.name or (node.outputs[0].name if node.outputs else "")


def _name(value: Value | None) -> str | None:
    return None if value is None else value.name


def _typed(values: Sequence[Value | None]) -> list[dict[str, str]]:
    return [{"name": value.name, "type": str(value.type)} for value in values if value is not None]


def _is_used(value: Value, body: Region) -> bool:
    return value in body.results or any(value in node.inputs for node in body.nodes)


def _trip_count(node: Node, trip: Fact | None) -> str:
    """The bound: a number or dim where it is known, the value's name, or none."""
    op = node.op
    assert isinstance(op, Loop)
    parts: list[str] = []
    if trip is not None:
        known = trip.known.flat[0] if trip.known is not None and trip.known.size == 1 else None
        parts.append(str(known) if known is not None else f"value of {_name(node.inputs[0])}")
    _, _, _, scanned, _ = op.split(node.inputs)
    parts += [str(how.length(value.type)) for value, how in zip(scanned, op.scanned, strict=True)][:1]
    return "min({})".format(", ".join(parts)) if len(parts) > 1 else parts[0] if parts else "unbounded"


def _condition(condition: Value | None, node: Node) -> str:
    if condition is None:
        return "none"
    answer = known_bool(node.regions[0].results[0])
    if answer is True:
        return "always true" if known_bool(condition) else f"{condition.name} at the start, then true"
    return f"{condition.name} at the start, then {node.regions[0].results[0].name} of the body"
