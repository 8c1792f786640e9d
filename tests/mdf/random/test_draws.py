"""Random numbers: the published generator, equal however a model runs, of the right distribution, or replayed."""

import numpy as np
import pytest
from mdf.models import model, node

from whorl.errors import RunError


def drawing(*texts):
    parameters = {f"p{n}": {"value": text} for n, text in enumerate(texts)}
    return model({"N": node(parameters, parameters)})


def test_draws_differ_by_location_and_by_seed_and_repeat_with_both():
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
