"""Distributions have their moments, and refuse arguments of others."""

import numpy as np
import pytest
from mdf.random.test_draws import drawing

from whorl.errors import RunError
from whorl.mdf.random.distributions import draw_of


@pytest.mark.parametrize(
    ("text", "mean", "deviation"),
    [
        ("numpy.random.random()", 0.5, 12**-0.5),
        ("numpy.random.uniform(-1, 3)", 1, 4 * 12**-0.5),
        ("numpy.random.normal(loc=2, scale=3)", 2, 3),
        ("numpy.random.randn(2, 2)", 0, 1),
        ("numpy.random.exponential(2.0)", 2, 2),
        ("numpy.random.logistic(1, 2)", 1, 2 * np.pi / 3**0.5),
        ("numpy.random.gumbel(0, 1)", np.euler_gamma, np.pi / 6**0.5),
        ("numpy.random.laplace(0, 1)", 0, 2**0.5),
        ("numpy.random.rayleigh(1)", (np.pi / 2) ** 0.5, (2 - np.pi / 2) ** 0.5),
        ("numpy.random.randint(0, 7)", 3, 2),
    ],
)
def test_distribution_has_its_mean_and_deviation(text, mean, deviation):
    rows = drawing(text).simulate(40_000, record=["N.p0"])["N.p0"].reshape(40_001, -1)[:, 0]
    assert abs(rows.mean() - mean) < 5 * deviation / 200
    assert abs(rows.std() - deviation) < 0.05 * deviation
    assert abs(np.corrcoef(rows[:-1], rows[1:])[0, 1]) < 0.03


def test_draw_refuses_arguments_that_it_does_not_know():
    with pytest.raises(RunError, match="has no argument sigma"):
        draw_of("normal", (), {"sigma": 1})
