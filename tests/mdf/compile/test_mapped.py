"""Batches whose sets meet in matrix products, subscripts and conditions: at once what they are one by one."""

import numpy as np
import pytest
from mdf.models import model, node

from whorl.errors import LimitError, RunError
from whorl.mdf.compile import requests
from whorl.mdf.engine.interpret import interpreted
from whorl.runtime.limits import Limits

SETS = 5
WEIGHTS = (np.random.default_rng(0).standard_normal((4, 4)) / 4).tolist()
GAINS = np.linspace(0.5, 2, SETS)
INPUTS = np.random.default_rng(1).standard_normal((SETS, 4))


def network(derivative="g * (x @ w) + b - x", **options):
    parameters = {
        "w": {"value": WEIGHTS},
        "g": {"value": 1.0},
        "b": {"value": [0.1] * 4},
        "x": {"default_initial_value": [0.5, -0.5, 0.25, 1.0], "time_derivative": derivative},
    }
    return model({"net": node(parameters, ["x"])}, **options)


def one_by_one(make, sets, steps=20, **options):
    names = list(sets)
    rows = [dict(zip(names, values, strict=True)) for values in zip(*sets.values(), strict=True)]
    return np.stack([make().simulate(steps, 0.1, initial=row, **options)["net.x"] for row in rows])


@pytest.fixture
def counted(monkeypatch):
    """How many batches ran at once."""
    runs = []
    run = requests.MappedProgram.run
    monkeypatch.setattr(requests.MappedProgram, "run", lambda self, feeds: runs.append(1) or run(self, feeds))
    return runs


@pytest.mark.parametrize(
    "derivative",
    [
        "g * (x @ w) + b - x",
        "g * (w @ x) - x",
        "g * x[0] + b - x",
        "b - g * x * x[1:2]",
    ],
)
@pytest.mark.parametrize("sets", [{"net.g": GAINS}, {"net.g": GAINS, "net.b": INPUTS}, {"net.x": INPUTS}])
def test_sets_at_once_are_what_they_are_alone(derivative, sets, counted):
    actual = network(derivative).simulate(20, 0.1, batch=sets)["net.x"]
    np.testing.assert_allclose(actual, one_by_one(lambda: network(derivative), sets), rtol=1e-12, atol=1e-12)
    assert counted


def test_weights_may_differ_by_set(counted):
    weights = np.random.default_rng(2).standard_normal((SETS, 4, 4)) / 4
    actual = network().simulate(20, 0.1, batch={"net.w": weights})["net.x"]
    np.testing.assert_allclose(actual, one_by_one(network, {"net.w": weights}), rtol=1e-12, atol=1e-12)
    assert counted


def test_batch_goes_on_where_it_ended(counted):
    net = network()
    whole = net.simulate(30, 0.1, batch={"net.g": GAINS})
    half = net.simulate(10, 0.1, batch={"net.g": GAINS})
    rest = net.simulate(20, 0.1, batch={"net.g": GAINS}, state=half.state)
    np.testing.assert_allclose(rest["net.x"], whole["net.x"][:, 11:], rtol=1e-12)
    assert len(counted) == 3


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_few_steps(steps):
    sets = {"net.g": GAINS}
    actual = network().simulate(steps, 0.1, batch=sets)["net.x"]
    np.testing.assert_allclose(actual, one_by_one(network, sets, steps), rtol=1e-12)
    assert actual.shape == (SETS, steps + 1, 4)


def test_equal_sets_and_single_ones_run_as_before(counted):
    net = network()
    alone = net.simulate(5, 0.1)["net.x"]
    np.testing.assert_array_equal(net.simulate(5, 0.1, batch=3)["net.x"], np.stack([alone] * 3))
    np.testing.assert_array_equal(net.simulate(5, 0.1, batch={"net.g": np.ones(1)})["net.x"], alone[None])
    assert not counted


def test_integrators_map_too(counted):
    def make():
        return network(integrator="rk4")

    actual = make().simulate(20, 0.1, batch={"net.g": GAINS})["net.x"]
    np.testing.assert_allclose(actual, one_by_one(make, {"net.g": GAINS}), rtol=1e-12)
    assert counted


def test_draws_of_sets_are_the_ones_of_each(monkeypatch):
    parameters = {
        "w": {"value": WEIGHTS},
        "g": {"value": 1.0},
        "x": {"default_initial_value": [0.0] * 4, "time_derivative": "g * (x @ w) + numpy.random.normal(0, 1, 4)"},
    }
    net = model({"net": node(parameters, ["x"])})
    at_once = net.simulate(10, 0.1, batch={"net.g": GAINS}, seed=3)["net.x"]
    monkeypatch.setattr(requests, "mapped_inputs", lambda *_: {})
    one_after_another = model({"net": node(parameters, ["x"])}).simulate(10, 0.1, batch={"net.g": GAINS}, seed=3)
    np.testing.assert_allclose(at_once, one_after_another["net.x"], rtol=1e-12)
    assert len({row.tobytes() for row in at_once[:, -1]}) == SETS


def test_limits_act():
    with pytest.raises(LimitError):
        network(limits=Limits(max_iterations=5)).simulate(50, 0.1, batch={"net.g": GAINS})


def test_failure_of_a_set_is_the_one_that_it_has_alone():
    with pytest.raises(RunError) as expected:
        network("b[n] - x").simulate(3, 0.1, initial={"net.g": 1.0})
    with pytest.raises(RunError) as error:
        network("b[n] - x").simulate(3, 0.1, batch={"net.g": GAINS})
    assert str(error.value) == str(expected.value)


def sparse_network(derivative):
    """72 cells, each of which hears two others."""
    weights = np.eye(72, k=1) / 2 - np.eye(72, k=-5) / 4
    start = np.random.default_rng(3).standard_normal(72)
    parameters = {
        "w": {"value": weights.tolist()},
        "x": {"default_initial_value": start.tolist(), "time_derivative": derivative},
    }
    return model({"net": node(parameters, ["x"])})


@pytest.mark.parametrize("derivative", ["x @ w - x", "w @ x - x", "numpy.tanh(numpy.dot(w, x)) - x"])
def test_cells_with_few_connections_are_what_they_are_interpreted(derivative, counted):
    net, rows = sparse_network(derivative), np.random.default_rng(4).standard_normal((SETS, 72))
    request = net._request(20, 0.1, None, None, None, {})
    expected = interpreted(net.graph, request, net.inputs)["net.x"]
    np.testing.assert_allclose(net.simulate(20, 0.1)["net.x"], expected, rtol=1e-12, atol=1e-14)
    at_once = net.simulate(20, 0.1, batch={"net.x": rows})["net.x"]
    np.testing.assert_allclose(at_once[2], net.simulate(20, 0.1, initial={"net.x": rows[2]})["net.x"], rtol=1e-12)
    assert counted


def test_infinite_cell_reaches_all_that_have_a_zero_for_it():
    net, start = sparse_network("w @ x - x"), np.ones(72)
    start[7] = np.inf
    request = net._request(1, 0.1, None, None, None, {"net.x": start})
    last = net.simulate(1, 0.1, initial={"net.x": start})["net.x"][-1]
    np.testing.assert_array_equal(last, interpreted(net.graph, request, net.inputs)["net.x"][-1])
    assert np.flatnonzero(~np.isnan(last)).tolist() == [6, 12]
