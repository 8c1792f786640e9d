"""Steps by scipy's LSODA, as exact as float64 allows with reason: an oracle for the others, only interpreted."""

from __future__ import annotations

import importlib
import itertools

import numpy as np

from whorl.errors import RunError, format_location
from whorl.mdf.integration.dependencies import Dependencies
from whorl.mdf.integration.steps import Evaluates, derivatives
from whorl.mdf.model import Datum
from whorl.mdf.variables import Names

RELATIVE, ABSOLUTE = 1e-12, 1e-14
"""The tolerances of a step."""
MOST_EVALUATIONS = 20_000
"""Evaluations of the derivatives in a step: near a pole LSODA goes on for ever."""


def adaptive(evaluates: Evaluates, dependencies: Dependencies, names: Names, dt: float) -> dict[str, Datum]:
    """All parameters with a time derivative after dt. Errors: RunError where the solver gives up."""
    integrate = importlib.import_module("scipy.integrate")
    start = {id: np.asarray(names[id], np.float64) for id in dependencies.states}
    sizes = np.cumsum([0, *(array.size for array in start.values())])

    def unpack(flat: np.ndarray) -> dict[str, Datum]:
        parts = zip(start.items(), sizes, sizes[1:], strict=False)
        return {id: flat[low:high].reshape(array.shape)[()] for (id, array), low, high in parts}

    left = itertools.count(MOST_EVALUATIONS, -1)

    def slopes(_: float, flat: np.ndarray) -> np.ndarray:
        if not next(left):
            raise _give_up(dependencies, f"it has evaluated the derivatives {MOST_EVALUATIONS} times")
        rates = derivatives(evaluates, dependencies, names, dependencies.states, unpack(flat))
        return np.concatenate([np.broadcast_to(rates[id], array.shape).ravel() for id, array in start.items()])

    flat = np.concatenate([array.ravel() for array in start.values()])
    solved = integrate.solve_ivp(slopes, (0.0, dt), flat, "LSODA", t_eval=[dt], rtol=RELATIVE, atol=ABSOLUTE)
    if not solved.success:
        raise _give_up(dependencies, solved.message)
    return unpack(solved.y[:, -1])


def _give_up(dependencies: Dependencies, reason: str) -> RunError:
    where = format_location(f"node {dependencies.node.id!r}")
    return RunError(f"the adaptive integrator gave up: {reason}", where, "take shorter time steps")
