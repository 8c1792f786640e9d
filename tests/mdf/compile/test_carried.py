"""Carried values have one type before and after an iteration."""

import numpy as np
import pytest

from whorl.ir.dtypes import BOOL, FLOAT64
from whorl.ir.graph import Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType, tensor
from whorl.mdf.compile.carried import ShapeChange, as_type, carried_type, differ_in_batch
from whorl.mdf.compile.scope import Scope
from whorl.mdf.variables import PARAMETER, Cell

X = Cell("N", PARAMETER, "x")


def test_two_element_types_become_float64():
    assert carried_type(X, True, False, None, False) == TensorType(BOOL, ())
    assert carried_type(X, True, 0.5, None, False) == TensorType(FLOAT64, ())


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [(None, 1.0, "N.x has no value at first"), (1.0, np.ones(3), r"N.x has the shape \[\], then \[3\]")],
)
def test_change_of_the_shape_asks_for_one_more_evaluation(before, after, message):
    with pytest.raises(ShapeChange, match=message):
        carried_type(X, before, after, None, False)


def test_value_that_is_equal_for_all_sets_at_first_may_differ_later():
    assert differ_in_batch((2, 1), (2, 5), True) and not differ_in_batch((2, 1), (3, 5), True)


def test_value_is_cast_and_expanded_to_its_type_once():
    scope = Scope(Region("main"), Inference(), batched=True)
    wide = TensorType(FLOAT64, (2, 5))
    value = as_type(scope, np.ones(2, bool), wide)
    assert tensor(value) == wide and as_type(scope, np.ones(2, bool), wide) is value
