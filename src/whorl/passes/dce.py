"""Dead code elimination: unused nodes, unused carried values, unused captures.

A region is walked backwards, so that one walk removes a chain of dead nodes. Counting uses does not do for a loop: a
carried value is used by its own body, so it lives only if a result that is used depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from whorl.ir.graph import Module, Node, Region, Value
from whorl.ops.control.flow import If, Loop, first_captured
from whorl.passes.context import Context


def dce(module: Module, context: Context) -> None:
    """Remove what no result depends on, in every region. A removal is not an edit: `limit` does not count it."""
    _clean(module.main, context)


def remove_unused_nodes(region: Region, is_removable: Callable[[Node], bool] = lambda node: True) -> None:
    """Leave the nodes of one region that its results depend on, and those that are not removable."""
    region.nodes = [node for node, _ in live_nodes(region, region.results, is_removable)][::-1]


def live_nodes(
    region: Region, results: Iterable[Value | None], is_removable: Callable[[Node], bool] = lambda node: True
) -> Iterator[tuple[Node, list[int]]]:
    """The nodes that results depend on or that must stay, last first, each with the numbers of its used outputs.

    The inputs of a node count as used after it was yielded: the caller may change the node before.
    """
    used: set[Value | None] = set(results)
    for node in reversed(region.nodes):
        outputs = [k for k, value in enumerate(node.outputs) if value in used]
        if outputs or not is_removable(node):
            yield node, outputs
            used.update(node.inputs)


def _clean(region: Region, context: Context) -> None:
    live: list[Node] = []
    for node, used in live_nodes(region, region.results, _has_no_effect):
        if node.regions:
            context.report.edits["dce"] += _drop_unused_outputs(node, used)
            for inner in node.regions:
                _clean(inner, context)
            drop_captures(node)
        live.append(node)
    context.report.edits["dce"] += len(region.nodes) - len(live)
    region.nodes = live[::-1]


def _has_no_effect(node: Node) -> bool:
    """Whether nothing but its results shows that a node ran."""
    return node.op.pure and all(_has_no_effect(inner) for region in node.regions for inner in region.nodes)


def _drop_unused_outputs(node: Node, used: list[int]) -> bool:
    """Remove the outputs of an If or Loop that are not used; one output is always left. Whether any were removed."""
    if not used:
        return False
    if isinstance(node.op, Loop):
        return _drop_states(node, node.op, set(used))
    if not isinstance(node.op, If) or len(used) == len(node.regions[0].results):
        return False
    for region in node.regions:
        region.results = [region.results[k] for k in used]
    _select_outputs(node, used)
    return True


def _drop_states(node: Node, op: Loop, used: set[int]) -> bool:
    body, n = node.regions[0], op.carried
    extra = [k for k in range(n, len(body.results) - 1) if k in used]
    live = _live_states(body, op, used, [body.results[1 + k] for k in extra])
    if len(live) + len(extra) == len(body.results) - 1:
        return False
    dead = {2 + k for k in range(n) if k not in live}
    body.results = [body.results[0], *(body.results[1 + k] for k in (*live, *extra))]
    body.set_arguments(value for k, value in enumerate(body.arguments) if k not in dead)
    node.inputs = [value for k, value in enumerate(node.inputs) if k not in dead]
    _select_outputs(node, [k for k in (*live, *extra) if k < len(node.outputs)])
    collected = tuple(how for k, how in enumerate(op.collected, n + op.last) if k in extra)
    last = sum(k < n + op.last for k in extra)
    node.op = replace(op, carried=len(live), last=last, collected=collected)
    return True


def _select_outputs(node: Node, chosen: list[int]) -> None:
    node.outputs = [node.outputs[k] for k in chosen]
    for index, value in enumerate(node.outputs):
        value.index = index


def _live_states(body: Region, op: Loop, used: set[int], results: list[Value]) -> list[int]:
    """Carried values that are used after the loop, or that the condition, a used result or an effect depends on."""
    states = body.arguments[2 : 2 + op.carried]
    live = {k for k in range(op.carried) if k in used}
    while True:
        needed: set[Value | None] = {body.results[0], *results, *(body.results[1 + k] for k in live)}
        for inner, _ in live_nodes(body, needed, _has_no_effect):
            needed.update(inner.inputs)
        reached = {k for k, state in enumerate(states) if state in needed}
        if reached <= live:
            return sorted(live)
        live |= reached


def drop_captures(node: Node) -> None:
    """Remove the captured operands that no region uses."""
    first = first_captured(node)
    count = len(node.inputs) - first
    pairs = [(region.arguments[len(region.arguments) - count :], region.used_values()) for region in node.regions]
    live = [k for k in range(count) if any(captured[k] in values for captured, values in pairs)]
    if len(live) == count:
        return
    node.inputs[first:] = [node.inputs[first + k] for k in live]
    for region, (captured, _) in zip(node.regions, pairs, strict=True):
        region.set_arguments([*region.arguments[: len(region.arguments) - count], *(captured[k] for k in live)])
