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


def difference(expected: Any, found: Any, slack: Slack) -> str:
    """What is not alike, in words; empty where nothing is."""
    if isinstance(expected, list) or isinstance(found, list):
        return _of_lists(expected, found, slack)
    if not isinstance(found, np.ndarray):
        return f"a {type(found).__name__} instead of an array"
    if (expected.dtype, expected.shape) != (found.dtype, found.shape):
        return f"{found.dtype}{list(found.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if not is_float(expected.dtype):
        return _at(expected != found, expected, found)
    wide = [np.asarray(x).astype(np.float64) for x in (expected, found)]
    if slack == Slack():
        return _at(_differ_exactly(*wide), expected, found)
    return _at(_differ_beyond(*wide, slack, expected.dtype), expected, found)


def _of_lists(expected: Any, found: Any, slack: Slack) -> str:
    if not (isinstance(expected, list) and isinstance(found, list)) or len(expected) != len(found):
        return "another kind of value, or number of items"
    problems = (difference(e, f, slack) for e, f in zip(expected, found, strict=True))
    return next((text for text in problems if text), "")


def _differ_exactly(expected: np.ndarray, found: np.ndarray) -> np.ndarray:
    both_nan = np.isnan(expected) & np.isnan(found)
    same = (expected == found) & (np.signbit(expected) == np.signbit(found))
    return ~(both_nan | same)


def _differ_beyond(expected: np.ndarray, found: np.ndarray, slack: Slack, dtype: np.dtype) -> np.ndarray:
    info = ml_dtypes.finfo(dtype)
    eps, most = float(info.eps), float(info.max)
    with np.errstate(all="ignore"):
        bound = eps * (slack.ulps * np.maximum(abs(expected), abs(found)) + slack.units) + float(info.tiny)
        same = (expected == found) | (np.isnan(expected) & np.isnan(found)) | (abs(expected - found) <= bound)
        edge = np.minimum(abs(expected), abs(found)) >= most * (1 - eps * (slack.ulps + slack.units))
    return ~(same | (edge & (np.sign(expected) == np.sign(found))))


def _at(differs: np.ndarray, expected: np.ndarray, found: np.ndarray) -> str:
    differs = np.asarray(differs, bool)
    if not differs.any():
        return ""
    place = tuple(int(n) for n in np.argwhere(differs)[0])
    count = int(differs.sum())
    return f"{found[place]!r} instead of {expected[place]!r} at {list(place)}, {count} of {differs.size} differ"
