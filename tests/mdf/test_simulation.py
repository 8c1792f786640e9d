"""Results of simulations."""

import pytest
from mdf.compile.test_requests import MODELS


def test_result_becomes_a_dataset():
    pytest.importorskip("xarray", reason="xarray is not installed")
    actual = MODELS["spiking"].simulate(4, 0.1, batch=3).to_xarray()
    assert actual["cell.v"].dims == ("batch", "time", "cell.v.0") and actual.sizes["time"] == 5
