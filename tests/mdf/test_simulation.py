"""Results of simulations."""

import pytest
from mdf.compile.test_requests import MODELS


def test_result_becomes_a_dataset():
    pytest.importorskip("xarray", reason="xarray is not installed")
    found = MODELS["spiking"].simulate(4, 0.1, batch=3).to_xarray()
    assert found["cell.v"].dims == ("batch", "time", "cell.v.0") and found.sizes["time"] == 5
