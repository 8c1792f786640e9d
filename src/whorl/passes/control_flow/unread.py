"""Dead code elimination in loops and branches: unread outputs, and carried values that only keep themselves."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from whorl.ir.graph import Node, Region, Value
from whorl.ops.control.flow import If, Loop


def drop_unread(node: Node, read: Collection[Value | None], is_removable: Callable[[Node], bool]) -> bool:
    """Remove what an If or Loop gives and nobody reads; one output is always left. Whether anything went."""
    kept = [k for k, value in enumerate(node.outputs) if value in read]
    if not kept:
        return False
    match node.op:
        case If():
            return _drop_branch_results(node, kept)
        case Loop():
            return _drop_states(node, node.op, set(kept), is_removable)
    return False


def _drop_branch_results(node: Node, kept: list[int]) -> bool:
    if len(kept) == len(node.regions[0].results):
        return False
    for region in node.regions:
        region.results = [region.results[k] for k in kept]
    _keep_outputs(node, kept)
    return True


def _drop_states(node: Node, op: Loop, read: set[int], is_removable: Callable[[Node], bool]) -> bool:
    body, n = node.regions[0], op.carried
    extra = [k for k in range(n, len(body.results) - 1) if k in read]
    live = _live_states(body, op, read, [body.results[1 + k] for k in extra], is_removable)
    if len(live) + len(extra) == len(body.results) - 1:
        return False
    dead = {2 + k for k in range(n) if k not in live}
    body.results = [body.results[0], *(body.results[1 + k] for k in (*live, *extra))]
    body.arguments = [value for k, value in enumerate(body.arguments) if k not in dead]
    for index, value in enumerate(body.arguments):
        value.index = index
    node.inputs = [value for k, value in enumerate(node.inputs) if k not in dead]
    _keep_outputs(node, [k for k in (*live, *extra) if k < len(node.outputs)])
    collected = tuple(how for k, how in enumerate(op.collected, n + op.last) if k in extra)
    last = sum(k < n + op.last for k in extra)
    node.op = replace(op, carried=len(live), last=last, collected=collected)
    return True


def _keep_outputs(node: Node, kept: list[int]) -> None:
    node.outputs = [node.outputs[k] for k in kept]
    for index, value in enumerate(node.outputs):
        value.index = index


def _live_states(
    body: Region, op: Loop, read: set[int], results: list[Value], is_removable: Callable[[Node], bool]
) -> list[int]:
    """The carried values that are read, by whoever reads the loop or by what the body computes for something read."""
    states = body.arguments[2 : 2 + op.carried]
    live = {k for k in range(op.carried) if k in read}
    needed: set[Any] = {body.results[0], *results}
    for inner in body.nodes:
        if not is_removable(inner):
            needed.update(inner.inputs)
    while True:
        needed.update(body.results[1 + k] for k in live)
        for inner in reversed(body.nodes):
            if any(value in needed for value in inner.outputs):
                needed.update(inner.inputs)
        found = {k for k, state in enumerate(states) if state in needed}
        if found <= live:
            return sorted(live)
        live |= found
