"""Programs of a graph over time: evaluations before the loop, the loop, and the end of a run."""

import numpy as np
import pytest
from mdf.compile.test_requests import MODELS, ROUNDING
from mdf.models import model, node

from whorl.errors import RunError


@pytest.mark.parametrize("name", MODELS)
def test_run_in_two_parts_gives_the_rows_of_one(name):
    whole = MODELS[name].simulate(12, 0.1)
    first = MODELS[name].simulate(5, 0.1)
    second = MODELS[name].simulate(7, 0.1, state=first.state)
    assert len(second.times) == 7
    np.testing.assert_allclose([*first.times, *second.times], whole.times)
    for each in whole:
        np.testing.assert_allclose(np.concatenate([first[each], second[each]]), whole[each], rtol=ROUNDING)


def test_shape_that_changes_at_first_is_compiled_once_it_remains():
    grows = {"N": node({"x": {"default_initial_value": 1, "value": "x + numpy.ones(3)"}}, ("x",))}
    actual = model(grows)
    assert actual.explain() == "compiled"
    np.testing.assert_array_equal(actual.simulate(2)["N.x"], np.array([[2, 2, 2], [3, 3, 3], [4, 4, 4.0]]))


def test_index_that_ends_with_the_run_is_no_failure_after_it():
    parameters = {
        "table": {"value": [1.0, 2.0, 4.0, 8.0]},
        "n": {"default_initial_value": -1, "value": "n + 1"},
        "x": {"value": "table[n]"},
    }
    actual = model({"N": node(parameters, ("x",))})
    assert actual.explain() == "compiled"
    np.testing.assert_array_equal(actual.simulate(3)["N.x"], [1, 2, 4, 8])
    with pytest.raises(RunError, match="index 4 is outside"):
        actual.simulate(4)
