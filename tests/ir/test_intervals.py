"""Intervals: constants, unions, ranges of element types, and results that wrap or round."""

import math
import operator

import numpy as np

from whorl.ir.dtypes import BOOL, FLOAT32, INT32, INT64, STRING
from whorl.ir.intervals import TRUTH, Interval, corners, of_array, truth, union, whole, within

INT8 = np.dtype(np.int8)


def test_element_type_bounds_its_numbers_and_text_has_no_order():
    assert whole(BOOL) == TRUTH
    assert whole(INT32) == Interval(-(2**31), 2**31 - 1)
    assert whole(FLOAT32) == Interval(-math.inf, math.inf, True)
    assert whole(STRING) is None


def test_constant_has_its_extremes_and_whether_one_is_nan():
    assert of_array(np.array([3, -1], np.int64)) == Interval(-1, 3)
    assert of_array(np.array([0.5, np.nan], np.float32)) == Interval(0.5, 0.5, True)
    assert of_array(np.zeros(0, np.float32)) is None


def test_union_covers_all_and_keeps_a_common_symbolic_limit():
    assert union((Interval(0, 1), Interval(5, 6, True))) == Interval(0, 6, True)
    assert union((Interval(0, 1, below=8), Interval(2, 3, below=8))) == Interval(0, 3, below=8)
    assert union((Interval(0, 1, below=8), Interval(2, 3))) == Interval(0, 3)
    assert union((Interval(0, 1), None)) is None and union(()) is None


def test_integers_that_may_wrap_have_the_range_of_their_type():
    assert within(Interval(0, 127), INT8) == Interval(0, 127)
    assert within(Interval(0, 128), INT8) == Interval(-128, 127)
    assert corners(operator.add, (Interval(100, 100), Interval(0, 28)), INT8) == Interval(-128, 127)
    assert corners(operator.mul, (Interval(-2, 3), Interval(-5, 7)), INT64) == Interval(-15, 21)


def test_float_ends_are_rounded_as_the_elements_are():
    result = corners(operator.add, (Interval(1.0, 1.0), Interval(1e-9, 1e-9)), FLOAT32)
    assert result == Interval(1.0, 1.0)
    assert corners(operator.add, (Interval(0.0, math.inf), Interval(0.0, 1.0)), FLOAT32) == whole(FLOAT32)


def test_float_zero_may_have_a_sign_and_an_integer_zero_has_none():
    assert Interval(0, 3).has_no_sign and not Interval(0.0, 3.0).has_no_sign
    assert Interval(0.5, 3.0).has_no_sign and not Interval(0.5, 3.0, True).has_no_sign


def test_truth_of_an_undecided_answer_is_either():
    assert truth(None) == TRUTH and truth(True) == Interval(1, 1) and truth(False) == Interval(0, 0)
