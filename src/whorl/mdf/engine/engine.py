"""A graph evaluated call by call: the meaning of MDF, to which compiled models are held.

The order is the one that modeci_mdf was measured to have: a port is emptied when it is read (before its version 0.4.14
a value stayed: `inputs` names the version whose meaning holds), functions see the parameters of the call before, each
parameter sees those above it updated, conditions see their own parameter as it was.

What modeci_mdf leaves to chance goes by the order in the file, and is noted: nodes that are considered at the same
time, several edges into one port. Where it adds one array to another in the sender's own memory, the sender is left
alone here. Python floats that are not finite are values here, and errors there; a parameter that reads a function of
its node has no value before the first run instead of failing.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Literal

import numpy as np
from msgspec import Struct

from whorl.errors import LoadError, RunError, WhorlError
from whorl.mdf.engine.calls import Calls
from whorl.mdf.engine.parts import FAILURES, InputPart, NodePart, OutputPart, ParameterPart, Part
from whorl.mdf.expressions.arrays import Draw
from whorl.mdf.functions.named import find_special
from whorl.mdf.functions.operators import Precision
from whorl.mdf.integration.names import Integrator
from whorl.mdf.model import Datum, Edge, Graph
from whorl.mdf.schedule.predicates import Reading
from whorl.mdf.schedule.scheduler import MAX_PASSES, Call, Schedule
from whorl.runtime.limits import Limits

Inputs = Literal["0.4.15", "0.4.13"]
"""Which version of modeci_mdf decides what becomes of a value in an input port when a node reads it: since 0.4.14 it is
gone, before that it stays until another one comes."""
Address = tuple[str, str, str]
"""A node, one of `input_ports`, `parameters`, `functions`, `output_ports`, and an id."""


class Saved(Struct, frozen=True):
    """All that an engine remembers between two calls."""

    values: dict[Address, Datum]
    stale: frozenset[Address]
    """Input ports of which the value has been read."""
    ran: frozenset[str]
    schedule: tuple[int, ...]
    calls: int


class Link(Struct, frozen=True):
    """An edge between parts; `weight` is None where it changes nothing."""

    sender: NodePart
    output: OutputPart
    weight: Datum
    input: InputPart

    def carry(self) -> None:
        """Passes on what the sender put out last, if it has run at all."""
        if not self.sender.ran:
            return
        value = self.output.value
        if self.weight is not None:
            try:
                value = self.weight * value
            except FAILURES as error:
                where = f"input port {self.input.id!r}, edge from {self.output.id!r} of node {self.sender.id!r}"
                raise RunError(f"the weight cannot scale its value: {error}", where) from None
        self.input.give(value)


class Engine:
    """Evaluates a graph; nodes, ports and parameters are in `nodes`, by their ids.

    `inputs` is a version of modeci_mdf, see `Inputs`. `draws` gives random numbers by node and part. `precision`
    "float32" makes ONNX functions compute as modeci_mdf's do. `limits` are those of one loop in a node. `integrator` is
    how parameters with a time derivative go over a time step.
    Errors: LoadError for a graph without meaning; RunError with the node, the part and the expression, after which only
    `restore` leads back to a call's beginning.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: Inputs = "0.4.15",
        draws: Callable[[str, str], Draw] | None = None,
        max_passes: int = MAX_PASSES,
        precision: Precision = "float64",
        limits: Limits | None = None,
        integrator: Integrator = "euler",
    ) -> None:
        self.graph, self.calls = graph, 0
        persists = inputs == "0.4.13"
        calls = Calls(partial(find_special, precision=precision, limits=limits))
        where = f"graph {graph.id!r}"
        self.nodes = {id: NodePart(node, calls, persists, draws, integrator) for id, node in graph.nodes.items()}
        self.links: dict[str, list[Link]] = {id: [] for id in graph.nodes}
        for edge in graph.edges.values():
            self.links[edge.receiver].append(self.link(edge))
        self.schedule = Schedule(graph, self.read, max_passes)
        for reading in self.schedule.plan.readings:
            if self.nodes[reading.node].find(reading.name) is None:
                raise LoadError(f"a threshold names {reading.name!r}, which node {reading.node!r} has not", where)
        self.last: Call = ()
        """The consideration sets of the last call."""

    @property
    def warnings(self) -> list[str]:
        """What the reference leaves to chance, and the order in the file decides here."""
        return [*self.schedule.plan.warnings, *overwriting_notes(self.graph)]

    def link(self, edge: Edge) -> Link:
        weight = edge.parameters.get("weight", 1)
        weight = np.array(weight) if isinstance(weight, list) else weight
        is_one = type(weight) in (int, float) and weight == 1
        sender, receiver = self.nodes[edge.sender], self.nodes[edge.receiver]
        output, port = sender.outputs[edge.sender_port], receiver.inputs[edge.receiver_port]
        return Link(sender, output, None if is_one else weight, port)

    def evaluate(self, dt: float | None = None, initializer: Mapping[str, Datum] | None = None) -> Call:
        """One call: what a schedule lets run until the call ends. `initializer` goes to all input ports of a name."""
        for node in self.nodes.values() if initializer else ():
            for id, port in node.inputs.items():
                if initializer and id in initializer:
                    port.give(initializer[id])
        executed = []
        with np.errstate(all="ignore"):
            try:
                for each in self.schedule.call():
                    executed.append(each)
                    for id in each:
                        for link in self.links[id]:
                            link.carry()
                        self.nodes[id].run(dt)
            except WhorlError as error:
                raise error.at(f"call {self.calls} of graph {self.graph.id!r}") from None
        self.calls += 1
        self.last = tuple(executed)
        return self.last

    def read(self, reading: Reading) -> Datum:
        """The value that a threshold looks at; before the node's first run what it will begin with."""
        node = self.nodes[reading.node]
        part = node.find(reading.name)
        if part is not None and part.value is not None:
            return part.value
        match part:
            case InputPart() | OutputPart():
                return np.broadcast_to(0.0, part.port.shape or ())
            case ParameterPart(initial=initial) if initial is not None:
                return initial(node.constants)
            case _:
                return node.constants.get(reading.name, 0.0)

    def parts(self) -> Iterator[tuple[Address, Part]]:
        """Every part that holds a value, by its place."""
        for node in self.nodes.values():
            for kind, parts in node.parts.items():
                for id, part in parts.items():
                    yield (node.id, kind, id), part

    def value(self, address: Address) -> Datum:
        """The present value; None where there has been none yet."""
        return self.part(address).value

    def set(self, address: Address, value: Datum) -> None:
        """Gives a part another value, from which the next call goes on."""
        self.part(address).value = value

    def part(self, address: Address) -> Part:
        node, kind, id = address
        if node not in self.nodes or id not in self.nodes[node].parts.get(kind, ()):
            raise RunError(f"there is no {id!r} among the {kind} of node {node!r}", f"graph {self.graph.id!r}")
        return self.nodes[node].parts[kind][id]

    def save(self) -> Saved:
        """All that the next call depends on."""
        values = {address: copied(part.value) for address, part in self.parts()}
        stale = frozenset(address for address, part in self.parts() if isinstance(part, InputPart) and part.stale)
        ran = frozenset(id for id, node in self.nodes.items() if node.ran)
        return Saved(values, stale, ran, tuple(self.schedule.state), self.calls)

    def restore(self, saved: Saved) -> None:
        """Goes back to where `save` was called, on this engine or on one of the same graph."""
        for address, part in self.parts():
            part.value = copied(saved.values[address])
            if isinstance(part, InputPart):
                part.stale = address in saved.stale
        for id, node in self.nodes.items():
            node.ran = id in saved.ran
        self.schedule.restore(list(saved.schedule))
        self.calls = saved.calls


def copied(value: Datum) -> Datum:
    """A value that later changes do not reach; arrays that nobody can write stay as they are."""
    is_fixed = isinstance(value, np.ndarray) and not value.flags.writeable
    return value if is_fixed else copy.deepcopy(value)


def overwriting_notes(graph: Graph) -> list[str]:
    """Ports that several edges lead into, of which only the last one counts."""
    count: dict[tuple[str, str], int] = {}
    for edge in graph.edges.values():
        end = edge.receiver, edge.receiver_port
        count[end] = count.get(end, 0) + 1
    return [
        f"{edges} edges lead into input port {port!r} of node {node!r}; the last one in the file overwrites the others"
        for (node, port), edges in count.items()
        if edges > 1 and graph.nodes[node].input_ports[port].reduce == "overwrite"
    ]
