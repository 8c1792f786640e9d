"""Results of simulations."""

import numpy as np
import pytest
from mdf.compile.test_requests import MODELS

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
