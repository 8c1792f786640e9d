"""The comparison of outputs: element type, shape, every element; NaN equals NaN, -0 is not 0."""

import numpy as np
import pytest

from whorl.conformance.compare import brief, difference


def f32(elements):
    return np.array(elements, np.float32)


def i64(elements):
    return np.array(elements, np.int64)


def strings(elements):
    return np.array(elements, object)


@pytest.mark.parametrize(
    ("expected", "got", "text"),
    [
        ([f32([1, np.nan])], [f32([1, np.nan])], ""),
        ([f32(1)], [np.array(1, np.float64)], "output 0: dtype float64, expected float32"),
        ([f32([1])], [f32(1)], "output 0: shape [], expected [1]"),
        ([f32(0.0)], [f32(-0.0)], "output 0: -0., expected 0."),
        ([i64(1), i64(2)], [i64(1), i64(3)], "output 1: 3, expected 2"),
        ([i64(1)], [], "0 outputs, expected 1"),
        ([None], [None], ""),
        ([None], [i64(1)], "output 0: 1, expected None"),
        ([[i64(1)]], [[i64(1), i64(2)]], "output 0: 2 items, expected 1"),
        ([[i64(1), i64(2)]], [[i64(1), i64(3)]], "output 0: item 1: 3, expected 2"),
        ([i64([1])], [[i64(1)]], "output 0: a sequence of 1, expected [1]"),
        ([strings(["a", "b"])], [np.array(["a", "b"])], ""),
        ([strings("a")], [strings("b")], "output 0: 'b', expected 'a'"),
    ],
)
def test_difference_is_described(expected, got, text):
    assert difference(expected, got) == text


def test_difference_within_tolerance_is_none():
    assert difference([f32(1)], [f32(1.00001)], 1e-4) == ""
    assert difference([f32(1)], [f32(1.00001)]) != ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        ([i64(1), i64(2)], "a sequence of 2"),
        (f32([[1, 2]]), "[[1. 2.]]"),
        (i64(range(100)), "[ 0 1 2 ... 97 98 99]"),
    ],
)
def test_brief_is_one_short_line(value, text):
    assert brief(value) == text
