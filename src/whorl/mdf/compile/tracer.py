"""One evaluation of a graph on values that are known, or that only the run will know: partial evaluation.

The steps are those of the engine. What is known is computed at once by the meaning of expressions, so fixed parameters,
weights and schedules leave no trace in a program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from whorl.errors import UnsupportedError, WhorlError, format_location
from whorl.ir.graph import Value
from whorl.ir.types import TensorType, tensor
from whorl.mdf.bodies import result_index
from whorl.mdf.compile.scope import NotElementwiseError, Scope, Traced, known_shape
from whorl.mdf.engine.parts import function_order
from whorl.mdf.engine.parts import is_stateful as has_memory
from whorl.mdf.expressions.arrays import evaluate
from whorl.mdf.expressions.elementwise import is_elementwise
from whorl.mdf.expressions.nodes import emit
from whorl.mdf.expressions.syntax import Expression, parse
from whorl.mdf.functions.operators import Operators, Precision, find_operators, spread_arguments
from whorl.mdf.functions.standard import STANDARD
from whorl.mdf.integration.dependencies import Changing, Dependencies
from whorl.mdf.integration.names import Integrator
from whorl.mdf.integration.steps import FORMS
from whorl.mdf.model import Datum, Edge, Graph, InputPort, Node, Parameter
from whorl.mdf.random.draws import TracedDrawing
from whorl.mdf.variables import FUNCTION, INPUT, OUTPUT, PARAMETER, Cell, Names, State
from whorl.ops.elementwise.arithmetic import Add, Min, Mul
from whorl.ops.elementwise.comparison import LessOrEqual, Where
from whorl.ops.movement.indexing import Gather

SPECIAL: dict[str, Callable[[Tracer, Mapping[str, Datum]], Datum]] = {}
"""Functions that are loops of their own, by name; modules that know one add it."""

MOST_RESTING = 1 << 24
"""Zeros that a compiled model holds for an input port to which nothing is connected."""


class Tracer(Struct):
    """Evaluates nodes in a scope; `dt` is None in an evaluation without a time step.

    `overrides`: values that replace those of the file, of fixed parameters and unconnected input ports, and the initial
    values of stateful parameters.
    """

    graph: Graph
    scope: Scope
    state: State
    dt: Datum = None
    overrides: Mapping[Cell, Datum] = field(default_factory=dict)
    series: Mapping[Cell, Traced] = field(default_factory=dict)
    """Rows that go into unconnected input ports, one in each evaluation while there are any."""
    inputs_persist: bool = False
    precision: Precision = "float64"
    drawing: TracedDrawing | None = None
    call: Datum = 0
    """The number of the evaluation."""
    integrator: Integrator = "euler"
    part: tuple[str, str] = ("", "")
    """The node and the part that are evaluated."""
    repeats: dict[tuple[str, str], int] = field(default_factory=dict)
    """Expressions of each part that drew in this evaluation."""
    incoming: dict[str, list[Edge]] = field(default_factory=dict[str, list[Edge]])

    def __post_init__(self) -> None:
        self.incoming = {id: [] for id in self.graph.nodes}
        for edge in self.graph.edges.values():
            self.incoming[edge.receiver].append(edge)

    def inside(self, scope: Scope) -> Tracer:
        """A tracer of what a region inside does, which leaves this one's state as it is."""
        return replace(self, scope=scope, state=State(outer=self.state))

    def run(self, id: str) -> None:
        """Evaluate a node: its edges, then input ports, functions, parameters and output ports."""
        node = self.graph.nodes[id]
        try:
            self._evaluate(node)
        except WhorlError as error:
            raise error.at(format_location(f"node {id!r}")) from None

    # ---- edges and ports -----------------------------------------------------------------------------------------

    def _inputs(self, node: Node) -> Names:
        """What the input ports hold once all senders that have run have passed their values on."""
        inputs: dict[str, Datum] = {}
        for edge in self.incoming[node.id]:
            value = self.state[Cell(edge.sender, OUTPUT, edge.sender_port)]
            if value is None:
                continue
            value = self._weighted(edge, value)
            id = edge.receiver_port
            reduce = node.input_ports[id].reduce
            if id in inputs and reduce != "overwrite":
                value = self._sum(inputs[id], value) if reduce == "add" else self._product(inputs[id], value)
            inputs[id] = value
        return Names({id: self._input(port, Cell(node.id, INPUT, id), inputs) for id, port in node.input_ports.items()})

    def _weighted(self, edge: Edge, value: Datum) -> Datum:
        weight = edge.parameters.get("weight", 1)
        if type(weight) in (int, float) and weight == 1:
            return value
        return self._product(np.asarray(weight) if isinstance(weight, list) else weight, value)

    def _input(self, port: InputPort, cell: Cell, inputs: dict[str, Datum]) -> Datum:
        if cell in self.series:
            return self._row(self.series[cell], self._resting(port))
        value = inputs.get(port.id)
        if value is None and cell in self.overrides:
            return self.overrides[cell]
        if value is None and self.inputs_persist:
            value = self.state[cell]
        value = self._resting(port) if value is None else value
        self.state[cell] = value
        return value

    def _resting(self, port: InputPort) -> Datum:
        """What a port holds where nothing came in."""
        if port.default_value is not None:
            return listed(port.default_value)
        shape = port.shape or ()
        if math.prod(shape) > MOST_RESTING:
            raise UnsupportedError(f"input port {port.id!r} is not connected and would hold {math.prod(shape)} zeros")
        return np.full(shape, 0.0)

    def _row(self, rows: Traced, resting: Datum) -> Datum:
        """The row of this evaluation, or what a port holds after the last one."""
        scope, build = self.scope, self.scope.build
        count = known_shape(rows.type)[0]
        if not isinstance(self.call, Traced):
            if self.call >= count:
                return resting
            return scope.traced(build.add(Gather(), scope.value(rows), scope.constant(np.array(self.call))))
        call, last = scope.value(self.call, whole=True), scope.constant(np.array(count - 1))
        row = scope.traced(build.add(Gather(), scope.value(rows), build.add(Min(), call, last)))
        is_there = scope.traced(build.add(LessOrEqual(), call, last))
        return self._where(is_there, row, resting)

    # ---- the node ------------------------------------------------------------------------------------------------

    def names_before(self, node: Node) -> Names:
        """What the functions of a node see: its input ports, and its parameters as they were."""
        names = self._inputs(node)
        for parameter in node.parameters.values():
            names.later(parameter.id, self._previous(node, parameter, Names(names)))
            self._count_first_draw(node, parameter)
        return names

    def _count_first_draw(self, node: Node, parameter: Parameter) -> None:
        """A parameter without a value is computed before its first update, too: then its second draw counts."""
        if self.drawing is None or parameter.value is None or is_stateful(parameter):
            return
        if parse(parameter.value).draws and self.state[Cell(node.id, PARAMETER, parameter.id)] is None:
            part = node.id, parameter.id
            self.repeats[part] = self.repeats.get(part, -1) + 1

    def _evaluate(self, node: Node) -> None:
        names = self.names_before(node)
        known = frozenset((*node.input_ports, *node.parameters, *node.functions))
        for function in map(node.functions.__getitem__, function_order(node, known)):
            self.part = node.id, function.id
            value = self._apply(function.function, function.args, function.value, names, function.id)
            names.set(function.id, value)
            self.state[Cell(node.id, FUNCTION, function.id)] = value
        after = {} if self.dt is None else self._integrate(node, names)
        for parameter in node.parameters.values():
            self.part = node.id, parameter.id
            value = self._update(node, parameter, names, after.get(parameter.id))
            names.set(parameter.id, value)
            self.state[Cell(node.id, PARAMETER, parameter.id)] = value
        for port in node.output_ports.values():
            self.part = node.id, port.id
            self.state[Cell(node.id, OUTPUT, port.id)] = self._output(node, port.id, names)

    def _previous(self, node: Node, parameter: Parameter, names: Names) -> Callable[[], Datum]:
        """What looks up the value that a parameter has before its update."""
        cell = Cell(node.id, PARAMETER, parameter.id)
        before = self.state.later(cell)

        def look_up() -> Datum:
            if cell in self.overrides and not is_stateful(parameter):
                return self.overrides[cell]
            value = before()
            if value is not None:
                return value
            if cell in self.overrides:
                return self.overrides[cell]
            if parameter.default_initial_value is not None:
                return self.result(parameter.default_initial_value, names, parameter.id)
            if is_stateful(parameter) or parameter.value is None:
                return 0.0 if parameter.value is not None else None
            names.set(parameter.id, 0.0)
            return self.result(parameter.value, names, parameter.id)

        return look_up

    def _integrate(self, node: Node, names: Names) -> dict[str, Datum]:
        """Parameters with a time derivative after a step of all of them together; none by Euler's method."""
        dependencies = Dependencies(node)
        if self.integrator == "euler" or not dependencies.states:
            return {}
        if self.integrator == "adaptive":
            raise UnsupportedError("an adaptive step has as many stages as its tolerance needs", fix="use 'rk4'")
        return FORMS[self.integrator](TracedNode(self, node), dependencies, names, self.dt)

    def compute(self, node: Node, part: Changing, names: Names) -> Datum:
        """The value of a function or parameter among `names`, which leaves the state as it is."""
        if not part.is_function:
            return self._update(node, node.parameters[part.id], names)
        function = node.functions[part.id]
        return self._apply(function.function, function.args, function.value, names, part.id)

    def _update(self, node: Node, parameter: Parameter, names: Names, after: Datum = None) -> Datum:
        cell = Cell(node.id, PARAMETER, parameter.id)
        if cell in self.overrides and not is_stateful(parameter):
            value = self.overrides[cell]
        elif parameter.value is not None:
            value = self.result(parameter.value, names, parameter.id)
        elif parameter.function:
            value = self._apply(parameter.function, parameter.args, parameter.function, names, parameter.id)
        elif parameter.time_derivative is not None:
            value = self._step(cell, parameter, names) if after is None else after
        else:
            value = self.state[cell]
        for condition in parameter.conditions:
            test = self.result(condition.test, names, f"{parameter.id}.{condition.id}")
            other = self.result(condition.value, names, f"{parameter.id}.{condition.id}")
            value = self._where(test, other, 0.0 if value is None else value)
        return value

    def _step(self, cell: Cell, parameter: Parameter, names: Names) -> Datum:
        """Explicit Euler; without a time step, the initial value."""
        if self.dt is None and cell in self.overrides:
            return self.overrides[cell]
        if self.dt is None:
            return self.result(parameter.default_initial_value, names, parameter.id)
        slope = self.result(parameter.time_derivative, names, parameter.id)
        before = self.state[cell]
        if before is None:
            raise UnsupportedError(f"parameter {parameter.id!r} takes a step before it has a value")
        return self._sum(before, self._product(slope, self.dt))

    # ---- expressions ---------------------------------------------------------------------------------------------

    def _apply(self, name: str | None, args: Mapping[str, Datum], value: Datum, names: Names, where: str) -> Datum:
        """A named function of arguments, each of which sees those before it; or the expression `value`."""
        inside, args = Names(names), spread_arguments(name, args)
        for arg, argument in args.items():
            inside.set(arg, self.result(argument, inside, where))
        if name in STANDARD:
            defaults, expression = STANDARD[name]
            for arg, default in defaults.items():
                if arg not in inside and default is not None:
                    inside.set(arg, default)
            return self.expression(expression, inside)
        if name in SPECIAL:
            return SPECIAL[name](self, inside)
        operators = find_operators(name)
        if operators is not None and name is not None:
            return self._operator(operators, name, inside, args)
        return self.result(name if value is None else value, inside, where)

    def _operator(self, operators: Operators, name: str, inside: Names, args: Mapping[str, Datum]) -> Datum:
        """A function that is an operator, several results as a tuple."""
        result = operators.emit(name, _Local(inside, self.scope), args, self.scope.build, self.precision)
        return tuple(map(self._fold, result)) if isinstance(result, tuple) else self._fold(result)

    def _fold(self, value: Datum) -> Datum:
        """A value, or the whole numbers that it is known to hold, as what is made of a shape."""
        if not isinstance(value, Value):
            return value
        known, is_tensor = value.known, isinstance(value.type, TensorType)
        if known is None or not is_tensor or not all(isinstance(element, int) for element in known.flat):
            return self.scope.traced(value)
        return known.astype(tensor(value).dtype)

    def _output(self, node: Node, port: str, names: Names) -> Datum:
        """What an output port gives; one that only names a function of ONNX stands for one of its results."""
        value = self.result(node.output_ports[port].value, names, port)
        index = result_index(node, port)
        return value[index] if isinstance(value, tuple) and index is not None else value

    def result(self, text: Datum, names: Names, where: str) -> Datum:
        """What a file's value means: a name, a number, a list, or an expression."""
        return self.expression(parse(text, where, names), names)

    def expression(self, expression: Expression, names: Names) -> Datum:
        known = {name: names[name] for name in expression.names if name in names}
        if expression.draws:
            return self._drawn(expression, known)
        if not any(isinstance(value, Traced) for value in known.values()):
            return evaluate(expression, known, collapse=True)
        if expression.text in known:
            return known[expression.text]
        if self.scope.batched and not is_elementwise(expression):
            raise NotElementwiseError(f"expression {expression.text!r} looks at whole arrays", expression.location)
        values = {name: self.scope.value(value) for name, value in known.items()}
        return self.scope.traced(emit(expression, values, self.scope.build))

    def _drawn(self, expression: Expression, known: Mapping[str, Datum]) -> Traced:
        if self.drawing is None:
            raise UnsupportedError("random numbers have no generator here", expression.location)
        repeat = self.repeats[self.part] = self.repeats.get(self.part, -1) + 1
        draw = self.drawing.drawer(self.scope, self.call, *self.part, repeat)
        values = {name: self.scope.value(value) for name, value in known.items()}
        return self.scope.traced(emit(expression, values, self.scope.build, draw))

    # ---- arithmetic on what is known or not ----------------------------------------------------------------------

    def _sum(self, x: Datum, y: Datum) -> Datum:
        return self._combined(Add(), np.add, x, y)

    def _product(self, x: Datum, y: Datum) -> Datum:
        return self._combined(Mul(), np.multiply, x, y)

    def _combined(self, op: Datum, known: Callable[[Datum, Datum], Datum], x: Datum, y: Datum) -> Datum:
        if not isinstance(x, Traced) and not isinstance(y, Traced):
            try:
                with np.errstate(all="ignore"):
                    return known(x, y)
            except (TypeError, ValueError) as error:
                raise UnsupportedError(str(error)) from None
        return self.scope.traced(self.scope.build.add(op, self.scope.floats(x), self.scope.floats(y)))

    def _where(self, test: Datum, x: Datum, y: Datum) -> Datum:
        if not any(isinstance(value, Traced) for value in (test, x, y)):
            return np.where(test, x, y)
        condition = self.scope.truth(test)
        return self.scope.traced(self.scope.build.add(Where(), condition, self.scope.floats(x), self.scope.floats(y)))


class TracedNode(Struct, frozen=True):
    """A node as an integrator sees it."""

    tracer: Tracer
    node: Node

    def compute(self, part: Changing, names: Names) -> Datum:
        return self.tracer.compute(self.node, part, names)

    def derivative(self, id: str, names: Names) -> Datum:
        if names[id] is None:
            raise UnsupportedError(f"parameter {id!r} takes a step before it has a value")
        return self.tracer.result(self.node.parameters[id].time_derivative, names, id)

    def formula(self, expression: Expression, names: Mapping[str, Datum]) -> Datum:
        return self.tracer.expression(expression, Names(names))


class _Local(Mapping[str, Datum]):
    """Names whose traced values are values of the region that is written."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names, self.scope = names, scope

    def __getitem__(self, name: str) -> Datum:
        value = self.names[name]
        if not isinstance(value, Traced):
            return value
        if self.scope.batched:
            raise NotElementwiseError("functions of ONNX look at whole arrays")
        return self.scope.value(value)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def is_stateful(parameter: Parameter) -> bool:
    """Whether a parameter has a memory of its own."""
    own = None if parameter.value is None else parse(parameter.value, parameter.id, [parameter.id])
    return has_memory(parameter, own)


def listed(value: Datum) -> Datum:
    """A list of a file as an array."""
    return np.array(value) if isinstance(value, list) else value
