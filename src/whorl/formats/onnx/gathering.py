"""Nodes around control flow that go with it: what only it reads, and what its results alone lead to.

Regions stay convex, also all of them at once: no path leads out of one and back into it, so that each can be one node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from whorl.formats.onnx.cutting import Cut, cut_of, read_names
from whorl.formats.onnx.protos import ModelProto


def gather_neighbours(model: ModelProto, cuts: Sequence[Cut], light: Collection[int]) -> list[Cut]:
    """The cuts with nodes at `light` positions of the main graph taken along; each goes with one cut at most."""
    graph = _Graph(model, cuts)
    free = set(light) - {position for cut in cuts for position in cut.positions}
    regions: list[Cut] = []
    for number, cut in enumerate(cuts):
        members = set(cut.positions)
        while added := _above(graph, members, free) or _below(graph, members, free):
            members |= added
            free -= added
            graph.assign(added, number)
        regions.append(cut_of(model, cut.node, members))
    return regions


def _above(graph: _Graph, members: set[int], free: set[int]) -> set[int]:
    """Nodes all of whose results only the members read."""
    candidates = {p for m in members for name in graph.reads[m] if (p := graph.producers.get(name)) in free}
    return {
        p
        for p in candidates
        if not any(name in graph.results or not graph.readers[name] <= members for name in graph.writes[p])
    }


def _below(graph: _Graph, members: set[int], free: set[int]) -> set[int]:
    """A node that alone reads a result of the members, and needs nothing else that depends on them."""
    for m in sorted(members):
        for name in graph.writes[m]:
            outside = graph.readers[name] - members
            if len(outside) != 1 or name in graph.results or not outside <= free:
                continue
            (reader,) = outside
            others = {p for x in graph.reads[reader] if (p := graph.producers.get(x)) is not None} - members
            if not others & graph.descendants(members | outside):
                return outside
    return set()


class _Graph:
    """Who reads and writes what in a main graph, by position, and which regions nodes belong to."""

    def __init__(self, model: ModelProto, cuts: Sequence[Cut]) -> None:
        nodes = model.graph.node
        self.reads = [read_names(node) for node in nodes]
        self.writes = [[name for name in node.output if name] for node in nodes]
        self.results = {value.name for value in model.graph.output}
        self.producers = {name: n for n, names in enumerate(self.writes) for name in names}
        self.readers: dict[str, set[int]] = {name: set() for name in self.producers}
        for n, names in enumerate(self.reads):
            for name in names:
                self.readers.setdefault(name, set()).add(n)
        self.regions: list[set[int]] = [set(cut.positions) for cut in cuts]
        self.owners = {n: number for number, members in enumerate(self.regions) for n in members}

    def assign(self, members: Iterable[int], number: int) -> None:
        self.regions[number] |= set(members)
        self.owners |= dict.fromkeys(members, number)

    def descendants(self, members: set[int]) -> set[int]:
        """What depends on some of these nodes, they themselves left out; a region depends on what one of it does."""
        result: set[int] = set()
        pending = [*members]
        while pending:
            for name in self.writes[pending.pop()]:
                for reader in self.readers[name] - members:
                    reached = self.regions[self.owners[reader]] if reader in self.owners else {reader}
                    new = reached - result - members
                    result |= new
                    pending += new
        return result
