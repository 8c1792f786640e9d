"""Drift diffusion: many trials in one loop, with the choices and times that theory gives."""

import numpy as np
import pytest
from mdf.models import model, node

VALUES = {"x0": 0.0, "ndt": 0.1, "v": 1.0, "a": 1.0, "s": 1.0, "step": 0.002}
ARGUMENTS = {
    "starting_point": "x0",
    "non_decision_time": "ndt",
    "drift_rate": "v",
    "threshold": "a",
    "noise": "s",
    "dt": "step",
}


def trials(**values):
    parameters = {name: {"value": value} for name, value in (VALUES | values).items()}
    functions = {"rt": {"function": "drift_diffusion_integrator", "args": ARGUMENTS}}
    return model({"N": node(parameters, ("rt",), functions=functions)})


def test_choices_and_times_of_many_trials_are_the_ones_of_theory():
    times = trials(x0=[0.0] * 2000).simulate(0, seed=3)["N.rt"][0]
    assert np.mean(times > 0) == pytest.approx(1 / (1 + np.exp(-2)), abs=0.03)
    assert np.mean(np.abs(times) - 0.1) == pytest.approx(np.tanh(1), abs=0.06)


def test_trial_without_noise_takes_the_time_of_its_drift(each_backend):
    assert trials(s=0.0, step=0.25).simulate(0)["N.rt"][0] == pytest.approx(0.1 + 1.0)
    assert trials(s=0.0, step=0.25, v=-1.0).simulate(0)["N.rt"][0] == pytest.approx(-0.1 - 1.0)


def test_every_evaluation_draws_anew_and_a_seed_repeats_it():
    first, again, other = (trials().simulate(5, seed=seed)["N.rt"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert len({*first}) > 1 and not np.array_equal(first, other)
