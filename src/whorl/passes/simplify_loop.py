"""Loops that never run, run once, or carry what never changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.constants import same_elements
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape
from whorl.ops.control.flow import Collected, Loop, Scanned, known_bool
from whorl.ops.core.base import known_ints
from whorl.ops.movement.axes import Slice
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Unsqueeze
from whorl.passes.context import Context
from whorl.passes.evaluate import Stopped, empty_collections
from whorl.passes.inline import inline
from whorl.passes.rules.conditions import same_type
from whorl.passes.rules.pattern import constant_of, maker, tensor_type

Replacement = Sequence[Value | None] | None


def iterations(node: Node, *, by_condition: bool = True) -> tuple[int, float]:
    """The fewest and the most iterations of a loop, by its trip count and, if asked, by what its body answers."""
    assert isinstance(node.op, Loop)
    trip, condition, _, scanned, _ = node.op.split(node.inputs)
    goes = True if condition is None else known_bool(condition)
    if goes is False:
        return 0, 0
    counts = [] if trip is None else [_number(trip)]
    counts += [_int(how.length(tensor_type(x))) for x, how in zip(scanned, node.op.scanned, strict=True)]
    known = [n for n in counts if n is not None]
    most: float = min(known, default=float("inf"))
    fewest = 0 if None in counts else min(known, default=1)
    if condition is not None and by_condition:
        answer = known_bool(node.regions[0].results[0])
        if answer is False:
            most = min(most, 1)
        fewest = fewest if goes and answer else min(fewest, 1) if goes else 0
    return int(min(fewest, most)), most


def _number(trip: Value) -> int | None:
    """A trip count, at least 0, where it is known."""
    elements = known_ints(trip)
    return None if elements is None or len(elements) != 1 else max(elements[0], 0)


def _int(length: object) -> int | None:
    return length if isinstance(length, int) else None


def remove_zero_trip_loop(node: Node, build: Builder, context: Context) -> Replacement:
    """A loop that never runs gives its initial values, and collects nothing."""
    assert isinstance(node.op, Loop)
    if iterations(node)[1] != 0 or node.op.last or may_refuse(node):
        return None
    try:
        collected = empty_collections(node)
    except Stopped as stopped:
        context.report.skip(node.op, str(stopped))
        return None
    if not context.may_edit("remove_zero_trip_loop"):
        return None
    names = [value.name for value in node.outputs[node.op.carried :]]
    empty = [build.constant(array, name) for array, name in zip(collected, names, strict=False)]
    return [*node.inputs[2 : 2 + node.op.carried], *empty]


def may_refuse(node: Node) -> bool:
    """Whether a loop may fail because its scanned inputs do not fit each other, their parts, or the trip count."""
    assert isinstance(node.op, Loop)
    op = node.op
    trip, _, _, scanned, _ = op.split(node.inputs)
    lengths = [_int(how.length(tensor_type(x))) for x, how in zip(scanned, op.scanned, strict=True)]
    if op.slices_suffice:
        most = None if trip is None else _number(trip)
        return most is None or any(n is None or n < most for n in lengths)
    if any(not _divides(x, how) for x, how in zip(scanned, op.scanned, strict=True)):
        return True
    return any(n is None or n != lengths[0] for n in lengths) and len(lengths) > 1


def _divides(value: Value, how: Scanned) -> bool:
    """Whether a scanned input surely falls into whole parts."""
    shape = tensor_type(value).shape
    if how.part == 1:
        return True
    length = UNKNOWN if isinstance(shape, AnyShape) else shape[how.axis % len(shape)]
    return isinstance(length, int) and length % how.part == 0


def _has_parts(value: Value, how: Collected) -> bool:
    """Whether an element surely has the rows that it must have to be joined."""
    type = tensor_type(value)
    if isinstance(type.shape, AnyShape):
        return how.stack
    return how.part is None or how.stacks(len(type.shape)) or type.shape[how.axis % len(type.shape)] == how.part


def inline_single_iteration(node: Node, build: Builder, context: Context) -> Replacement:
    """A loop that runs exactly once is its body."""
    assert isinstance(node.op, Loop)
    op, body = node.op, node.regions[0]
    if iterations(node) != (1, 1) or may_refuse(node):
        return None
    elements = body.results[1 + op.carried + op.last :]
    if not all(_has_parts(value, how) for value, how in zip(elements, op.collected, strict=True)):
        return None
    _, _, carried, scanned, captured = op.split(node.inputs)
    pairs = zip(body.arguments[2 : 2 + op.carried], body.results[1:], strict=False)
    if op.keep_shapes and not all(same_type(state.type, result.type) for state, result in pairs):
        return None
    slices = [slice_at(x, how, 0, build) for x, how in zip(scanned, op.scanned, strict=True)]
    if any(value is None for value in slices) or not context.may_edit("inline_single_iteration"):
        return None
    ranks = [tensor_type(value).rank or 0 for value in body.arguments[:2]]
    number = build.constant(np.zeros((1,) * ranks[0], INT64), "iteration")
    go_on = build.constant(np.full((1,) * ranks[1], True), "keep_going")
    arguments = [number, go_on, *carried, *slices, *captured]
    results = inline(body, [value for value in arguments if value is not None], build)[1:]
    first = op.carried + op.last
    for k, (how, value) in enumerate(zip(op.collected, node.outputs[first:], strict=False), first):
        if how.stacks(tensor_type(results[k]).rank or 0):
            results[k] = build.add(Unsqueeze(), results[k], build.int64(how.axis), name=value.name)
    return results


def slice_at(value: Value, how: Scanned, number: int, build: Builder) -> Value | None:
    """What an iteration sees of a scanned value; None where that cannot be said."""
    length = how.length(tensor_type(value))
    if not how.keep_axis:
        index = build.constant(np.array(-1 - number if how.reverse else number, INT64))
        return build.add(Gather(how.axis), value, index, name=value.name)
    if not isinstance(length, int) or length <= number:
        return None
    start = (length - 1 - number if how.reverse else number) * how.part
    bounds = [build.int64(n) for n in (start, start + how.part, how.axis)]
    return build.add(Slice(), value, *bounds, name=value.name)


def capture_unchanged_states(node: Node, build: Builder, context: Context) -> Replacement:
    """Carried values that never change are captured instead, and the loop gives back what it was given."""
    assert isinstance(node.op, Loop)
    op, body = node.op, node.regions[0]
    fixed = unchanged_states(node)
    if not fixed or not context.may_edit("capture_unchanged_state"):
        return None
    unchanged = {2 + k for k in fixed}
    states = [body.arguments[k] for k in sorted(unchanged)]
    initial = [node.inputs[k] for k in sorted(unchanged)]
    body.set_arguments([*(v for k, v in enumerate(body.arguments) if k not in unchanged), *states])
    body.results = [v for k, v in enumerate(body.results) if k - 1 not in fixed]
    inputs = [*(v for k, v in enumerate(node.inputs) if k not in unchanged), *initial]
    names = [value.name for k, value in enumerate(node.outputs) if k not in fixed]
    build.inference.visited.clear()
    new = build.add_many(replace(op, carried=op.carried - len(fixed)), inputs, names, [body], node.name)
    rest = iter(new)
    return [node.inputs[2 + k] if k in fixed else next(rest) for k in range(len(node.outputs))]


def unchanged_states(node: Node) -> list[int]:
    """The carried values of a loop, by number, that no iteration changes."""
    assert isinstance(node.op, Loop)
    return [k for k in range(node.op.carried) if _never_changes(node, k)]


def _origin(value: Value) -> Value:
    """The value that another one surely is, through nodes that change nothing."""
    node = maker(value)
    while node is not None and not value.index and node.inputs and node.op.is_identity(node.inputs, node.outputs):
        first = node.inputs[0]
        if first is None:
            break
        value, node = first, maker(first)
    return value


def _never_changes(node: Node, k: int) -> bool:
    """Whether a carried value is after each iteration what it was at first."""
    body, initial = node.regions[0], node.inputs[2 + k]
    state, result = body.arguments[2 + k], _origin(body.results[1 + k])
    if result is state:
        return True
    if result.owner is body:
        _, _, _, _, captured = node.op.split(body.arguments)  # type: ignore[attr-defined]
        return result in captured and node.inputs[result.index] is initial
    a, b = constant_of(initial), constant_of(result)
    return a is not None and b is not None and same_elements(a.value, b.value)
