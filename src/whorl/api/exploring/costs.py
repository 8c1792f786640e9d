"""What the nodes of a model took in one run, for a page: its profile as a list, to whose entries the nodes refer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from whorl.api.tracing.profiling import ENDING, NEVER, UNFELT
from whorl.api.tracing.spending import RunProfile, Spent
from whorl.ir.graph import Module
from whorl.passes.expose.scopes import Scope, scopes_of


class Cost(Struct, frozen=True, omit_defaults=True):
    """A node: how it ran, its share of the run, and its seconds in `times` executions, where clocks can tell them.

    Of a loop also its iterations. `advice`: why it is as slow as it is. `depth` says how many nodes lie around it.
    """

    title: str
    how: str
    advice: str = ""
    depth: int = 0
    share: float = 0.0
    seconds: float | None = None
    times: int = 0
    iterations: int = 0


def add_costs(module: Module, profile: RunProfile, bodies: Sequence[dict[str, Any]]) -> list[Cost]:
    """The costs of all nodes, those inside others behind these; nodes of the bodies get the numbers of theirs."""
    flat = list(_flatten(profile.nodes, 0))
    numbers = {id(spent): k for k, (spent, _) in enumerate(flat)}
    _mark(scopes_of(module), bodies, numbers, 0, profile.nodes)
    return [_cost(spent, depth) for spent, depth in flat]


def _flatten(nodes: Sequence[Spent], depth: int) -> Iterator[tuple[Spent, int]]:
    for spent in nodes:
        yield spent, depth
        yield from _flatten(spent.inside, depth + 1)


def _cost(spent: Spent, depth: int) -> Cost:
    seconds = None if spent.how in (NEVER, UNFELT) else spent.seconds
    is_loop = bool(spent.inside) and spent.inside[-1].title == f"{ENDING} the iteration"
    iterations = spent.inside[-1].times if is_loop else 0
    return Cost(spent.title, spent.how, spent.advice, depth, spent.share, seconds, spent.times, iterations)


def _mark(
    scopes: Sequence[Scope],
    bodies: Sequence[dict[str, Any]],
    numbers: Mapping[int, int],
    body: int,
    nodes: Sequence[Spent],
) -> Sequence[Spent]:
    """Give the nodes of a body the numbers of their costs; what follows these in the list belongs to other bodies."""
    for node, entry in zip(scopes[body].region.nodes, bodies[body]["nodes"], strict=True):
        if not nodes or nodes[0].title != node.title:
            continue
        spent, nodes = nodes[0], nodes[1:]
        entry["cost"] = numbers[id(spent)]
        inside: Sequence[Spent] = spent.inside
        for inner in entry.get("bodies", ()):
            inside = _mark(scopes, bodies, numbers, inner, inside)
    return nodes
