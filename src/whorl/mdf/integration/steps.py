"""The formulas of integrators that take the same stages in every step, over any arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from whorl.errors import UnsupportedError, format_location
from whorl.mdf.expressions.syntax import Expression, parse
from whorl.mdf.integration.dependencies import Changing, Dependencies
from whorl.mdf.integration.linearity import is_linear
from whorl.mdf.integration.names import Integrator
from whorl.mdf.model import Datum
from whorl.mdf.variables import Names

HALF, WHOLE = parse("x + 0.5 * dt * k"), parse("x + dt * k")
RUNGE_KUTTA = parse("x + dt * (k0 + 2*k1 + 2*k2 + k3) / 6")
"""The classical method of order 4, whose stages are in the middle twice and at the end."""
SLOPE = parse("one - b")
EXPONENTIAL = parse("x + (a*x + b) * dt * numpy.where(a * dt != 0, numpy.expm1(a * dt) / (a * dt), 1.0)")
"""The solution of dx/dt = a*x + b after dt."""


class Evaluates(Protocol):
    """What an integrator asks of what evaluates a node: values that are known, or those of a program."""

    def compute(self, part: Changing, names: Names) -> Datum:
        """The value of a function or parameter."""
        ...

    def derivative(self, id: str, names: Names) -> Datum:
        """The derivative of a parameter."""
        ...

    def formula(self, expression: Expression, names: Mapping[str, Datum]) -> Datum:
        """The value of a formula."""
        ...


def derivatives(
    evaluates: Evaluates, dependencies: Dependencies, names: Names, ids: Sequence[str], changed: Mapping[str, Datum]
) -> dict[str, Datum]:
    """The derivatives of parameters where some have other values than in `names`."""
    inside = Names(names)
    for id, value in changed.items():
        inside.set(id, value)
    for part in dependencies.parts(ids, changed):
        inside.set(part.id, evaluates.compute(part, inside))
    return {id: evaluates.derivative(id, inside) for id in ids}


def runge_kutta(evaluates: Evaluates, dependencies: Dependencies, names: Names, dt: Datum) -> dict[str, Datum]:
    """All parameters with a time derivative after a step of the classical Runge-Kutta method."""
    ids = dependencies.states
    start = {id: names[id] for id in ids}
    slopes = [derivatives(evaluates, dependencies, names, ids, start)]
    for stage in (HALF, HALF, WHOLE):
        last = slopes[-1]
        inner = {id: evaluates.formula(stage, {"x": start[id], "dt": dt, "k": last[id]}) for id in ids}
        slopes.append(derivatives(evaluates, dependencies, names, ids, inner))
    return {
        id: evaluates.formula(
            RUNGE_KUTTA, {"x": start[id], "dt": dt} | {f"k{n}": each[id] for n, each in enumerate(slopes)}
        )
        for id in ids
    }


def exponential(evaluates: Evaluates, dependencies: Dependencies, names: Names, dt: Datum) -> dict[str, Datum]:
    """Each parameter with a time derivative after a step in which the others stand still.

    Errors: UnsupportedError for a derivative that is not linear in its parameter.
    """
    ids = dependencies.states
    present = Names(names)
    for part in dependencies.parts(ids, ids):
        present.set(part.id, evaluates.compute(part, present))
    result = {}
    for id in ids:
        if not is_linear(dependencies, id):
            what = f"the derivative of {id!r} is not linear in it, so there is no exponential step"
            raise UnsupportedError(what, format_location(f"node {dependencies.node.id!r}"), "use 'rk4' or 'euler'")
        b, one = (derivatives(evaluates, dependencies, present, [id], {id: value})[id] for value in (0.0, 1.0))
        slope = evaluates.formula(SLOPE, {"one": one, "b": b})
        result[id] = evaluates.formula(EXPONENTIAL, {"x": names[id], "dt": dt, "a": slope, "b": b})
    return result


FORMS: dict[Integrator, Callable[[Evaluates, Dependencies, Names, Datum], dict[str, Datum]]] = {
    "rk4": runge_kutta,
    "exponential": exponential,
}
"""The integrators that take the same stages in every step."""
