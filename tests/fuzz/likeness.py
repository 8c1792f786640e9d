"""When a result is the oracle's: the rules of comparison, stated once.

- Kinds, element types and shapes are equal.
- Integers, bools and what the program computes exactly are equal bit for bit; NaN equals NaN, 0 is
  not -0.
- Functions and sums may be off by their `Slack`: so many units in the last place of the number, and so many of 1.
  NaN and infinities are where the oracle has them, zeros may have either sign. A number beyond the largest one may be
  infinite on one side only.
- An extreme of many numbers is exact, but of zeros of both signs it may be either.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from fuzz.forms import Slack
from whorl.ir.dtypes import is_float


def difference(expected: Any, actual: Any, slack: Slack) -> str:
    """What is not alike, in words; empty where nothing is."""
    if isinstance(expected, list) or isinstance(actual, list):
        return _of_lists(expected, actual, slack)
    if not isinstance(actual, np.ndarray):
        return f"a {type(actual).__name__} instead of an array"
    if (expected.dtype, expected.shape) != (actual.dtype, actual.shape):
        return f"{actual.dtype}{list(actual.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if not is_float(expected.dtype):
        return _at(expected != actual, expected, actual)
    wide = [np.asarray(x).astype(np.float64) for x in (expected, actual)]
    if slack == Slack():
        return _at(_differ_exactly(*wide), expected, actual)
    return _at(_differ_beyond(*wide, slack, expected.dtype), expected, actual)


def _of_lists(expected: Any, actual: Any, slack: Slack) -> str:
    if not (isinstance(expected, list) and isinstance(actual, list)) or len(expected) != len(actual):
        return "another kind of value, or number of items"
    problems = (difference(e, f, slack) for e, f in zip(expected, actual, strict=True))
    return next((text for text in problems if text), "")


def _differ_exactly(expected: np.ndarray, actual: np.ndarray) -> np.ndarray:
    both_nan = np.isnan(expected) & np.isnan(actual)
    same = (expected == actual) & (np.signbit(expected) == np.signbit(actual))
    return ~(both_nan | same)


def _differ_beyond(expected: np.ndarray, actual: np.ndarray, slack: Slack, dtype: np.dtype) -> np.ndarray:
    info = ml_dtypes.finfo(dtype)
    eps, most = float(info.eps), float(info.max)
    with np.errstate(all="ignore"):
        bound = eps * (slack.ulps * np.maximum(abs(expected), abs(actual)) + slack.units) + float(info.tiny)
        same = (expected == actual) | (np.isnan(expected) & np.isnan(actual)) | (abs(expected - actual) <= bound)
        edge = np.minimum(abs(expected), abs(actual)) >= most * (1 - eps * (slack.ulps + slack.units))
    return ~(same | (edge & (np.sign(expected) == np.sign(actual))))


def _at(differs: np.ndarray, expected: np.ndarray, actual: np.ndarray) -> str:
    differs = np.asarray(differs, bool)
    if not differs.any():
        return ""
    position = tuple(int(n) for n in np.argwhere(differs)[0])
    count = int(differs.sum())
    return (
        f"{actual[position]!r} instead of {expected[position]!r} at {list(position)}, {count} of {differs.size} differ"
    )
