"""MDF models simulated for many points at once."""

import numpy as np
import pyarrow as pa
import pytest
from mdf.models import OSCILLATOR, model
from msgspec.structs import replace

from whorl.errors import RunError
from whorl.scoring.simulations import simulation_scorer

POINTS = pa.table({"FN.I": [0.0, 0.5, 1.0], "FN.V": [-1.0, 0.0, 1.0]})


def scorer(table=POINTS, **options):
    return replace(simulation_scorer(model(OSCILLATOR), table, 20, 0.1, None, **options), batch=2)


def test_points_have_the_values_that_they_have_alone():
    actual = scorer().score(POINTS)
    for row in actual.to_pylist():
        alone = model(OSCILLATOR).simulate(20, 0.1, initial={"FN.I": row["FN.I"], "FN.V": row["FN.V"]})
        np.testing.assert_array_equal(row["FN.V.recorded"], alone["FN.V"])
        np.testing.assert_array_equal(row["FN.W"], alone["FN.W"])
    assert actual.column_names == ["FN.I", "FN.V", "FN.V.recorded", "FN.W", "error"]


def test_last_values_are_numbers():
    whole, last = scorer().score(POINTS), scorer(last=True).score(POINTS)
    assert last["FN.V.last"].to_pylist() == [rows[-1] for rows in whole["FN.V.recorded"].to_pylist()]


def test_value_for_all_points_is_shared():
    shared = scorer(POINTS.select(["FN.V"]), initial={"FN.I": 1.0}, last=True).score(POINTS.select(["FN.V"]))
    assert shared["FN.W"][2] == scorer(last=True).score(POINTS)["FN.W"][2]


def test_point_that_fails_has_an_error_and_the_others_results():
    points = pa.table({"FN.I": [0, None, 1]})
    actual = scorer(points, last=True).score(points)
    assert actual["error"].to_pylist() == [None, "column 'FN.I' has no value", None]
    assert actual["FN.W"].null_count == 1


def test_unknown_name_is_refused():
    with pytest.raises(RunError) as error:
        scorer(pa.table({"FN.J": [1.0]}))
    assert error.value.message == "the model has no 'FN.J'"


def test_sweep_without_points_is_refused():
    with pytest.raises(RunError) as error:
        scorer(POINTS.slice(0, 0))
    assert str(error.value) == "a sweep needs points"
