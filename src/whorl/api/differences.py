"""How two results differ: type, shape, or the largest error."""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.ir.dtypes import COMPLEX
from whorl.ir.types import type_of


def difference(expected: Any, found: Any, rtol: float = 0.0, atol: float = 0.0) -> str:
    """What differs, in one line; empty where the values agree within `atol + rtol * |expected|` (NaN equals NaN)."""
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return f"{len(found)} items instead of {len(expected)}"
        pairs = enumerate(zip(expected, found, strict=True))
        problems = (f"item {k}: {p}" for k, (e, f) in pairs if (p := difference(e, f, rtol, atol)))
        return next(problems, "")
    if not (isinstance(expected, np.ndarray) and isinstance(found, np.ndarray)):
        return "" if type(expected) is type(found) and expected == found else f"{found!r} instead of {expected!r}"
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return f"{type_of(found)} instead of {type_of(expected)}"
    if expected.dtype.kind in "biuO" and not rtol and not atol:
        wrong = np.asarray(expected != found)
    else:
        wrong = _outside(expected, found, rtol, atol)
    count = int(np.count_nonzero(wrong))
    if not count:
        return ""
    first = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(wrong)))[: expected.ndim]
    return (
        f"{count} of {expected.size} elements differ, first at {list(first)}: {found[first]!s} instead of "
        f"{expected[first]!s}"
    )


def _outside(expected: np.ndarray, found: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    if expected.dtype == object:
        return np.asarray(expected != found)
    wide = np.complex128 if expected.dtype in COMPLEX else np.float64
    a, b = expected.astype(wide), found.astype(wide)
    with np.errstate(all="ignore"):
        return ~np.isclose(b, a, rtol=rtol, atol=atol, equal_nan=True)
