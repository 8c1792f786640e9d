"""modeci_mdf's execution engine by name and by interface, run by whorl's.

`EvaluableGraph` takes a graph of modeci_mdf's objects, of whorl's documents, or the data of a file. It is used as the
original: `evaluate`, then `enodes[node].evaluable_outputs[port].curr_value`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import partial

import numpy as np

from whorl.errors import UnsupportedError
from whorl.formats.mdf.files import read_mdf
from whorl.formats.mdf.modeci_objects import graph_of_objects, has_objects, part_of_objects
from whorl.formats.mdf.reading import graph_of
from whorl.mdf.engine.calls import Calls
from whorl.mdf.engine.engine import Engine, Inputs
from whorl.mdf.engine.parts import Compile, FunctionPart, InputPart, NodePart, ParameterPart, Part
from whorl.mdf.expressions.arrays import Draw
from whorl.mdf.functions.named import find_special
from whorl.mdf.functions.operators import Precision
from whorl.mdf.model import Datum, Function, Graph, Node, Parameter

FORMAT_NUMPY = "numpy"
CALLS = Calls(partial(find_special, precision="float32"))


class Evaluable:
    """A part of a node: `curr_value` is what it holds now."""

    def __init__(self, part: Part, described: Datum) -> None:
        self.part, self.described = part, described

    @property
    def curr_value(self) -> Datum:
        return self.part.value

    @curr_value.setter
    def curr_value(self, value: Datum) -> None:
        self.part.value = value


class EvaluableInput(Evaluable):
    """An input port."""

    part: InputPart

    @property
    def input_port(self) -> Datum:
        return self.described

    def set_input_value(self, value: Datum) -> None:
        """Gives the port a value, joined with what it holds as its `reduce` says."""
        self.part.give(value)


class EvaluableOutput(Evaluable):
    """An output port."""

    @property
    def output_port(self) -> Datum:
        return self.described


class EvaluableParameter(Evaluable):
    """A parameter of a graph, or one alone."""

    def __init__(self, parameter: Datum, verbose: bool = False, part: ParameterPart | None = None) -> None:
        self.verbose, self.parameter = verbose, parameter
        super().__init__(part or self.compiled({}), parameter)

    def compiled(self, names: Mapping[str, Datum]) -> ParameterPart:
        document = self.parameter if isinstance(self.parameter, Parameter) else part_of_objects(self.parameter)
        if not isinstance(document, Parameter):
            raise UnsupportedError(f"{self.parameter!r} is not a parameter")
        return ParameterPart(document, alone("parameter", document.id, names), CALLS, ())

    def with_names(self, parameters: Mapping[str, Datum]) -> ParameterPart:
        part = self.compiled(parameters)
        part.value = self.part.value
        self.part = part
        return part

    def get_current_value(self, parameters: Mapping[str, Datum], array_format: str = FORMAT_NUMPY) -> Datum:
        """The value without an update; computed if there is none yet."""
        check_format(array_format)
        return self.with_names(parameters).current(dict(parameters))

    def evaluate(
        self,
        parameters: Mapping[str, Datum],
        time_increment: float | None = None,
        array_format: str = FORMAT_NUMPY,
    ) -> Datum:
        """Updates the value from the values of `parameters`."""
        check_format(array_format)
        with np.errstate(all="ignore"):
            return self.with_names(parameters).update(dict(parameters), time_increment)


class EvaluableFunction(Evaluable):
    """A function of a graph, or one alone."""

    def __init__(self, function: Datum, verbose: bool = False, part: FunctionPart | None = None) -> None:
        self.verbose, self.function = verbose, function
        super().__init__(part or self.compiled({}), function)

    def compiled(self, names: Mapping[str, Datum]) -> FunctionPart:
        document = self.function if isinstance(self.function, Function) else part_of_objects(self.function)
        if not isinstance(document, Function):
            raise UnsupportedError(f"{self.function!r} is not a function")
        return FunctionPart(document, alone("function", document.id, names), CALLS)

    def evaluate(self, parameters: Mapping[str, Datum] | None = None, array_format: str = FORMAT_NUMPY) -> Datum:
        """Computes the function from the values of `parameters`."""
        check_format(array_format)
        names = dict(parameters or {})
        self.part = self.compiled(names)
        with np.errstate(all="ignore"):
            self.part.value = self.part.evaluate(names)
        return self.part.value


class EvaluableNode:
    """A node with its evaluable parts."""

    def __init__(self, part: NodePart, node: Datum, verbose: bool = False) -> None:
        self.part, self.node, self.verbose, self.id = part, node, verbose, part.id
        described = {kind: by_id(getattr(node, kind)) for kind in PARTS}
        self.evaluable_inputs = {
            id: EvaluableInput(each, described["input_ports"][id]) for id, each in part.inputs.items()
        }
        self.evaluable_parameters = {
            id: EvaluableParameter(described["parameters"][id], verbose, each) for id, each in part.parameters.items()
        }
        self.evaluable_functions = {
            id: EvaluableFunction(described["functions"][id], verbose, each) for id, each in part.functions.items()
        }
        self.evaluable_outputs = {
            id: EvaluableOutput(each, described["output_ports"][id]) for id, each in part.outputs.items()
        }

    def evaluate(self, time_increment: float | None = None, array_format: str = FORMAT_NUMPY) -> None:
        """Runs the node once, outside any schedule."""
        check_format(array_format)
        with np.errstate(all="ignore"):
            self.part.run(time_increment)

    def get_output(self, id: str | None = None) -> Datum:
        """The value of an output port; without an id that of the only one, or a tuple of all."""
        if id is not None:
            return self.evaluable_outputs[id].curr_value if id in self.evaluable_outputs else None
        values = tuple(output.curr_value for output in self.evaluable_outputs.values())
        return values[0] if len(values) == 1 else values


PARTS = ("input_ports", "parameters", "functions", "output_ports")


def by_id(parts: Datum) -> dict[str, Datum]:
    return dict(parts) if isinstance(parts, dict) else {part.id: part for part in parts or ()}


class SchedulerView:
    """What an engine's schedule has done: `execution_list[None]` holds a set of nodes for each step of the schedule."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.execution_list: dict[None, list[set[Datum]]] = {None: []}

    @property
    def consideration_queue(self) -> list[set[str]]:
        return [set(each) for each in self.engine.schedule.sets]


class EvaluableGraph:
    """A graph that is evaluated call by call. `inputs` is a version of modeci_mdf, as for `Engine`.

    ONNX functions compute in float32, as modeci_mdf's do, unless `precision` is "float64".
    """

    def __init__(
        self, graph: Datum, verbose: bool = False, inputs: Inputs = "0.4.15", precision: Precision = "float32"
    ) -> None:
        self.graph, self.verbose = graph, verbose
        self.document = document_of(graph)
        self.engine = Engine(self.document, inputs, draws=numpy_draws, precision=precision)
        described = by_id(graph.nodes) if has_objects(graph) else self.document.nodes
        self.enodes = {id: EvaluableNode(part, described[id], verbose) for id, part in self.engine.nodes.items()}
        self.nodes_run: dict[str, Datum] = described if has_objects(graph) else dict(self.enodes)
        self.order_of_execution: list[str] = []
        self.scheduler = SchedulerView(self.engine)
        self.root_nodes = root_nodes(self.document)
        edges = by_id(graph.edges) if has_objects(graph) else self.document.edges
        self.ordered_edges = [edges[id] for id in edge_order(self.document, self.root_nodes)]
        senders = {edge.sender for edge in self.document.edges.values()}
        self.output_nodes = [described[id] for id in described if id not in senders]
        self.output_enodes = [self.enodes[id] for id in described if id not in senders]

    def evaluate(
        self,
        time_increment: float | None = None,
        array_format: str = FORMAT_NUMPY,
        initializer: Mapping[str, Datum] | None = None,
    ) -> None:
        """One evaluation. `initializer` has values for input ports, by their ids."""
        check_format(array_format)
        for executed in self.engine.evaluate(time_increment, initializer):
            self.order_of_execution += executed
            self.scheduler.execution_list[None].append({self.nodes_run[id] for id in executed})


def main(example_file: str, array_format: str = FORMAT_NUMPY, verbose: bool = False) -> EvaluableGraph:
    """Evaluates the first graph of a file once."""
    graph = EvaluableGraph(next(iter(read_mdf(example_file).graphs.values())), verbose)
    graph.evaluate(array_format=array_format)
    return graph


def document_of(graph: Datum) -> Graph:
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, dict):
        id, data = ("graph", graph) if "nodes" in graph else next(iter(graph.items()))
        return graph_of(id, data)
    return graph_of_objects(graph)


def check_format(array_format: str) -> None:
    if array_format != FORMAT_NUMPY:
        raise UnsupportedError(f"arrays cannot be in the format {array_format!r}", fix=f"use {FORMAT_NUMPY!r}")


def alone(kind: str, id: str, names: Mapping[str, Datum]) -> Compile:
    return Compile(f"{kind} {id!r}", frozenset((*names, id)), numpy_draws(id, id))


def numpy_draws(node: str, part: str) -> Draw:
    """Random numbers of NumPy's global generator, in the order in which the parts are evaluated."""
    return lambda name, location, arguments, keywords: getattr(np.random, name)(*arguments, **keywords)


def root_nodes(graph: Graph) -> list[str]:
    """Nodes that no edge leads to; where there are none, those with a port that cuts a cycle."""
    receivers = {edge.receiver for edge in graph.edges.values()}
    roots = [id for id in graph.nodes if id not in receivers]
    return roots or [id for id, node in graph.nodes.items() if cuts_cycle(node)]


def cuts_cycle(node: Node) -> bool:
    return any(port.default_value is not None for port in node.input_ports.values())


def edge_order(graph: Graph, roots: list[str]) -> list[str]:
    """Edges in the order in which values can flow along them."""
    reached, order = set(roots), list[str]()
    waiting, put_off = deque(graph.edges.values()), 0
    while put_off < len(waiting):
        edge = waiting.popleft()
        if edge.sender in reached:
            order.append(edge.id)
            reached.add(edge.receiver)
            put_off = 0
        else:
            waiting.append(edge)
            put_off += 1
    return order
