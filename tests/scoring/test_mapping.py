"""Which columns feed which inputs."""

import numpy as np
import pyarrow as pa
import pytest
from scoring.models import HALVES, PERCEPTRON, table

from whorl.api.models import load_module
from whorl.errors import RunError
from whorl.scoring.mapping import map_columns

SCHEMA = table(1).schema
FLAT = pa.schema([(name, pa.float64()) for name in "abcd"])


def refusal(module, schema, columns=None, shared=None):
    with pytest.raises(RunError) as error:
        map_columns(load_module(module), schema, columns, shared)
    return str(error.value)


def test_columns_feed_inputs_of_their_name():
    feeding = map_columns(load_module(PERCEPTRON), SCHEMA, None, None)
    (bound,) = feeding.bound
    assert (bound.name, bound.columns, bound.rank, bound.has_axis) == ("x", ("x",), 1, True)
    assert feeding.columns == ["x"]


def test_several_columns_lie_side_by_side():
    (bound,) = map_columns(load_module(PERCEPTRON), FLAT, {"x": list("abcd")}, None).bound
    assert bound.is_stacked and bound.rank == 1


def test_shared_value_is_converted():
    feeding = map_columns(load_module(HALVES), FLAT, {"x": "a"}, {"count": 3})
    assert feeding.shared["count"].dtype == np.int64 and [each.name for each in feeding.bound] == ["x"]


def test_input_without_a_column_is_refused():
    assert refusal(PERCEPTRON, FLAT) == (
        "no column is called as input 'x' (float32[n, 4])\n"
        "  fix: map it to a column (a, b, c, d), or give one value for all rows"
    )


def test_unknown_input_is_refused():
    assert refusal(PERCEPTRON, SCHEMA, {"q": "x"}) == "the model has no input 'q'\n  fix: choose from x"


def test_unknown_column_is_refused():
    assert refusal(PERCEPTRON, SCHEMA, {"x": "q"}) == "there is no column 'q' for input 'x'\n  fix: columns: x, id"


def test_lists_beside_others_are_refused():
    assert refusal(PERCEPTRON, SCHEMA, {"x": ["x", "id"]}) == (
        "column 'x' has lists, and input 'x' joins columns of numbers\n  fix: map it alone"
    )


def test_row_of_another_rank_is_refused():
    assert refusal(PERCEPTRON, SCHEMA, {"x": "id"}) == (
        "a row for input 'x' has 0 axes, and the input is float32[n, 4]\n"
        "  fix: give rows of 2 axes, or 1 where one is for rows"
    )


def test_model_that_no_column_feeds_is_refused():
    assert refusal(HALVES, SCHEMA, None, {"x": 1.0, "count": 1}) == (
        "no input takes a column\n  fix: map one of x, count to a column"
    )
