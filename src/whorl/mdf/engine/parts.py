"""The parts of a node while a graph runs: each holds its present value and knows how to get the next one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from whorl.errors import LoadError, RunError, WhorlError
from whorl.mdf.bodies import result_index
from whorl.mdf.engine.calls import Calls, reads
from whorl.mdf.expressions.arrays import Draw, Evaluator, compile_expression, read_only
from whorl.mdf.expressions.syntax import Expression, as_number_array, own_value, parse
from whorl.mdf.integration.adaptive import adaptive
from whorl.mdf.integration.dependencies import Changing, Dependencies
from whorl.mdf.integration.names import Integrator
from whorl.mdf.integration.steps import FORMS
from whorl.mdf.model import Datum, Function, InputPort, Node, OutputPort, Parameter
from whorl.mdf.variables import Names

Named = dict[str, Datum]
FAILURES = (TypeError, ValueError, ArithmeticError, MemoryError)
"""What NumPy and Python raise of values that do not go together."""
START = 0.0
"""What a parameter is before anything gives it a value."""


class InputPart:
    """A port. Reading it empties it, unless inputs are kept; then a run's first value replaces what is there."""

    __slots__ = ("default", "empty", "id", "persists", "port", "reduce", "stale", "value")

    def __init__(self, port: InputPort, persists: bool = False) -> None:
        self.port, self.id, self.reduce, self.persists = port, port.id, port.reduce, persists
        shape = port.shape or ()
        value = port.default_value
        self.default = np.array(value) if isinstance(value, list) else value
        self.empty = np.broadcast_to(0.0, shape)
        is_float = "float" in (port.type or "")
        self.value: Datum = None
        if self.reduce == "overwrite":
            before = self.empty if is_float else np.broadcast_to(0, shape)
            self.value = before if self.default is None else self.default
        self.stale = True

    def give(self, value: Datum) -> None:
        """Takes a value in, joined with those that came since the last reading."""
        try:
            if self.value is None or self.stale or self.reduce == "overwrite":
                self.value = value
            elif self.reduce == "add":
                self.value = self.value + value
            else:
                self.value = self.value * value
        except FAILURES as error:
            raise RunError(f"its values cannot be joined: {error}", f"input port {self.id!r}") from None
        self.stale = False

    def read(self) -> Datum:
        value = self.value
        if value is None:
            value = self.empty if self.default is None else self.default
        if self.persists:
            self.value, self.stale = value, True
        else:
            self.value = None
        return value


class ParameterPart:
    """A parameter and how it goes on; `dt` is None in a call without a time increment."""

    __slots__ = (
        "conditions", "derivative", "function", "id", "initial", "is_late", "is_stateful", "own", "parameter", "value"
    )  # fmt: skip

    def __init__(self, parameter: Parameter, compile: Compile, calls: Calls, functions: Collection[str]) -> None:
        self.parameter, self.id = parameter, parameter.id
        self.value: Datum = None
        own = None if parameter.value is None else compile.parsed(parameter.value)
        self.own = None if own is None else compile.value(own)
        self.initial = compile.optional(parameter.default_initial_value)
        self.derivative = compile.optional(parameter.time_derivative)
        self.function: Evaluator | None = None
        if own is None and parameter.function:
            self.function = calls.function(parameter.function, None, parameter.args, compile)
        self.conditions = [(compile.text(each.test), compile.text(each.value)) for each in parameter.conditions]
        self.is_stateful = is_stateful(parameter, own)
        self.is_late = own is not None and not own.names.isdisjoint(functions)

    @property
    def constant(self) -> Datum:
        """The value that nothing changes, or None."""
        changes = self.is_stateful or self.conditions or self.parameter.value is None
        return None if changes or isinstance(self.parameter.value, str | dict) else self.parameter.value

    def current(self, names: Named) -> Datum:
        """The value from the run before; at the first one the initial value, if it hangs on no function."""
        if self.value is not None:
            return self.value
        if self.is_stateful:
            if self.initial is not None:
                return self.initial(names)
            return START if self.own is not None else None
        if self.own is not None and not self.is_late:
            self.value = self.own({**names, self.id: START})
        return self.value

    def update(self, names: Named, dt: float | None, after: Datum = None) -> Datum:
        """The next value; `after` is what an integrator of all parameters of the node made of the present one."""
        if self.own is not None or self.function is not None:
            self.value = self.compute(names)
        elif self.derivative is not None:
            self.value = self._choose(self.integrated(names, dt) if after is None else after, names)
        else:
            self.value = self._choose(self.value, names)
        return self.value

    def compute(self, names: Mapping[str, Datum]) -> Datum:
        """What its text or function gives; the present value stays as it is."""
        evaluate = self.function if self.own is None else self.own
        return self._choose(self.value if evaluate is None else evaluate(names), names)

    def _choose(self, value: Datum, names: Mapping[str, Datum]) -> Datum:
        """A value, or what the conditions put in its stead."""
        for test, replacement in self.conditions:
            value = np.where(test(names), replacement(names), START if value is None else value)
        return value

    def integrated(self, names: Named, dt: float | None) -> Datum:
        """One step of Euler's method; a call without a time increment begins anew."""
        start = self.value
        if dt is None or start is None:
            start = self.initial(names) if self.initial is not None else None
        if dt is None or self.derivative is None:
            return start
        if start is None:
            raise RunError("it has a time derivative and no default_initial_value", f"parameter {self.id!r}")
        return np.add(start, self.derivative(names) * dt)

    def slope(self, names: Mapping[str, Datum]) -> Datum:
        """The derivative among `names`. Errors: RunError where there is no value to go on from."""
        if self.derivative is None or names[self.id] is None:
            raise RunError("it has a time derivative and no default_initial_value", f"parameter {self.id!r}")
        return self.derivative(names)


def is_stateful(parameter: Parameter, own: Expression | None) -> bool:
    if parameter.time_derivative is not None or parameter.default_initial_value is not None:
        return True
    return own is not None and isinstance(own.text, str) and parameter.id in own.names


class FunctionPart:
    """A function, computed anew in every run."""

    __slots__ = ("evaluate", "function", "id", "value")

    def __init__(self, function: Function, compile: Compile, calls: Calls) -> None:
        self.function, self.id = function, function.id
        self.evaluate = calls.function(function.function, function.value, function.args, compile)
        self.value: Datum = None


class OutputPart:
    """An output port; `index` is which of several results it stands for."""

    __slots__ = ("evaluate", "id", "index", "port", "value")

    def __init__(self, port: OutputPort, compile: Compile, index: int | None) -> None:
        self.port, self.id, self.index = port, port.id, index
        self.evaluate = compile.text(port.value)
        self.value: Datum = None

    def of(self, results: Datum) -> Datum:
        """Its own one of several results."""
        if self.index is None or not isinstance(results, tuple):
            return results
        if self.index >= len(results):
            raise RunError(f"there are {len(results)} results, and this port stands for number {self.index}")
        return results[self.index]


Part = InputPart | ParameterPart | FunctionPart | OutputPart


class Compile:
    """Makes functions of the texts of one part of a node."""

    def __init__(self, location: str, known: frozenset[str], draw: Draw | None) -> None:
        self.location, self.known, self.draw = location, known, draw

    def parsed(self, text: Datum) -> Expression:
        return parse(text, self.location, self.known)

    def value(self, expression: Expression) -> Evaluator:
        return compile_expression(expression, self.draw)

    def text(self, text: Datum) -> Evaluator:
        return self.value(self.parsed(text))

    def optional(self, text: Datum) -> Evaluator | None:
        return None if text is None else self.text(text)

    def among(self, names: Mapping[str, Datum]) -> Compile:
        """The same where some more names may be read."""
        return Compile(self.location, self.known | names.keys(), self.draw)


class NodePart:
    """A node: one run reads the ports, then computes functions, parameters and outputs, in this order."""

    def __init__(
        self,
        node: Node,
        calls: Calls,
        persists: bool,
        draws: Callable[[str, str], Draw] | None,
        integrator: Integrator = "euler",
    ) -> None:
        self.node, self.id, self.ran = node, node.id, False
        known = frozenset((*node.input_ports, *node.parameters, *node.functions))

        def compile(kind: str, id: str) -> Compile:
            location = f"{kind} {id!r} of node {node.id!r}"
            return Compile(location, known, draws(node.id, id) if draws else None)

        self.inputs = {id: InputPart(port, persists) for id, port in node.input_ports.items()}
        self.parameters = {
            id: ParameterPart(each, compile("parameter", id), calls, node.functions)
            for id, each in node.parameters.items()
        }
        functions = {id: FunctionPart(each, compile("function", id), calls) for id, each in node.functions.items()}
        self.functions = {id: functions[id] for id in function_order(node, known)}
        self.outputs = {
            id: OutputPart(port, compile("output port", id), result_index(node, id))
            for id, port in node.output_ports.items()
        }
        self.constants = {
            id: read_only(as_number_array(own_value(part.constant)))
            for id, part in self.parameters.items()
            if part.constant is not None and id not in self.inputs and id not in self.functions
        }
        self.parts: Mapping[str, Mapping[str, Part]] = {
            "input_ports": self.inputs,
            "parameters": self.parameters,
            "functions": self.functions,
            "output_ports": self.outputs,
        }
        self.changing = [part for id, part in self.parameters.items() if id not in self.constants]
        self.integrator: Integrator = integrator
        self.dependencies = None if integrator == "euler" else Dependencies(node)

    def run(self, dt: float | None) -> None:
        names: Named = dict(self.constants)
        if not self.ran:
            self.ran = True
            for id, value in self.constants.items():
                self.parameters[id].value = value
        for port in self.inputs.values():
            names[port.id] = port.read()
        changing = self.changing
        part: Part | None = None
        try:
            for part in changing:
                names[part.id] = part.current(names)
            for part in self.functions.values():
                names[part.id] = part.value = part.evaluate(names)
            part = None
            after = {} if dt is None else self.integrate(names, dt)
            for part in changing:
                names[part.id] = part.update(names, dt, after.get(part.id))
            for part in self.outputs.values():
                part.value = part.of(part.evaluate(names))
        except WhorlError as error:
            raise error.at(self.location(part)) from None
        except FAILURES as error:
            raise RunError(str(error), self.location(part)) from None

    def integrate(self, names: Named, dt: float) -> dict[str, Datum]:
        """Parameters with a time derivative after a step of all of them together; none by Euler's method."""
        if self.dependencies is None or not self.dependencies.states:
            return {}
        step = adaptive if self.integrator == "adaptive" else FORMS[self.integrator]
        return step(self, self.dependencies, Names(names), dt)

    def compute(self, part: Changing, names: Names) -> Datum:
        """A function or parameter within a step."""
        return self.functions[part.id].evaluate(names) if part.is_function else self.parameters[part.id].compute(names)

    def derivative(self, id: str, names: Names) -> Datum:
        return self.parameters[id].slope(names)

    def formula(self, expression: Expression, names: Mapping[str, Datum]) -> Datum:
        return compile_expression(expression)(names)

    def location(self, part: Part | None) -> str:
        return f"{part.id!r} of node {self.id!r}" if part is not None else f"node {self.id!r}"

    def find(self, name: str) -> Part | None:
        """The part that a condition means by a name."""
        for parts in self.parts.values():
            if name in parts:
                return parts[name]
        return None


def function_order(node: Node, known: frozenset[str]) -> list[str]:
    """Functions after those that they read, else in the order of the file."""
    others = node.functions.keys() - node.input_ports.keys() - node.parameters.keys()
    waiting = {
        id: reads(function, f"function {id!r} of node {node.id!r}", known) & others
        for id, function in node.functions.items()
    }
    order: list[str] = []
    while waiting:
        free = next((id for id, names in waiting.items() if names <= set(order)), None)
        if free is None:
            listed = ", ".join(map(repr, waiting))
            raise LoadError(f"functions {listed} need each other", f"node {node.id!r}")
        order.append(free)
        del waiting[free]
    return order
