"""Models over time: compiled runs are those of the interpreter, in one part or two, for one set or many at once."""

import pickle
import time
from dataclasses import replace

import numpy as np
import pytest
from mdf.models import LINKS, NETWORK, OSCILLATOR, SPIKING, model, node

from whorl.errors import IterationLimitError, RunError, UnsupportedError
from whorl.mdf.engine.interpret import interpreted
from whorl.runtime.limits import Limits

EVERY_SECOND = {"node_specific": {"slow": {"type": "EveryNCalls", "kwargs": {"dependency": "fast", "n": 2}}}}
COUNTERS = {
    "fast": node({"n": {"default_initial_value": 0, "value": "n + 1"}}, ("n",)),
    "slow": node({"m": {"default_initial_value": 0, "value": "m + seen"}}, ("m",), {"seen": {}}),
}
AFTER_TWO = {
    "node_specific": {"slow": {"type": "AfterNEnvironmentStateUpdates", "kwargs": {"n": 2}}},
    "termination": {"environment_state_update": {"type": "AfterNCalls", "kwargs": {"dependency": "fast", "n": 1}}},
}
ROUNDING = 1e-13
"""Sums of products, logarithms and cosines may round otherwise in another program."""
MODELS = {
    "oscillator": model(OSCILLATOR),
    "spiking": model(SPIKING),
    "network": model(NETWORK, LINKS),
    "kept inputs": model(NETWORK, LINKS, inputs="0.4.13"),
    "scheduled": model(COUNTERS, ["fast.n -> slow.seen"], EVERY_SECOND),
    "late": model(COUNTERS, ["fast.n -> slow.seen"], AFTER_TWO),
    "random": model({"N": node({"x": {"value": "numpy.random.normal(1, 2, size=(2,))"}}, ("x",))}),
    "growing type": model({"N": node({"x": {"default_initial_value": 8, "value": "x / 2"}}, ("x",))}),
}


def by_interpreter(model, steps, dt, **options):
    request = model._request(steps, dt, None, options.get("batch"), None, options.get("initial", {}))
    return interpreted(model.graph, request, model.inputs)


def same(found, expected):
    assert list(found) == list(expected)
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, atol=0, err_msg=name)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("steps", [0, 1, 2, 25])
def test_compiled_run_gives_what_the_interpreter_gives(name, steps, each_backend):
    tested = MODELS[name]
    assert tested.explain() == "compiled"
    tested = type(tested)(tested.document, inputs=tested.inputs)
    same(tested.simulate(steps, 0.1), by_interpreter(tested, steps, 0.1))


@pytest.mark.parametrize("name", ["oscillator", "spiking"])
def test_elementwise_model_is_equal_in_every_bit(name):
    found, expected = MODELS[name].simulate(500, 0.05), by_interpreter(MODELS[name], 500, 0.05)
    for each in expected:
        np.testing.assert_array_equal(found[each], expected[each])


@pytest.mark.parametrize("name", MODELS)
def test_run_in_two_parts_gives_the_rows_of_one(name):
    whole = MODELS[name].simulate(12, 0.1)
    first = MODELS[name].simulate(5, 0.1)
    second = MODELS[name].simulate(7, 0.1, state=first.state)
    assert len(second.times) == 7
    np.testing.assert_allclose([*first.times, *second.times], whole.times)
    for each in whole:
        np.testing.assert_allclose(np.concatenate([first[each], second[each]]), whole[each], rtol=ROUNDING)


@pytest.mark.parametrize("name", MODELS)
def test_every_set_of_a_batch_runs_as_it_does_alone(name):
    sets = {"oscillator": {"FN.I": [0.1, 0.6]}, "spiking": {"cell.v": [[-60, -60], [-70, -40]]}}
    batch = sets.get(name, 2)
    found = MODELS[name].simulate(9, 0.1, batch=batch)
    for number in range(2):
        initial = {key: values[number] for key, values in batch.items()} if isinstance(batch, dict) else {}
        alone = MODELS[name].simulate(9, 0.1, initial=initial)
        for each in alone:
            if name != "random" or number == 0:
                np.testing.assert_allclose(found[each][number], alone[each], rtol=ROUNDING)
            else:
                assert not np.allclose(found[each][number], alone[each])


def test_batch_goes_on_from_its_state():
    batch = {"FN.I": np.linspace(0, 1, 3)}
    whole = MODELS["oscillator"].simulate(8, 0.1, batch=batch)["FN.V"]
    first = MODELS["oscillator"].simulate(3, 0.1, batch=batch)
    second = MODELS["oscillator"].simulate(5, 0.1, state=first.state)
    np.testing.assert_array_equal(np.concatenate([first["FN.V"], second["FN.V"]], axis=1), whole)


def test_values_in_the_place_of_the_file_are_of_states_parameters_and_free_ports():
    initial = {"FN.V": 2.0, "FN.I": 0.0, "FN.drive": 0.25}
    found = MODELS["oscillator"].simulate(20, 0.1, initial=initial)
    same(found, by_interpreter(MODELS["oscillator"], 20, 0.1, initial=initial))
    assert found["FN.V"][0] == 2.0


def test_shape_that_changes_at_first_is_compiled_once_it_stays():
    grows = {"N": node({"x": {"default_initial_value": 1, "value": "x + numpy.ones(3)"}}, ("x",))}
    found = model(grows)
    assert found.explain() == "compiled"
    np.testing.assert_array_equal(found.simulate(2)["N.x"], np.array([[2, 2, 2], [3, 3, 3], [4, 4, 4.0]]))


def test_unconnected_port_of_too_many_zeros_is_not_compiled():
    found = model({"N": node({"y": {"value": "x * 2"}}, ("y",), {"x": {"shape": [5000, 5000]}})})
    assert found.explain() == ("interpreted: node 'N': input port 'x' is not connected and would hold 25000000 zeros")


def test_list_of_unequal_rows_is_no_array():
    found = model({"N": node({"a": {"function": "[[1], [1, 2]]"}, "y": {"value": "a"}}, ("y",))})
    assert found.explain() == (
        "interpreted: node 'N': '[[1], [1, 2]]' is no array: its rows have different lengths\n"
        "  fix: give all rows one length"
    )
    with pytest.raises(RunError, match="'y' of node 'N'"):
        found.simulate()


def test_loop_on_known_values_that_does_not_end_soon_is_left_to_the_run():
    step = {
        "input_ports": {"go": {}, "v": {}},
        "parameters": {"next": {"value": "v + 1"}},
        "output_ports": {"go_on": {"value": "go"}, "sum": {"value": "next"}},
    }
    body = {"nodes": {"step": step}, "edges": {}}
    body["metadata"] = {"onnx_inputs": ["i", "go", "v"], "onnx_outputs": ["go_on", "sum"]}
    parameters = {
        "body": {"value": {"body": body}},
        "loop": {"function": "onnx::Loop", "args": {"M": 10**15, "cond": 1, "v_initial": 0.0}},
    }
    found = model({"N": node(parameters, ("loop",))}, limits=Limits(max_iterations=50))
    began = time.process_time()
    found.explain()
    assert time.process_time() - began < 5
    with pytest.raises(IterationLimitError):
        found.simulate()


def test_what_cannot_be_compiled_is_interpreted_and_says_why():
    grows = {"N": node({"x": {"default_initial_value": [1], "value": "numpy.concatenate((x, x))"}}, ("x",))}
    found = model(grows)
    assert found.explain().startswith("interpreted: after 8 evaluations still: N.x has the shape")
    assert found.simulate(2, record=["N.x"]).state.done == 3
    with pytest.raises(UnsupportedError, match="evaluations still"):
        found.module()


def test_index_that_ends_with_the_run_is_no_failure_after_it():
    parameters = {
        "table": {"value": [1.0, 2.0, 4.0, 8.0]},
        "n": {"default_initial_value": -1, "value": "n + 1"},
        "x": {"value": "table[n]"},
    }
    found = model({"N": node(parameters, ("x",))})
    assert found.explain() == "compiled"
    np.testing.assert_array_equal(found.simulate(3)["N.x"], [1, 2, 4, 8])
    with pytest.raises(RunError, match="index 4 is outside"):
        found.simulate(4)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"record": ["FN.X"]}, "the model has no 'FN.X'"),
        ({"initial": {"FN.V": [1, 2]}}, r"initial\['FN.V'\] has the shape \[2\], expected \[\]"),
        ({"batch": 0}, "batch is 0"),
        ({"batch": {"FN.V": [1, 2], "FN.W": [1]}}, "the arrays of the batch have the lengths"),
        ({"steps": -1}, "steps is -1"),
    ],
)
def test_wrong_request_is_refused(options, problem):
    with pytest.raises(RunError, match=problem):
        MODELS["oscillator"].simulate(**options)


def test_computed_values_are_not_given():
    with pytest.raises(RunError, match=r"parameter 'sum.y' is computed"):
        MODELS["network"].simulate(initial={"sum.y": 1.0})
    with pytest.raises(RunError, match=r"input port 'net.input' has an edge"):
        MODELS["network"].simulate(initial={"net.input": 1.0})


def test_model_travels_by_pickle():
    again = pickle.loads(pickle.dumps(MODELS["spiking"]))
    np.testing.assert_array_equal(again.simulate(5, 0.1)["cell.v"], MODELS["spiking"].simulate(5, 0.1)["cell.v"])


def test_result_becomes_a_dataset():
    pytest.importorskip("xarray", reason="xarray is not installed")
    found = MODELS["spiking"].simulate(4, 0.1, batch=3).to_xarray()
    assert found["cell.v"].dims == ("batch", "time", "cell.v.0") and found.sizes["time"] == 5


@pytest.mark.parametrize("steps", [0, 2, 6])
def test_rows_go_into_a_port_one_an_evaluation(steps):
    tested, rows = MODELS["oscillator"], np.array([1.0, -2.0, 3.0])
    found = tested.simulate(steps, 0.1, inputs={"FN.drive": rows})
    request = replace(tested._request(steps, 0.1, None, None, None, {}), series={tested.cell("FN.drive"): rows})
    same(found, interpreted(tested.graph, request, tested.inputs))
    batch = tested.simulate(steps, 0.1, inputs={"FN.drive": rows}, batch=2)
    np.testing.assert_array_equal(batch["FN.V"][1], found["FN.V"])


def test_rows_are_of_unconnected_input_ports():
    with pytest.raises(RunError, match=r"inputs\['FN.V'\] needs rows for an input port"):
        MODELS["oscillator"].simulate(2, 0.1, inputs={"FN.V": [1.0]})


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"record": 5}, 'record is 5, expected a list of names such as "FN.V"'),
        ({"record": [5]}, r"record is \[5\], expected a list of names"),
        ({"initial": 5}, "initial is 5, expected a dictionary of values by name"),
        ({"state": 5}, "state is 5, expected the state of an earlier result"),
    ],
    ids=str,
)
def test_arguments_of_another_kind_are_refused(options, problem):
    with pytest.raises(RunError, match=problem):
        MODELS["oscillator"].simulate(1, 0.1, **options)
