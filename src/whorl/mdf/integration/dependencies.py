"""Which functions and parameters of a node change where parameters with a time derivative do."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from whorl.errors import UnsupportedError, format_location
from whorl.mdf.engine.calls import reads
from whorl.mdf.expressions.syntax import parse
from whorl.mdf.functions.standard import STANDARD
from whorl.mdf.model import Function, Node, Parameter

DIFFUSION = "drift_diffusion_integrator"


class Changing(Struct, frozen=True):
    """A function, or a parameter that has a value or a function and no memory."""

    id: str
    is_function: bool


class Dependencies:
    """What the derivatives of a node read, and through which parts they hang on each other's parameters.

    `states` are the parameters that are integrated. A part without a memory follows them within a step; input ports,
    parameters with a memory, and what only hangs on these stay as they are over the step.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.known = frozenset((*node.input_ports, *node.parameters, *node.functions))
        self.states = tuple(id for id, parameter in node.parameters.items() if is_integrated(parameter))
        self._orders: dict[tuple[tuple[str, ...], frozenset[str]], list[Changing]] = {}

    def derivative(self, id: str) -> str:
        """The text of a derivative."""
        return self.node.parameters[id].time_derivative or ""

    def parts(self, ids: Collection[str], changed: Collection[str]) -> list[Changing]:
        """What is to be computed again before the derivatives of `ids`, where `changed` have other values, in order.

        Errors: UnsupportedError for a part that draws random numbers, which one step cannot do several times.
        """
        request = tuple(ids), frozenset(changed)
        if request not in self._orders:
            self._orders[request] = self._order(*request)
        return self._orders[request]

    def _order(self, ids: Collection[str], changed: Collection[str]) -> list[Changing]:
        order: dict[Changing, None] = {}
        visited: dict[str, bool] = dict.fromkeys(changed, True)

        def visit(name: str) -> bool:
            """Whether a name hangs on what changed; what hangs on itself keeps its value from before."""
            if name not in visited:
                visited[name] = False
                part = self._part(name)
                if part is not None and any([visit(other) for other in self._reads(part)]):
                    self._check_part(part)
                    order[part] = None
                    visited[name] = True
            return visited[name]

        for id in ids:
            self._check_draws(self.derivative(id), id)
            for name in sorted(self._names(self.derivative(id), id)):
                visit(name)
        return list(order)

    def _part(self, name: str) -> Changing | None:
        if name in self.node.functions:
            return Changing(name, True)
        parameter = self.node.parameters.get(name)
        if parameter is None or has_memory(parameter) or (parameter.value is None and not parameter.function):
            return None
        return Changing(name, False)

    def _reads(self, part: Changing) -> list[str]:
        where = format_location(f"{part.id!r} of node {self.node.id!r}")
        function = self.function(part)
        names = reads(function, where, self.known)
        if function.function in STANDARD:
            names |= STANDARD[function.function][1].names - function.args.keys()
        for text in self._condition_texts(part):
            names |= self._names(text, part.id)
        return sorted(names)

    def function(self, part: Changing) -> Function:
        """A part as a function."""
        if part.is_function:
            return self.node.functions[part.id]
        parameter = self.node.parameters[part.id]
        is_value = parameter.value is not None
        return Function(part.id, None if is_value else parameter.function, parameter.args, parameter.value)

    def _condition_texts(self, part: Changing) -> Iterator[str]:
        conditions = () if part.is_function else self.node.parameters[part.id].conditions
        return (text for each in conditions for text in (each.test, each.value) if isinstance(text, str))

    def _names(self, text: str, id: str) -> frozenset[str]:
        return parse(text, f"{id!r} of node {self.node.id!r}", self.known).names

    def _check_part(self, part: Changing) -> None:
        function = self.function(part)
        for text in (function.function, function.value, *function.args.values(), *self._condition_texts(part)):
            if isinstance(text, str) and text not in self.known:
                self._check_draws(text, part.id)

    def _check_draws(self, text: str, id: str) -> None:
        if any(word in text for word in ("numpy.random.", "np.random.", DIFFUSION)):
            what = f"{id!r} draws random numbers within a time step"
            raise UnsupportedError(what, format_location(f"node {self.node.id!r}"), "use the integrator 'euler'")


def is_integrated(parameter: Parameter) -> bool:
    """Whether a parameter goes on by its time derivative, and not by a value or a function."""
    return parameter.time_derivative is not None and parameter.value is None and not parameter.function


def has_memory(parameter: Parameter) -> bool:
    """Whether a parameter keeps a value from step to step."""
    if parameter.time_derivative is not None or parameter.default_initial_value is not None:
        return True
    value = parameter.value
    return isinstance(value, str) and parameter.id in parse(value, parameter.id, [parameter.id]).names
