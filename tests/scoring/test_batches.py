"""How many rows a run has, and whether they may share it."""

import pytest
from scoring.models import HALVES, PERCEPTRON, RANKS, table

from whorl.api.models import load_module
from whorl.api.options import SessionOptions
from whorl.errors import RunError
from whorl.scoring.batches import LARGEST, SMALLEST
from whorl.scoring.jobs import Settings, prepare_scorer


def scorer(model, rows, **settings):
    return prepare_scorer(load_module(model), rows.schema, rows, Settings(**settings), SessionOptions())


def test_batch_is_measured():
    assert SMALLEST <= scorer(PERCEPTRON, table(20_000)).batch <= LARGEST


def test_batch_is_as_small_as_the_memory_limit_makes_it():
    assert scorer(PERCEPTRON, table(20_000), max_memory=20_000).batch <= 1024


def test_rows_that_meet_are_computed_alone():
    rows = table(10).append_column("y", table(10)["id"])
    chosen = scorer(RANKS, rows, columns={"x": "id"})
    assert chosen.layout.kind == "vmap"
    assert chosen.score(rows.slice(1))["y"].to_pylist() == [1.0] * 9


def test_one_row_a_run_needs_no_axis():
    assert scorer(PERCEPTRON, table(10), batch=1).layout.kind == "rows"


def test_table_without_rows_has_a_batch():
    rows = table(0).append_column("count", [[]])
    assert scorer(HALVES, rows, columns={"x": "id", "count": "id"}).batch == SMALLEST


def test_batch_of_another_length_than_the_model_has_is_refused():
    with pytest.raises(RunError) as error:
        scorer(PERCEPTRON, table(10), batch=0)
    assert str(error.value) == "batch is 0, and the model computes one or more rows\n  fix: leave it out"
