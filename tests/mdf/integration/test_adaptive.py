"""The integrator of scipy as an oracle."""

import numpy as np
import pytest
from mdf.models import model, node

from whorl.errors import RunError


def test_adaptive_step_of_any_length_meets_the_solution():
    decay = node(
        {"k": {"value": [1.0, 30.0]}, "x": {"default_initial_value": [2.0, 1.0], "time_derivative": "-k * x"}}, ("x",)
    )
    actual = model({"N": decay}, integrator="adaptive")
    assert actual.explain().startswith("interpreted: ")
    np.testing.assert_allclose(
        actual.simulate(2, 0.5)["N.x"][-1], [2 * np.exp(-1.0), np.exp(-30.0)], rtol=1e-8, atol=1e-10
    )


def test_solution_that_explodes_is_an_error_with_its_node():
    pole = node({"x": {"default_initial_value": 1.0, "time_derivative": "x * x"}}, ("x",))
    with pytest.raises(RunError) as caught:
        model({"N": pole}, integrator="adaptive").simulate(1, 2.0)
    assert "node 'N': the adaptive integrator gave up: " in str(caught.value)
    assert str(caught.value).endswith("fix: take shorter time steps")
