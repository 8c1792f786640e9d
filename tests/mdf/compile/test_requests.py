"""Models over time: compiled runs are those of the interpreter, in one part or two, for one set or many at once."""

import numpy as np
import pytest
from mdf.models import LINKS, NETWORK, OSCILLATOR, SPIKING, model, node
from msgspec.structs import replace

from whorl.mdf.engine.interpret import interpreted

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


def same(actual, expected):
    assert list(actual) == list(expected)
    for name in expected:
        np.testing.assert_allclose(actual[name], expected[name], rtol=1e-12, atol=0, err_msg=name)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("steps", [0, 1, 2, 25])
def test_compiled_run_gives_what_the_interpreter_gives(name, steps, each_backend):
    tested = MODELS[name]
    assert tested.explain() == "compiled"
    tested = type(tested)(tested.document, inputs=tested.inputs)
    same(tested.simulate(steps, 0.1), by_interpreter(tested, steps, 0.1))


@pytest.mark.parametrize("name", ["oscillator", "spiking"])
def test_elementwise_model_is_equal_in_every_bit(name):
    actual, expected = MODELS[name].simulate(500, 0.05), by_interpreter(MODELS[name], 500, 0.05)
    for each in expected:
        np.testing.assert_array_equal(actual[each], expected[each])


@pytest.mark.parametrize("name", MODELS)
def test_every_set_of_a_batch_runs_as_it_does_alone(name):
    sets = {"oscillator": {"FN.I": [0.1, 0.6]}, "spiking": {"cell.v": [[-60, -60], [-70, -40]]}}
    batch = sets.get(name, 2)
    actual = MODELS[name].simulate(9, 0.1, batch=batch)
    for number in range(2):
        initial = {key: values[number] for key, values in batch.items()} if isinstance(batch, dict) else {}
        alone = MODELS[name].simulate(9, 0.1, initial=initial)
        for each in alone:
            if name != "random" or number == 0:
                np.testing.assert_allclose(actual[each][number], alone[each], rtol=ROUNDING)
            else:
                assert not np.allclose(actual[each][number], alone[each])


def test_batch_goes_on_from_its_state():
    batch = {"FN.I": np.linspace(0, 1, 3)}
    whole = MODELS["oscillator"].simulate(8, 0.1, batch=batch)["FN.V"]
    first = MODELS["oscillator"].simulate(3, 0.1, batch=batch)
    second = MODELS["oscillator"].simulate(5, 0.1, state=first.state)
    np.testing.assert_array_equal(np.concatenate([first["FN.V"], second["FN.V"]], axis=1), whole)


@pytest.mark.parametrize("name", ["oscillator", "spiking", "random"])
def test_batches_of_all_lengths_are_one_program_and_its_sets_have_the_same_bits(name):
    tested = type(MODELS[name])(MODELS[name].document)
    rows = {"oscillator": {"FN.I": np.linspace(0, 1, 67)}, "spiking": {"cell.v": np.linspace([-70, -40], -60, 67)}}
    whole = tested.simulate(9, 0.1, batch=rows.get(name, 67))
    for count in (1, 2, 13, 64):
        batch = {key: values[:count] for key, values in rows[name].items()} if name in rows else count
        part = tested.simulate(9, 0.1, batch=batch)
        for each in whole:
            np.testing.assert_array_equal(part[each], whole[each][:count])
    assert len(tested._compiler._programs) == 1


def test_batch_of_one_goes_on_from_its_state():
    batch = {"FN.I": [0.7]}
    whole = MODELS["oscillator"].simulate(8, 0.1, batch=batch)["FN.V"]
    first = MODELS["oscillator"].simulate(3, 0.1, batch=batch)
    second = MODELS["oscillator"].simulate(5, 0.1, state=first.state)
    np.testing.assert_array_equal(np.concatenate([first["FN.V"], second["FN.V"]], axis=1), whole)


def test_values_instead_of_the_file_are_of_states_parameters_and_free_ports():
    initial = {"FN.V": 2.0, "FN.I": 0.0, "FN.drive": 0.25}
    actual = MODELS["oscillator"].simulate(20, 0.1, initial=initial)
    same(actual, by_interpreter(MODELS["oscillator"], 20, 0.1, initial=initial))
    assert actual["FN.V"][0] == 2.0


@pytest.mark.parametrize("steps", [0, 2, 6])
def test_rows_go_into_a_port_one_an_evaluation(steps):
    tested, rows = MODELS["oscillator"], np.array([1.0, -2.0, 3.0])
    actual = tested.simulate(steps, 0.1, inputs={"FN.drive": rows})
    request = replace(tested._request(steps, 0.1, None, None, None, {}), series={tested.cell("FN.drive"): rows})
    same(actual, interpreted(tested.graph, request, tested.inputs))
    batch = tested.simulate(steps, 0.1, inputs={"FN.drive": rows}, batch=2)
    np.testing.assert_array_equal(batch["FN.V"][1], actual["FN.V"])
