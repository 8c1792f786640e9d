"""How long do networks of neurons take in whorl, beside Brian2 (its Cython code)?

Two populations by Runge and Kutta's method of order four, and a network by Euler's, so that records agree to rounding;
they are compared first. What counts is the median of the CPU time of this process for a step of all cells, with the
records. Without Brian2 there is nothing to compare with, and the numbers are whorl's alone.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from measuring import US, Measurement, cpu, in_turns, report, use_one_thread

use_one_thread()

import numpy as np
from mdf_models.engines import in_whorl
from mdf_models.models import Case, constants, recurrent, state

PEER = "Brian2"
ROUNDS, STEPS, COMPARED, TOLERANCE = 3, 50_000, 200, 1e-7
"""So many steps, over which it does not count what a run of Brian2 prepares."""


def fitzhugh_nagumo(cells: int) -> tuple[Case, str]:
    rng = np.random.default_rng(1)
    current, v, w = rng.uniform(0.3, 1.0, cells), rng.uniform(-2, 2, cells), np.zeros(cells)
    parameters = {
        **constants(I=current, a=0.7, b=0.8, tau=12.5),
        "V": state(v, "V - V*V*V/3 - W + I"),
        "W": state(w, "(V + a - b*W) / tau"),
    }
    equations = """
    dV/dt = (V - V*V*V/3 - W + I) / second : 1
    dW/dt = (V + 0.7 - 0.8*W) / 12.5 / second : 1
    I : 1 (constant)"""
    return Case(f"FN x{cells}", parameters, ("V", "W"), STEPS, 0.05, "brian_fn", (v, w), (current,), "rk4"), equations


def hodgkin_huxley(cells: int) -> tuple[Case, str]:
    rates = {
        "an": "0.01 * (v + 55) / (1 - exp(-(v + 55) / 10))",
        "bn": "0.125 * exp(-(v + 65) / 80)",
        "am": "0.1 * (v + 40) / (1 - exp(-(v + 40) / 10))",
        "bm": "4 * exp(-(v + 65) / 18)",
        "ah": "0.07 * exp(-(v + 65) / 20)",
        "bh": "1 / (1 + exp(-(v + 35) / 10))",
    }
    start = {"n": 0.3177, "m": 0.0529, "h": 0.5961, "v": -65.0}
    current, arrays = np.linspace(8, 14, cells), {name: np.full(cells, value) for name, value in start.items()}
    change = "I - (120*m*m*m*h*(v - 50) + 36*n*n*n*n*(v + 77) + 0.3*(v + 54.387))"
    gates = {x: f"({rates[f'a{x}']}) * (1 - {x}) - ({rates[f'b{x}']}) * {x}" for x in "nmh"}
    parameters = {
        **constants(I=current),
        **{x: state(arrays[x], gates[x].replace("exp", "numpy.exp")) for x in "nmh"},
        "v": state(arrays["v"], change),
    }
    lines = [f"d{x}/dt = ({text}) / second : 1" for x, text in (*gates.items(), ("v", change))]
    equations = "\n".join([*lines, "I : 1 (constant)"])
    values = tuple(arrays.values())
    return Case(f"HH x{cells}", parameters, ("v",), STEPS, 0.01, "brian_hh", values, (current,), "rk4"), equations


def network() -> tuple[Case, str]:
    """Rates of cells that all excite and inhibit each other, by Euler's method."""
    equations = """
    dx/dt = (total + b - x) / 0.1 / second : 1
    r = tanh(x) : 1
    total : 1
    b : 1 (constant)"""
    return replace(recurrent(), steps=STEPS), equations


CASES = (lambda: fitzhugh_nagumo(100), lambda: hodgkin_huxley(100), network)
STATES = {"brian_fn": ("V", "W"), "brian_hh": ("n", "m", "h", "v"), "recurrent": ("x",)}
FIXED = {"brian_fn": "I", "brian_hh": "I", "recurrent": "b"}


def in_brian(case: Case, equations: str) -> Callable[[], Mapping[str, np.ndarray]] | None:
    """What runs the cells and gives their records; None where Brian2 does not work."""
    try:
        brian: Any = importlib.import_module("brian2")
    except (ImportError, AttributeError):  # the latter where it does not know this NumPy
        return None
    brian.prefs.codegen.target = "cython"
    brian.defaultclock.dt = case.dt * brian.second

    def run() -> Mapping[str, np.ndarray]:
        method = "rk4" if case.integrator == "rk4" else "euler"
        group = brian.NeuronGroup(case.start[0].size, equations, method=method)
        for name, values in zip(STATES[case.function], case.start, strict=True):
            setattr(group, name, values)
        setattr(group, FIXED[case.function], case.arrays[-1])
        monitor = brian.StateMonitor(group, list(case.record), record=True)
        parts = [group, monitor]
        if case.function == "recurrent":
            synapses = brian.Synapses(group, group, "w : 1\ntotal_post = w * r_pre : 1 (summed)")
            synapses.connect()
            synapses.w = case.arrays[0].T.reshape(-1)
            parts.append(synapses)
        brian.Network(*parts).run(case.steps * case.dt * brian.second)
        return {f"cell.{name}": np.asarray(getattr(monitor, name)).T for name in case.record}

    return run


def measure() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as folder:
        for make in CASES:
            case, equations = make()
            ours = in_whorl(case, case.write(Path(folder)))
            runs: dict[str, Callable[[], object]] = {US: ours}
            peer = in_brian(case, equations)
            if peer is not None:
                runs[PEER] = peer
                compare(ours(), peer())
            seconds = in_turns({name: partial(cpu, run) for name, run in runs.items()}, ROUNDS)
            yield Measurement(case.name, "us", {name: 1e6 * value / case.steps for name, value in seconds.items()})


def compare(ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]) -> None:
    """The first records, which both have before each step."""
    for name, rows in theirs.items():
        np.testing.assert_allclose(ours[name][:COMPARED], rows[:COMPARED], rtol=TOLERANCE, atol=TOLERANCE)


def main() -> Sequence[Measurement]:
    return list(measure())


if __name__ == "__main__":
    sys.exit(report(__doc__ or "", main))
