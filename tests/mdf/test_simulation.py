"""Results of simulations."""

import numpy as np
import pytest
from mdf.compile.test_requests import MODELS
from mdf.models import model, node

from whorl.errors import RunError


def test_result_becomes_a_dataset():
    pytest.importorskip("xarray", reason="xarray is not installed")
    actual = MODELS["spiking"].simulate(4, 0.1, batch=3).to_xarray()
    assert actual["cell.v"].dims == ("batch", "time", "cell.v.0") and actual.sizes["time"] == 5


def test_result_becomes_a_frame_with_a_column_for_each_element():
    pytest.importorskip("pandas", reason="pandas is not installed")
    run = MODELS["spiking"].simulate(4, 0.1)
    frame = run.to_pandas()
    assert [*frame.columns] == ["cell.v[0]", "cell.v[1]", "cell.u[0]", "cell.u[1]"]
    np.testing.assert_array_equal(frame["cell.v[1]"], run["cell.v"][:, 1])
    np.testing.assert_array_equal(frame.index, run.times)


def test_batch_becomes_a_frame_by_set_and_time():
    pytest.importorskip("pandas", reason="pandas is not installed")
    run = MODELS["oscillator"].simulate(2, 0.5, record=["FN.V"], batch={"FN.I": [0.0, 1.0]})
    frame = run.to_pandas()
    assert frame.index.names == ["batch", "time"]
    np.testing.assert_array_equal(frame.loc[1]["FN.V"], run["FN.V"][1])


@pytest.mark.parametrize("batch", [None, 2])
def test_window_has_the_rows_between_two_times(batch):
    run = MODELS["spiking"].simulate(10, 0.1, batch=batch)
    part = run.window(0.3, 0.7)
    np.testing.assert_allclose(part.times, [0.3, 0.4, 0.5, 0.6, 0.7])
    rows = run["cell.v"][..., 3:8, :]
    np.testing.assert_array_equal(part["cell.v"], rows)
    np.testing.assert_array_equal(part.window(0.5)["cell.u"], run["cell.u"][..., 5:8, :])


def test_window_of_a_later_run_counts_from_its_own_rows():
    first = MODELS["spiking"].simulate(3, 0.5)
    later = MODELS["spiking"].simulate(3, 0.5, state=first.state)
    assert later.window(2.0, 2.5).times.tolist() == [2.0, 2.5]
    np.testing.assert_array_equal(later.window(2.5)["cell.v"], later["cell.v"][1:])


def test_window_without_rows_is_refused():
    with pytest.raises(RunError) as caught:
        MODELS["spiking"].simulate(2, 0.1).window(5.0)
    assert str(caught.value) == "no row is between 5.0 and inf\n  fix: rows are from 0.0 on"


SHIFTS = (
    "numpy.append(past[1:], x)",
    "numpy.hstack([past[1:], x])",
    "numpy.concatenate([past[1:], [x]])",
    "numpy.concatenate([numpy.roll(past, -1)[:-1], [x]])",
)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("delay", [0, 1, 4])
def test_delay_is_a_parameter_with_the_last_values(shift, delay):
    """x' = -x(t - delay dt): the past is as after the step before, so its last element is x as it is."""
    parameters = {
        "past": {"default_initial_value": [1.0] * (delay + 1), "value": shift},
        "x": {"default_initial_value": 1.0, "time_derivative": "-past[0]"},
    }
    delayed = model({"cell": node(parameters, ["x"])})
    assert delayed.explain() == "compiled"
    expected = [1.0] * (delay + 1)
    for _ in range(30):
        expected.append(expected[-1] + 0.25 * -expected[-1 - delay])
    actual = delayed.simulate(30, 0.25)["cell.x"]
    np.testing.assert_array_equal(actual, expected[delay:])
    sets = delayed.simulate(30, 0.25, batch={"cell.x": [1.0, 2.0]})["cell.x"]
    np.testing.assert_array_equal(sets[0], actual)


def test_delay_goes_on_where_a_run_ended():
    parameters = {
        "past": {"default_initial_value": [1.0, 1.0, 1.0], "value": "numpy.append(past[1:], x)"},
        "x": {"default_initial_value": 1.0, "time_derivative": "-past[0]"},
    }
    delayed = model({"cell": node(parameters, ["x"])})
    first = delayed.simulate(7, 0.25)
    rest = delayed.simulate(5, 0.25, state=first.state)
    np.testing.assert_array_equal(rest["cell.x"], delayed.simulate(12, 0.25)["cell.x"][8:])


def test_cells_have_delays_of_their_own():
    steps = [1, 3, 0]
    parameters = {
        "back": {"value": [[3 - delay for delay in steps]]},
        "past": {"default_initial_value": [[1.0, 2.0, 3.0]] * 4, "value": "numpy.concatenate([past[1:], [x]])"},
        "late": {"value": "numpy.take_along_axis(past, back, 0)[0]"},
        "x": {"default_initial_value": [1.0, 2.0, 3.0], "time_derivative": "-late"},
    }
    delayed = model({"cells": node(parameters, ["x"])})
    assert delayed.explain() == "compiled"
    expected = [np.array([1.0, 2.0, 3.0])] * 4
    for _ in range(20):
        late = np.array([expected[-1 - delay][cell] for cell, delay in enumerate(steps)])
        expected.append(expected[-1] + 0.25 * -late)
    np.testing.assert_array_equal(delayed.simulate(20, 0.25)["cells.x"], expected[3:])
