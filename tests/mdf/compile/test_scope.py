"""Regions while they are written: captured values, constants, and shapes that must be known."""

import numpy as np
import pytest

from whorl.errors import UnsupportedError
from whorl.ir.dtypes import BOOL, FLOAT64, INT64
from whorl.ir.graph import Region
from whorl.ir.infer import Inference
from whorl.ir.types import UNRANKED, TensorType
from whorl.mdf.compile.scope import Scope, as_number, is_same, known_shape


def test_value_of_an_outer_region_is_captured_once():
    outer = Scope(Region("main"), Inference())
    x = outer.argument("x", TensorType(FLOAT64, (2,)))
    inner = outer.inner("body")
    first, second = inner.value(x), inner.value(x)
    assert first is second and inner.captured == [x.value] and first in inner.region.arguments


def test_equal_constants_are_one_value_and_have_the_axis_of_the_batch():
    scope = Scope(Region("main"), Inference(), batched=True)
    assert scope.value(2.0) is scope.value(2)
    assert scope.traced(scope.value([1, 2])).type.shape == (2, 1)


def test_truth_and_whole_numbers_stay_what_they_are():
    scope = Scope(Region("main"), Inference())
    assert scope.traced(scope.value(True)).type.dtype == BOOL
    assert scope.traced(scope.value(3, whole=True)).type.dtype == INT64
    assert scope.traced(scope.floats(True)).type.dtype == FLOAT64


@pytest.mark.parametrize("datum", ["text", [[1], [1, 2]], None, {"k": 1}])
def test_datum_that_is_no_array_of_numbers_is_refused(datum):
    with pytest.raises(UnsupportedError, match="is no array of numbers"):
        as_number(datum)


def test_values_are_the_same_in_shape_and_in_every_number():
    assert is_same(np.array([1.0, np.nan]), np.array([1.0, np.nan])) and is_same(2, 2.0)
    assert not is_same(np.ones(2), np.ones((2, 1))) and not is_same(1, None) and not is_same(True, 1)


def test_shape_of_the_run_is_not_known():
    with pytest.raises(UnsupportedError, match="of a shape that only the run knows"):
        known_shape(TensorType(FLOAT64, UNRANKED))
