"""Random numbers: the published generator, equal however a model runs, of the right distribution, or replayed."""

import numpy as np
import pytest
from mdf.models import model, node

from whorl.errors import RunError
from whorl.mdf.random.distributions import draw_of
from whorl.mdf.random.philox import WORD, OnArrays, philox

VECTORS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((WORD,) * 4, (WORD, WORD), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
"""Counter, key and result. Source: the known answers of Random123."""


def drawing(*texts):
    parameters = {f"p{n}": {"value": text} for n, text in enumerate(texts)}
    return model({"N": node(parameters, parameters)})


@pytest.mark.parametrize(("counter", "key", "expected"), VECTORS)
def test_generator_gives_the_published_words(counter, key, expected):
    k = OnArrays()
    words = philox(k, [k.number(word) for word in counter], [k.number(word) for word in key])
    assert tuple(map(int, words)) == expected


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


def test_draws_differ_by_place_and_by_seed_and_repeat_with_both():
    tested = drawing("numpy.random.random() + 2 * numpy.random.random()", "numpy.random.random()")
    first, again, other = (tested.simulate(50, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first["N.p0"], again["N.p0"])
    assert not np.isclose(first["N.p1"], other["N.p1"]).any()
    assert abs(np.corrcoef(first["N.p0"], first["N.p1"])[0, 1]) < 0.5


def test_replayed_numbers_stand_for_draws():
    numbers = np.array([3.0, 1.0, 2.0])
    tested = drawing("10 * numpy.random.random()")
    np.testing.assert_array_equal(tested.simulate(2, replay={"N.p0": numbers})["N.p0"], 10 * numbers)
    with pytest.raises(RunError, match=r"replay\['N.p0'\] has 3 rows, expected 4"):
        tested.simulate(3, replay={"N.p0": numbers})


def test_draw_refuses_arguments_that_it_does_not_know():
    with pytest.raises(RunError, match="has no argument sigma"):
        draw_of("normal", (), {"sigma": 1})
