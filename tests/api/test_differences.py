"""How two results differ, in one line."""

import ml_dtypes
import numpy as np
import pytest

from whorl.api.differences import difference

F32 = np.float32


BIG = 1 << 62


def f32(*elements):
    return np.array(elements, F32)


def text(*elements):
    return np.array(elements, object)


@pytest.mark.parametrize(
    ("expected", "actual", "message"),
    [
        (f32(1, 2), f32(1, 2), ""),
        (f32(np.nan, np.inf), f32(np.nan, np.inf), ""),
        (f32(1, 2), f32(1, 3), "1 of 2 elements differ, first at [1]: 3.0 instead of 2.0"),
        (np.ones((), F32), np.zeros((), F32), "1 of 1 elements differ, first at []: 0.0 instead of 1.0"),
        (f32(1), f32(1, 2), "float32[2] instead of float32[1]"),
        (f32(1), np.array([1.0]), "float64[1] instead of float32[1]"),
        (f32(1), None, "None instead of float32[1]"),
        (f32(), f32(), ""),
        (np.array([BIG]), np.array([BIG + 1]), f"1 of 1 elements differ, first at [0]: {BIG + 1} instead of {BIG}"),
        (text("a", "b"), text("a", "c"), "1 of 2 elements differ, first at [1]: c instead of b"),
        (np.array([1j]), np.array([2j]), "1 of 1 elements differ, first at [0]: 2j instead of 1j"),
        ([f32(1), f32(2)], [f32(1), f32(3)], "item 1: 1 of 1 elements differ, first at [0]: 3.0 instead of 2.0"),
        ([f32(1)], [], "0 items instead of 1"),
        ([], f32(), "float32[0] instead of []"),
        ({"a": 0.5}, {"a": 0.25}, "item 'a': 1 of 1 elements differ, first at []: 0.25 instead of 0.5"),
        ({1: 0.5}, {2: 0.5}, "keys [2] instead of [1]"),
        ([{"a": 0.5}], [{"a": F32(0.5)}], ""),
        (None, None, ""),
    ],
)  # fmt: skip
def test_difference_is_stated_in_one_line(expected, actual, message):
    assert difference(expected, actual) == message


def test_tolerances_are_relative_to_the_expected_value():
    assert difference(f32(100), f32(101), rtol=0.02) == ""
    assert difference(f32(100), f32(101), atol=0.5) != ""
    assert difference({"a": 1.0}, {"a": 1.001}, rtol=0.01) == ""
    half = np.array([1], ml_dtypes.bfloat16)
    assert difference(half, half + half, rtol=0.1).startswith("1 of 1 elements differ, first at [0]: 2 instead of 1")


def test_signaling_nan_of_another_engine_is_compared_without_a_warning():
    bits = np.array([0x7FA00000, 0], np.uint32).view(np.float32)
    assert "1 of 2 elements differ" in difference(np.zeros(2, np.float32), bits)
    assert difference(bits, bits) == ""
