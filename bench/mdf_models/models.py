"""Models of neurons and networks as MDF files say them, with what a benchmark needs to know of each."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from whorl.mdf.integration.names import Integrator


@dataclass(frozen=True)
class Case:
    """A model, how it is run and what is recorded.

    `start` and `arrays` are what the C function of that name takes: the states, then what stays as it is.
    """

    name: str
    parameters: dict[str, Any]
    record: tuple[str, ...]
    steps: int
    dt: float
    function: str
    start: tuple[Any, ...]
    arrays: tuple[Any, ...] = ()
    integrator: Integrator = "euler"

    @property
    def is_scalar(self) -> bool:
        return np.size(self.start[0]) == 1

    @property
    def names(self) -> list[str]:
        """What is recorded, by the names of a simulation."""
        return [f"cell.{name}" for name in self.record]

    def write(self, folder: Path) -> Path:
        """The model as a file: one node, the outputs of which are the recorded parameters."""
        node = {"parameters": self.parameters, "output_ports": {name: {"value": name} for name in self.record}}
        graphs = {"graph": {"nodes": {"cell": node}}}
        path = folder / f"{self.function}_{np.size(self.start[0])}.json"
        path.write_text(json.dumps({self.function: {"format": "ModECI MDF v0.4", "graphs": graphs}}))
        return path


def constants(**values: Any) -> dict[str, Any]:
    return {name: {"value": np.asarray(value).tolist()} for name, value in values.items()}


def state(start: Any, derivative: str) -> dict[str, Any]:
    """A parameter that changes with time."""
    return {"default_initial_value": np.asarray(start).tolist(), "time_derivative": derivative}


def reset(test: str, value: str) -> dict[str, Any]:
    return {"conditions": [{"id": "spike", "test": test, "value": value}]}


def fitzhugh_nagumo(cells: int = 1) -> Case:
    """Source: FitzHugh 1961, Nagumo 1962."""
    rng = np.random.default_rng(1)
    v = -1.0 if cells == 1 else rng.uniform(-2, 2, cells)
    w = 0.0 if cells == 1 else np.zeros(cells)
    current = 0.5 if cells == 1 else rng.uniform(0.3, 1.0, cells)
    parameters = {
        **constants(I=current, a=0.7, b=0.8, tau=12.5),
        "V": state(v, "V - V*V*V/3 - W + I"),
        "W": state(w, "(V + a - b*W) / tau"),
    }
    name, steps = ("FN", 100_000) if cells == 1 else (f"FN x{cells}", 1_000)
    return Case(name, parameters, ("V", "W"), steps, 0.05, "fitzhugh_nagumo", (v, w), (current,))


def izhikevich(cells: int = 1) -> Case:
    """A regular spiking cell. Source: Izhikevich, Dynamical Systems in Neuroscience, 8.2."""
    v = -60.0 if cells == 1 else np.full(cells, -60.0)
    u = 0.0 if cells == 1 else np.zeros(cells)
    current = 70.0 if cells == 1 else np.linspace(60.0, 150.0, cells)
    parameters = {
        **constants(I=current, C=100.0, k=0.7, vr=-60.0, vt=-40.0, peak=35.0, a=0.03, b=-2.0, c=-50.0, d=100.0),
        "v": state(v, "(k*(v - vr)*(v - vt) - u + I) / C") | reset("v > peak", "c"),
        "u": state(u, "a * (b*(v - vr) - u)") | reset("v > peak", "u + d"),
    }
    name = "Izhikevich" if cells == 1 else f"Izhikevich x{cells}"
    return Case(name, parameters, ("v", "u"), 100_000, 0.1, "izhikevich", (v, u), (current,))


def hodgkin_huxley() -> Case:
    """The squid axon. Source: Hodgkin and Huxley 1952, with the signs of today."""
    rates = {
        "an": "0.01 * (v + 55) / (1 - numpy.exp(-(v + 55) / 10))",
        "bn": "0.125 * numpy.exp(-(v + 65) / 80)",
        "am": "0.1 * (v + 40) / (1 - numpy.exp(-(v + 40) / 10))",
        "bm": "4 * numpy.exp(-(v + 65) / 18)",
        "ah": "0.07 * numpy.exp(-(v + 65) / 20)",
        "bh": "1 / (1 + numpy.exp(-(v + 35) / 10))",
    }
    start = {"n": 0.3177, "m": 0.0529, "h": 0.5961, "v": -65.0}
    current = "gna*m*m*m*h*(v - ena) + gk*n*n*n*n*(v - ek) + gl*(v - el)"
    parameters = {
        **constants(I=10.0, C=1.0, gna=120.0, gk=36.0, gl=0.3, ena=50.0, ek=-77.0, el=-54.387),
        **{x: state(start[x], f"a{x} * (1 - {x}) - b{x} * {x}") for x in "nmh"},
        "v": state(start["v"], f"(I - ({current})) / C"),
        **{name: {"value": formula} for name, formula in rates.items()},
    }
    return Case("Hodgkin-Huxley", parameters, tuple("nmhv"), 50_000, 0.01, "hodgkin_huxley", tuple(start.values()))


def recurrent(cells: int = 100) -> Case:
    """Rates of cells that all excite and inhibit each other."""
    rng = np.random.default_rng(2)
    weights = rng.normal(0, 1.2 / np.sqrt(cells), (cells, cells))
    bias, x = rng.normal(0, 0.3, cells), rng.normal(0, 1, cells)
    parameters = {
        **constants(W=weights, b=bias, tau=0.1),
        "x": state(x, "(W @ r + b - x) / tau"),
        "r": {"value": "numpy.tanh(x)"},
    }
    return Case(f"RNN N={cells}", parameters, ("x",), 5_000, 0.01, "recurrent", (x,), (weights, bias))


def integrate_and_fire(cells: int = 8) -> Case:
    """A ring of cells that fire when they reach a threshold."""
    rng = np.random.default_rng(3)
    weights = rng.normal(0, 4.0, (cells, cells))
    current, v = np.linspace(12.0, 30.0, cells), np.full(cells, -65.0)
    parameters = {
        **constants(W=weights, I=current, rest=-65.0, top=-50.0, tau=10.0),
        "s": {"default_initial_value": [0.0] * cells, "value": "(v > top) * 1.0"},
        "v": state(v, "(rest - v + I + W @ s) / tau") | reset("v > top", "rest"),
    }
    arrays = (weights, current)
    return Case(f"IAF net {cells}", parameters, ("v", "s"), 50_000, 0.1, "integrate_and_fire", (v, v * 0), arrays)


def by_runge_kutta(case: Case) -> Case:
    """The same by the classical Runge-Kutta method."""
    return replace(case, name=f"{case.name} rk4", function=f"{case.function}_rk4", integrator="rk4")


CASES = {
    "FN": fitzhugh_nagumo,
    "Izhikevich": izhikevich,
    "Izhikevich x10": lambda: izhikevich(10),
    "HH": hodgkin_huxley,
    "RNN": recurrent,
    "IAF": integrate_and_fire,
    "FN x1000": lambda: fitzhugh_nagumo(1000),
    "FN rk4": lambda: by_runge_kutta(fitzhugh_nagumo()),
    "FN x1000 rk4": lambda: by_runge_kutta(fitzhugh_nagumo(1000)),
    "HH rk4": lambda: by_runge_kutta(hodgkin_huxley()),
    "RNN rk4": lambda: by_runge_kutta(recurrent()),
}
