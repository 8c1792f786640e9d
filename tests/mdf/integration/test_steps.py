"""Integrators: their order of convergence, and that programs take the interpreter's steps."""

import numpy as np
import pytest
from mdf.models import OSCILLATOR, SPIKING, model, node

from whorl.api.session import InferenceSession
from whorl.errors import UnsupportedError
from whorl.mdf.engine.engine import Engine

GATES = {
    "cell": node(
        {
            "m": {"default_initial_value": 0.1, "time_derivative": "rate * (1 - m) - 0.5 * m"},
            "v": {"default_initial_value": -20.0, "time_derivative": "leak + m * (50 - v)"},
            "rate": {"value": "1 / (1 + numpy.exp(-v / 10))"},
        },
        ("m", "v"),
        functions={"leak": {"function": "linear", "args": {"variable0": "v", "slope": -0.3, "intercept": -18}}},
    )
}
"""A derivative reads a function, and a parameter that is computed after it."""
EXACT = 1e-14


def error_at_the_end(nodes, integrator, steps, exact):
    run = model(nodes, integrator=integrator).simulate(steps, 1.0 / steps)
    return max(float(np.max(np.abs(run[name][-1] - rows[-1]))) for name, rows in exact.items())


@pytest.mark.parametrize(
    ("nodes", "integrator", "order", "steps"),
    [
        (OSCILLATOR, "rk4", 4, 8),
        (GATES, "rk4", 4, 16),
        (GATES, "euler", 1, 128),
        (GATES, "exponential", 1, 64),
    ],
    ids=["oscillator rk4", "gates rk4", "gates euler", "gates exponential"],
)
def test_error_falls_with_the_order_of_the_integrator(nodes, integrator, order, steps):
    exact = model(nodes, integrator="adaptive").simulate(4, 0.25)
    coarse, fine = (error_at_the_end(nodes, integrator, n, exact) for n in (steps, 2 * steps))
    assert abs(np.log2(coarse / fine) - order) < 0.15 * order


def test_exponential_step_of_a_linear_derivative_is_exact_at_any_length():
    parameters = {
        "tau": {"value": [0.5, 3.0]},
        "x": {"default_initial_value": 4.0, "time_derivative": "(1 - x) / tau"},
        "even": {"default_initial_value": 1.0, "time_derivative": "2.0"},
    }
    linear = node(parameters, ("x", "even"))
    run = model({"N": linear}, integrator="exponential").simulate(2, 5.0)
    np.testing.assert_allclose(run["N.x"][-1], 1 + 3 * np.exp(-10 / np.array([0.5, 3.0])), rtol=EXACT)
    assert run["N.even"][-1] == 21.0


@pytest.mark.parametrize("integrator", ["rk4", "exponential"])
def test_program_takes_the_steps_of_the_interpreter(integrator):
    native = model(GATES, integrator=integrator)
    assert native.is_compiled()
    run, engine = native.simulate(50, 0.1), Engine(native.graph, integrator=integrator)
    for number in range(51):
        engine.evaluate(0.1 if number else None)
        for name in ("m", "v"):
            expected = engine.value(("cell", "parameters", name))
            np.testing.assert_allclose(run[f"cell.{name}"][number], expected, rtol=1e-12)


def test_batch_has_the_steps_of_its_parameter_sets():
    currents = np.linspace(0, 1, 5)
    together = model(OSCILLATOR, integrator="rk4").simulate(100, 0.1, batch={"FN.I": currents})
    for n, current in enumerate(currents):
        alone = model(OSCILLATOR, integrator="rk4").simulate(100, 0.1, initial={"FN.I": current})
        np.testing.assert_allclose(together["FN.V"][n], alone["FN.V"], rtol=1e-12)


def test_condition_resets_what_a_step_gave():
    run = model(SPIKING, integrator="rk4").simulate(2000, 0.1)
    after = run["cell.v"][1:][run["cell.v"][:-1] > 35]
    assert len(after) > 1
    assert set(after) == {-50.0}


def test_module_of_a_model_takes_the_same_steps():
    actual = model(OSCILLATOR, integrator="rk4")
    module = actual.module(record=["FN.V"])
    (rows,) = InferenceSession(module).run(None, {"steps": np.int64(20), "dt": np.float64(0.2)})
    np.testing.assert_allclose(rows, actual.simulate(20, 0.2)["FN.V"], rtol=1e-12)


def test_exponential_step_of_a_curved_derivative_is_refused():
    with pytest.raises(UnsupportedError) as caught:
        model(OSCILLATOR, integrator="exponential").simulate(1, 0.1)
    assert str(caught.value) == (
        "node 'FN': the derivative of 'V' is not linear in it, so there is no exponential step\n"
        "  fix: use 'rk4' or 'euler'"
    )


def test_run_goes_on_with_the_same_integrator():
    whole = model(GATES, integrator="rk4").simulate(20, 0.1)
    first = model(GATES, integrator="rk4").simulate(8, 0.1)
    rest = model(GATES, integrator="rk4").simulate(12, 0.1, state=first.state)
    np.testing.assert_array_equal(np.concatenate([first["cell.v"], rest["cell.v"]]), whole["cell.v"])
