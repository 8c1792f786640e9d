"""Conditions that change the order of nodes: each rewrites the dependencies of a graph once, before any run."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from whorl.errors import LoadError
from whorl.mdf.model import Condition
from whorl.mdf.schedule.arguments import Arguments, ConditionContext

Dependencies = dict[str, set[str]]
"""For each node, in the order of the file, the nodes that it waits for."""

Neighbours = Callable[[set[str], set[str]], set[str]]
OPERATIONS: dict[str, Neighbours] = {
    "KEEP": lambda own, other: set(own),
    "REPLACE": lambda own, other: set(other),
    "DISCARD": lambda own, other: set(),
    "INTERSECTION": lambda own, other: own & other,
    "UNION": lambda own, other: own | other,
    "MERGE": lambda own, other: own | other,
    "DIFFERENCE": lambda own, other: own - other,
    "INVERSE_DIFFERENCE": lambda own, other: other - own,
    "SYMMETRIC_DIFFERENCE": lambda own, other: own ^ other,
}
DEFAULTS = {
    "BeforeNode": ("MERGE", "KEEP", "KEEP", "KEEP"),
    "BeforeNodes": ("MERGE", "KEEP", "KEEP", "KEEP"),
    "WithNode": ("MERGE", "KEEP", "MERGE", "KEEP"),
    "AfterNode": ("KEEP", "MERGE", "MERGE", "KEEP"),
    "AfterNodes": ("KEEP", "MERGE", "MERGE", "KEEP"),
}
"""What becomes of the owner's senders and receivers, and of those of the nodes it is moved to."""
MAX_STEPS = 1_000_000
"""Steps along edges that the search for cycles may take."""
EDGES = ("AddEdgeTo", "RemoveEdgeFrom")


class Move(Struct, frozen=True):
    """One condition that gives a node another place in the order."""

    kind: str
    owner: str
    nodes: tuple[str, ...]
    owner_senders: Neighbours
    owner_receivers: Neighbours
    subject_senders: dict[str, Neighbours]
    subject_receivers: dict[str, Neighbours]
    reconnects: bool
    drops_loops: bool
    prunes: bool
    ignores_conflicts: bool

    @property
    def side(self) -> str:
        return self.kind.removesuffix("Nodes").removesuffix("Node")

    def is_done(self, graph: Dependencies, node: str) -> bool:
        match self.side:
            case "Before":
                return self.owner in graph[node]
            case "After":
                return node in graph[self.owner]
            case _:
                return graph[node] == graph[self.owner]

    def needs(self, sender: str, receiver: str) -> bool:
        """Whether the edge is what the condition asks for, so that no cycle may be cut there."""
        match self.side:
            case "Before":
                return sender == self.owner and receiver in self.nodes
            case "After":
                return sender in self.nodes and receiver == self.owner
            case _:
                return receiver in (self.owner, *self.nodes)


def is_structural(condition: Condition) -> bool:
    return condition.type in DEFAULTS or condition.type in EDGES


def receivers_of(graph: Dependencies) -> Dependencies:
    result: Dependencies = {node: set() for node in graph}
    for node, senders in graph.items():
        for sender in senders:
            result[sender].add(node)
    return result


def reached(edges: Dependencies, start: str) -> set[str]:
    """Nodes that can be reached from `start` by one edge or more, `start` left out."""
    result, waiting = set(), [start]
    while waiting:
        fresh = edges[waiting.pop()] - result
        result |= fresh
        waiting += fresh
    return result - {start}


def peeled(graph: Dependencies) -> Dependencies:
    """What is left when nodes without senders are taken away, again and again."""
    missing, receivers = {node: len(senders) for node, senders in graph.items()}, receivers_of(graph)
    free = [node for node, count in missing.items() if not count]
    while free:
        for receiver in receivers[free.pop()]:
            missing[receiver] -= 1
            if not missing[receiver]:
                free.append(receiver)
    return {node: {each for each in senders if missing[each]} for node, senders in graph.items() if missing[node]}


def in_cycles(graph: Dependencies) -> Dependencies:
    """The nodes that lie in cycles or between them."""
    return receivers_of(peeled(receivers_of(peeled(graph))))


def cycles(graph: Dependencies) -> list[tuple[str, ...]]:
    """Every simple cycle from sender to receiver, each from its first node in the file on."""
    order, result, steps = {node: at for at, node in enumerate(graph)}, list[tuple[str, ...]](), 0
    left = in_cycles(graph)
    while left:
        start, receivers = next(iter(left)), receivers_of(left)
        path, branches = [start], [iter(sorted(receivers[start], key=order.__getitem__))]
        while branches:
            steps += 1
            if steps > MAX_STEPS:
                raise LoadError("the order of nodes has too many cycles", fix="remove edges with RemoveEdgeFrom")
            node = next(branches[-1], None)
            if node is None:
                branches.pop()
                path.pop()
            elif node == start:
                result.append(tuple(path))
            elif node not in path:
                path.append(node)
                branches.append(iter(sorted(receivers[node], key=order.__getitem__)))
        del left[start]
        left = in_cycles({node: senders - {start} for node, senders in left.items()})
    return result


def consideration_sets(graph: Dependencies) -> tuple[tuple[str, ...], ...]:
    """Layers of nodes that wait for nodes of earlier layers only, each in the order of the file."""
    order = {node: at for at, node in enumerate(graph)}
    missing = {node: len(senders - {node}) for node, senders in graph.items()}
    receivers, layers = receivers_of(graph), list[tuple[str, ...]]()
    layer = [node for node, count in missing.items() if not count]
    while layer:
        layers.append(tuple(layer))
        free: list[str] = []
        for node in layer:
            for receiver in receivers[node] - {node}:
                missing[receiver] -= 1
                if not missing[receiver]:
                    free.append(receiver)
        layer = sorted(free, key=order.__getitem__)
    left = [node for node, count in missing.items() if count]
    if left:
        raise LoadError(
            f"nodes {', '.join(map(repr, left[:8]))} wait for each other in a cycle",
            fix="give an input port of the cycle a default_value: the cycle is cut there",
        )
    return tuple(layers)


def apply_structure(graph: Dependencies, owner: str, conditions: list[Condition], notes: list[str]) -> Dependencies:
    """The dependencies after the structural conditions of one node; `notes` gets what had no effect."""
    for condition in conditions:
        arguments = Arguments(condition, ConditionContext(graph, ()))
        nodes = arguments.nodes()
        most = len(graph) if condition.type.endswith("Nodes") else 1
        if owner in nodes or not 1 <= len(nodes) <= most:
            raise arguments.fail(f"cannot place node {owner!r} by {', '.join(map(repr, nodes)) or 'no node'}")
        if condition.type in EDGES:
            graph = with_edge_changed(graph, owner, nodes[0], condition.type, notes)
        else:
            graph = moved(graph, move_of(arguments, owner, tuple(nodes)), notes)
        arguments.end()
    return graph


def with_edge_changed(graph: Dependencies, owner: str, node: str, kind: str, notes: list[str]) -> Dependencies:
    result = {each: set(senders) for each, senders in graph.items()}
    if kind == "AddEdgeTo":
        result[node].add(owner)
    elif node in result[owner]:
        result[owner].remove(node)
    else:
        notes.append(f"RemoveEdgeFrom of node {owner!r} has no effect: there is no edge from {node!r}")
    return result


def move_of(arguments: Arguments, owner: str, nodes: tuple[str, ...]) -> Move:
    owner_senders, owner_receivers, subject_senders, subject_receivers = DEFAULTS[arguments.type]
    free = arguments.type != "WithNode"
    return Move(
        arguments.type,
        owner,
        nodes,
        operation(arguments, arguments.take("owner_senders", owner_senders) if free else owner_senders),
        operation(arguments, arguments.take("owner_receivers", owner_receivers)),
        by_node(arguments, arguments.take("subject_senders", subject_senders) if free else subject_senders, nodes),
        by_node(arguments, arguments.take("subject_receivers", subject_receivers), nodes),
        arguments.flag("reconnect_non_subject_receivers"),
        arguments.flag("remove_new_self_referential_edges"),
        arguments.flag("prune_cycles"),
        arguments.flag("ignore_conflicts", False),
    )


def operation(arguments: Arguments, name: object) -> Neighbours:
    key = str(name).rsplit(".", 1)[-1].upper()
    if key not in OPERATIONS:
        raise arguments.fail(f"{name!r} is not an operation on edges", fix=f"one of {', '.join(OPERATIONS)}")
    return OPERATIONS[key]


def by_node(arguments: Arguments, names: object, nodes: tuple[str, ...]) -> dict[str, Neighbours]:
    if not isinstance(names, dict):
        return dict.fromkeys(nodes, operation(arguments, names))
    if set(names) != set(nodes):
        raise arguments.fail("operations by node must name each of its nodes, and no other")
    return {node: operation(arguments, name) for node, name in names.items()}


def moved(base: Dependencies, move: Move, notes: list[str]) -> Dependencies:
    done = [node for node in move.nodes if move.is_done(base, node)]
    if done:
        notes.append(f"{move.kind} of node {move.owner!r}: already so for {', '.join(map(repr, done))}")
    if len(done) == len(move.nodes):
        return base
    graph = {node: set(senders) for node, senders in base.items()}
    for node in move.nodes:
        graph[node].discard(move.owner)
        graph[move.owner].discard(node)
    graph = order_nodes(rewired(graph, move), move)
    if move.drops_loops:
        for node, senders in graph.items():
            if node not in base[node]:
                senders.discard(node)
    if move.prunes:
        prune_cycles(graph, base, move)
    if move.reconnects:
        reconnect(graph, base, move)
    return graph


def rewired(graph: Dependencies, move: Move) -> Dependencies:
    """The operations on senders and receivers of the owner and its nodes, all from the graph as it was."""
    receivers, owner, nodes = receivers_of(graph), move.owner, move.nodes
    new_senders = {owner: move.owner_senders(graph[owner], set[str]().union(*(graph[node] for node in nodes)))}
    new_receivers = {
        owner: move.owner_receivers(receivers[owner], set[str]().union(*(receivers[node] for node in nodes)))
    }
    for node in nodes:
        new_senders[node] = move.subject_senders[node](graph[node], graph[owner])
        new_receivers[node] = move.subject_receivers[node](receivers[node], receivers[owner])
    for node, senders in new_senders.items():
        for sender in graph:
            arguments, is_removed = node in new_receivers.get(sender, ()), sender in senders
            if (
                sender in new_receivers
                and arguments != is_removed
                and not move.ignores_conflicts
                and (is_removed or arguments)
            ):
                raise LoadError(
                    f"{move.kind}: one operation makes an edge from {sender!r} to {node!r}, another removes it",
                    fix="choose other operations, or set ignore_conflicts",
                )
    result = {node: set(new_senders.get(node, senders)) for node, senders in graph.items()}
    for sender, receivers_of_sender in new_receivers.items():
        for node, senders in result.items():
            if node in receivers_of_sender:
                senders.add(sender)
            else:
                senders.discard(sender)
    return result


def order_nodes(graph: Dependencies, move: Move) -> Dependencies:
    match move.side:
        case "Before":
            for node in move.nodes:
                graph[node].add(move.owner)
        case "After":
            graph[move.owner] |= set(move.nodes)
        case _:
            senders = graph[move.owner] | graph[move.nodes[0]]
            graph[move.owner], graph[move.nodes[0]] = set(senders), set(senders)
    return graph


def prune_cycles(graph: Dependencies, base: Dependencies, move: Move) -> None:
    """Cuts the cycles that the move made, longest first, where an edge turned round or meets the owner."""
    before = cycles(graph)
    while before:
        now = before
        for cycle in sorted(before, key=len, reverse=True):
            if cycle in now:
                cut(graph, base, move, cycle)
                now = cycles(graph)
        if now == before:
            return
        before = now


def cut(graph: Dependencies, base: Dependencies, move: Move, cycle: tuple[str, ...]) -> None:
    for at, sender in enumerate(cycle):
        receiver = cycle[(at + 1) % len(cycle)]
        if receiver == move.owner:
            edge = owner_edge(base, move, cycle, (at + 1) % len(cycle))
        elif receiver in base[sender] and sender != move.owner:
            edge = sender, receiver
        else:
            continue
        if not move.needs(*edge):
            graph[edge[1]].discard(edge[0])


def owner_edge(base: Dependencies, move: Move, cycle: tuple[str, ...], at: int) -> tuple[str, str]:
    """The edge of the owner at which a cycle is cut: where it led before decides."""
    nodes = [node for node in move.nodes if node in cycle] or list(move.nodes)
    receivers = receivers_of(base)
    leads_to_all = all(node in reached(receivers, move.owner) for node in nodes)
    follows_all = all(node in reached(base, move.owner) for node in nodes)
    if leads_to_all or not follows_all:
        return move.owner, cycle[(at + 1) % len(cycle)]
    return cycle[at - 1], move.owner


def reconnect(graph: Dependencies, base: Dependencies, move: Move) -> None:
    """What ran after the owner, and is no node of the move, still runs after what the owner ran after."""
    for sender in (node for node in graph if node in base[move.owner]):
        for receiver in (node for node in graph if move.owner in base[node] and node not in move.nodes):
            broken = move.owner not in graph[receiver] or sender not in graph[move.owner]
            if broken and sender not in reached(receivers_of(graph), receiver):
                graph[receiver].add(sender)
