"""Spikes and rates of recorded values."""

import numpy as np
import pytest
from mdf.models import SPIKING, model

from whorl.errors import RunError
from whorl.mdf.monitors import find_spikes

TIMES = np.arange(7) * 0.5
ROWS = np.array([[[0, 1], [1, 1], [0, 0], [3, 0], [3, 2], [0, 0], [2, np.nan]]], float)


def test_spike_is_where_a_line_between_two_rows_meets_the_threshold():
    spikes = find_spikes(TIMES, ROWS, 1.0)
    np.testing.assert_allclose(spikes.times, [0.5, 1 + 0.5 / 3, 1.75, 2.75])
    assert (spikes.cells.tolist(), spikes.sets.tolist(), len(spikes)) == ([0, 0, 1, 0], [0] * 4, 4)
    assert spikes.counts().tolist() == [[3, 1]]


def test_rates_are_spikes_by_time_and_windows_leave_out_the_rest():
    spikes = find_spikes(TIMES, ROWS, 1.0)
    np.testing.assert_allclose(spikes.rates(), [[1.0, 1 / 3]])
    np.testing.assert_allclose(spikes.rates(1.0), [[[1, 0]], [[1, 1]], [[1, 0]]])
    np.testing.assert_allclose(spikes.rates(1.25), [[[1.6, 0]], [[0, 0.8]]])


@pytest.mark.parametrize("width", [0.0, -1.0, 4.0])
def test_window_that_the_record_has_not_is_refused(width):
    with pytest.raises(RunError, match="and the record goes over 3"):
        find_spikes(TIMES, ROWS, 1.0).rates(width)


def test_record_of_one_row_has_no_spikes():
    spikes = find_spikes(TIMES[:1], ROWS[:, :1], 1.0)
    assert (len(spikes), spikes.rates().tolist()) == (0, [[0.0, 0.0]])


def test_infinite_row_is_a_spike_at_its_own_time():
    assert find_spikes(TIMES[:2], np.array([[[0.0], [np.inf]]]), 1.0).times.tolist() == [0.5]


def test_spikes_of_a_simulation_are_its_resets_in_a_batch_too():
    run = model(SPIKING).simulate(5000, 0.1, record=["cell.v"], batch=2)
    spikes = run.spikes("cell.v", above=35.0)
    resets = ((run["cell.v"][:, :-1] < 35) & (run["cell.v"][:, 1:] >= 35)).sum(axis=1)
    assert resets.min() > 1
    np.testing.assert_array_equal(spikes.counts(), resets)
    assert spikes.counts().shape == (2, 2)
