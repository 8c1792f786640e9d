"""What `whorl.load` gives of an MDF file: requests are checked, and models travel."""

import pickle

import numpy as np
import pytest
from mdf.compile.test_requests import MODELS

from whorl.errors import RunError


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


def test_computed_values_are_not_passed():
    with pytest.raises(RunError, match=r"parameter 'sum.y' is computed"):
        MODELS["network"].simulate(initial={"sum.y": 1.0})
    with pytest.raises(RunError, match=r"input port 'net.input' has an edge"):
        MODELS["network"].simulate(initial={"net.input": 1.0})


def test_model_travels_by_pickle():
    again = pickle.loads(pickle.dumps(MODELS["spiking"]))
    np.testing.assert_array_equal(again.simulate(5, 0.1)["cell.v"], MODELS["spiking"].simulate(5, 0.1)["cell.v"])


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
