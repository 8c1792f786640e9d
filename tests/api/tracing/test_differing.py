"""Distances of values: tolerances by type, ulps, what has none."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from whorl.api.tracing.differing import DEFAULTS, measure


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (np.float32([1, np.nan]), np.float32([1.00001, np.nan])),
        (np.float32([0.0]), np.float32([-0.0])),
        (np.array(["a"], object), np.array(["a"], object)),
        ([np.zeros(2)], [np.zeros(2)]),
        (np.array(1), np.array(1)),
        (None, None),
    ],
)
def test_values_within_tolerance_do_not_differ(ours: object, theirs: object) -> None:
    assert measure(ours, theirs, DEFAULTS) is None


@pytest.mark.parametrize(
    ("ours", "theirs", "text"),
    [
        (np.array([1, 2]), np.array([1, 3]), "1 of 2 elements differ, first at [1]: 2 here, 3 there"),
        (np.zeros(2), np.zeros(3), "float64[2] here, float64[3] there"),
        ([np.zeros(2)], [], "1 items here, 0 there"),
        (np.array(["a"], object), np.array(["b"], object), "1 of 1 elements differ, first at [0]: a here, b there"),
        (None, np.zeros(1), "nothing here, the opposite there"),
    ],
)
def test_text_says_what_differs(ours: object, theirs: object, text: str) -> None:
    difference = measure(ours, theirs, DEFAULTS)
    assert difference is not None and difference.text == text


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_ulps_count_numbers_of_the_type(dtype: type) -> None:
    one = np.array([-1.0, 1.0]).astype(dtype)
    theirs = np.array([-1.0, 3.0]).astype(dtype)
    difference = measure(one, theirs, {})
    mantissa = {"float16": 10, "float32": 23, "float64": 52, "bfloat16": 7}[str(one.dtype)]
    assert difference is not None
    assert (difference.ulp, difference.max_abs, difference.max_rel) == (3 << (mantissa - 1), 2.0, 2.0)


def test_nan_against_a_number_has_no_distance() -> None:
    difference = measure(np.float32([np.nan]), np.float32([1]), DEFAULTS)
    assert difference is not None
    assert (difference.max_abs, difference.ulp) == (None, None)


def test_signaling_nan_differs_without_a_warning() -> None:
    signaling = np.array([0x7F800001], np.uint32).view(np.float32)
    difference = measure(np.ones(1, np.float32), signaling, {})
    assert difference is not None and difference.text.startswith("1 of 1 elements differ")
    assert measure(signaling, signaling.copy(), {}) is None
