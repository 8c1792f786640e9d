"""Tables computed: rows of several shapes, rows that fail, and columns that are copied."""

import numpy as np
import pyarrow as pa
import pytest
from scoring.models import PERCEPTRON, ROOTS, numbers, table, tensors

from whorl.api.models import load_module
from whorl.api.options import SessionOptions
from whorl.api.session import InferenceSession
from whorl.errors import RunError
from whorl.scoring.preparing import Settings, prepare_scorer

RAGGED = pa.table(
    {
        "x": pa.array([[1, 2], [3], [4, 5], [], [6], [7, 8]], pa.list_(pa.float64())),
        "k": [1, 0, 0, 0, 3, 1],
    }
)
"""Rows 3 and 4 ask for an element that is not there."""


def scorer(model, rows, **settings):
    return prepare_scorer(load_module(model), rows.schema, rows, Settings(**settings), SessionOptions())


def test_results_equal_a_session():
    rows = table(1000)
    actual = scorer(PERCEPTRON, rows, keep=["id"], batch=64).score(rows)
    y, z = InferenceSession(PERCEPTRON).run(None, {"x": numbers(1000)})
    np.testing.assert_allclose(tensors(actual["y"]), y, rtol=1e-6)
    np.testing.assert_allclose(actual["z"].to_numpy(), z, rtol=1e-5)
    assert actual.column_names == ["id", "y", "z"] and actual["id"] == rows["id"]


def test_rows_of_several_lengths_keep_their_order():
    rows = RAGGED.filter(pa.array([True, True, True, False, False, True]))
    assert scorer(ROOTS, rows).score(rows)["y"].to_pylist() == [2, 3, 4, 8]


def test_rows_that_fail_have_an_error_and_the_others_results():
    actual = scorer(ROOTS, RAGGED, on_error="null").score(RAGGED)
    assert actual["y"].to_pylist() == [2, 3, 4, None, None, 8]
    assert [error is None for error in actual["error"].to_pylist()] == [True, True, True, False, False, True]


def test_row_that_fails_is_named():
    with pytest.raises(RunError) as error:
        scorer(ROOTS, RAGGED).score(RAGGED, "'rows.csv'", 100)
    assert error.value.where in ("row 103 of 'rows.csv'", "row 104 of 'rows.csv'")
    assert error.value.fix == "mend the row, or let failed rows have an error instead of results (on_error null)"


def test_missing_value_is_named():
    rows = pa.table({"x": pa.array([[1, 2, 3, 4], None], pa.list_(pa.float32()))})
    with pytest.raises(RunError) as error:
        scorer(PERCEPTRON, rows).score(rows)
    assert str(error.value) == (
        "row 1 of the table: column 'x' has no value\n"
        "  fix: mend the row, or let failed rows have an error instead of results (on_error null)"
    )


def test_table_without_rows_has_the_columns():
    actual = scorer(PERCEPTRON, table(4), on_error="null").score(table(0))
    assert actual.num_rows == 0 and actual.column_names == ["y", "z", "error"]


def test_batch_over_the_memory_limit_is_halved():
    rows = table(4096)
    actual = scorer(PERCEPTRON, rows, batch=4096, max_memory=50_000).score(rows)
    np.testing.assert_allclose(actual["z"].to_numpy(), numbers(4096).sum(1), rtol=1e-4, atol=1e-5)


def test_large_results_of_runs_are_chunks_and_small_ones_are_copied():
    rows = table(2 * 8192)
    actual = scorer(PERCEPTRON, rows, batch=8192).score(rows)
    y, _ = InferenceSession(PERCEPTRON).run(None, {"x": numbers(2 * 8192)})
    assert (actual["y"].num_chunks, actual["z"].num_chunks) == (2, 1)
    np.testing.assert_allclose(tensors(actual["y"]), y, rtol=1e-6)
    assert scorer(PERCEPTRON, rows, batch=64).score(rows)["y"].num_chunks == 1
