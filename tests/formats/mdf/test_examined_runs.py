"""Batches that are resumed, sweeps whose measures fail, models of many nodes, and files that must be refused."""

import json

import numpy as np
import pytest

import whorl
from whorl.errors import WhorlError


def model_of(tmp_path, nodes, **more):
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"m": {"format": "ModECI MDF v0.4", "graphs": {"g": {"nodes": nodes, **more}}}}))
    return whorl.load(path)


def node(parameters, outputs, inputs=(), functions=None):
    return {
        "input_ports": {id: {} for id in inputs},
        "functions": functions or {},
        "parameters": parameters,
        "output_ports": {id: {"value": value} for id, value in outputs.items()},
    }


RNN = {
    "R": node(
        {
            "W": {"value": [[0.1, 0.2], [0.3, -0.4]]},
            "g": {"value": 1.0},
            "h": {"time_derivative": "-h + numpy.tanh(g * (W @ h))", "default_initial_value": [0.1, 0.2]},
        },
        {"h": "h"},
    )
}
GROWING = {
    "R": node(
        {
            "g": {"value": 1.0},
            "a": {"value": "{1: g}"},
            "h": {"value": "h + a[1]", "default_initial_value": 0.0},
        },
        {"h": "h"},
    )
}


@pytest.mark.parametrize("nodes", [RNN, GROWING], ids=["set by set", "interpreted"])
def test_resumed_batch_keeps_the_values_of_every_set(tmp_path, nodes):
    model = model_of(tmp_path, nodes)
    batch = {"R.g": np.array([0.5, 1.0, 2.0])}
    whole = model.simulate(20, 0.1, record=["R.h"], batch=batch)["R.h"]
    first = model.simulate(8, 0.1, record=["R.h"], batch=batch)
    second = model.simulate(12, 0.1, record=["R.h"], state=first.state)
    np.testing.assert_array_equal(np.concatenate([first["R.h"], second["R.h"]], axis=1), whole)
    assert not np.array_equal(whole[0], whole[2])


def test_sweep_goes_on_where_a_measure_raises(tmp_path):
    model_of(tmp_path, RNN)

    def measure(run):
        return {"inverse": 1 / int(run["R.h"][-1][0] > 0.1)}

    def fine(run):
        return {"inverse": 1.0}

    grid, file = {"R.g": [0.0, 20.0]}, tmp_path / "rows.jsonl"
    table = whorl.sweep(tmp_path / "model.json", grid, steps=20, dt=0.1, measure=measure, file=file)
    assert list(table["error"]) == ["measure: ZeroDivisionError: division by zero", ""]
    file.write_text(file.read_text()[:-10])
    table = whorl.sweep(tmp_path / "model.json", grid, steps=20, dt=0.1, measure=fine, file=file)
    assert list(table["error"]) == ["", ""]
    rows = [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]
    assert sum(not row["error"] for row in rows) == 2


def test_sweep_refuses_a_grid_of_a_number_and_a_file_it_cannot_write(tmp_path):
    model_of(tmp_path, RNN)
    with pytest.raises(WhorlError, match="expected a list of values"):
        whorl.sweep(tmp_path / "model.json", {"R.g": 0.5}, steps=1)
    with pytest.raises(WhorlError, match="cannot write"):
        whorl.sweep(tmp_path / "model.json", {"R.g": [0.5]}, steps=1, file=tmp_path / "none" / "rows.jsonl")


def test_model_of_many_nodes_is_simulated(tmp_path):
    counter = {"p": {"value": "p + 1", "default_initial_value": 0}}
    model = model_of(tmp_path, {f"n{k}": node(counter, {"o": "p"}) for k in range(200)})
    assert model.simulate(3)["n199.o"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("name", ["nosuch", "__import__('os')", "onnx::Nope"])
def test_function_that_there_is_not_is_refused_where_only_a_port_reads_it(tmp_path, name):
    nodes = {"A": node({}, {"o": "f"}, functions={"f": {"function": name}})}
    with pytest.raises(WhorlError, match="'f' of node 'A'"):
        model_of(tmp_path, nodes).simulate(2)


@pytest.mark.parametrize("text", ["numpy.random.normal(size=10**12)", "numpy.random.random(10**11)"])
def test_draw_of_too_many_numbers_is_refused(tmp_path, text):
    with pytest.raises(WhorlError, match="more than 268435456 elements"):
        model_of(tmp_path, {"A": node({"p": {"value": text}}, {"o": "p"})}).simulate(1)


def test_shape_with_too_many_axes_is_refused(tmp_path):
    nodes = {"A": {"input_ports": {"i": {"shape": [1] * 100}}, "output_ports": {"o": {"value": "i"}}}}
    with pytest.raises(WhorlError, match="100 axes"):
        model_of(tmp_path, nodes)


def test_count_that_no_counter_has_is_refused(tmp_path):
    counter = {"p": {"value": "p + 1", "default_initial_value": 0}}
    conditions = {"node_specific": {"A": {"type": "AfterPass", "kwargs": {"n": 10**400}}}}
    with pytest.raises(WhorlError, match="'n' is too large"):
        model_of(tmp_path, {"A": node(counter, {"o": "p"})}, conditions=conditions).simulate(1)


@pytest.mark.parametrize("passed", [{"dt": float("nan")}, {"dt": "abc"}, {"seed": "a"}, {"seed": 2**70}])
def test_arguments_that_are_no_numbers_are_refused(tmp_path, passed):
    with pytest.raises(WhorlError, match=next(iter(passed))):
        model_of(tmp_path, RNN).simulate(1, **passed)
