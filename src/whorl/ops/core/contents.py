"""What elementwise ops tell inference about the elements of small tensors: numbers and dims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.ir.dims import UNKNOWN, Dim, Linear, Unknown
from whorl.ir.dtypes import BOOL, INT32, INT64
from whorl.ir.types import Fact, tensor
from whorl.ops.movement.lengths import bounds

_FOLLOWED = frozenset((INT32, INT64, BOOL))
"""The element types in which a dim is taken to fit."""
_LARGEST = 1 << 62
"""Coefficients beyond this could wrap; such a form is dropped."""


def known_elements(
    run: Callable[..., Any], of_dims: Callable[..., Any], inputs: Sequence[Fact | None]
) -> tuple[np.ndarray | None, ...]:
    """The elements of an elementwise result: `run` on plain numbers, `of_dims` element by element where dims occur."""
    facts = [x for x in inputs if x is not None]
    if any(x.known is None for x in facts):
        return ()
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(run(*(None if x is None else _numbers(x) for x in inputs)))
    except (RunError, TypeError, ValueError, ArithmeticError):
        return ()
    found = result.astype(object)
    opened = [x for x in facts if _has_dims(x.known)]
    if not opened:
        return (found,)
    followed = result.dtype in _FOLLOWED and all(tensor(x).dtype in _FOLLOWED for x in facts)
    spread = [None if x is None else np.broadcast_to(_known(x), result.shape) for x in inputs]
    for place in np.ndindex(result.shape):
        elements = [None if k is None else k[place] for k in spread]
        if any(is_dim(e) for e in elements):
            found[place] = _settled(of_dims(*elements), result.dtype) if followed else UNKNOWN
    return () if all(e is UNKNOWN for e in found.flat) else (found,)


def is_dim(element: Any) -> bool:
    """Whether a known element is a named dim or unknown, and no plain number."""
    return isinstance(element, (Linear, Unknown))


def proved_less(a: Dim, b: Dim) -> bool | Unknown:
    """Whether `a < b`, UNKNOWN where neither answer is proved."""
    low, high = bounds(b - a)
    return True if low > 0 else False if high <= 0 else UNKNOWN


def proved_equal(a: Dim, b: Dim) -> bool | Unknown:
    """Whether `a == b`, UNKNOWN where neither answer is proved."""
    low, high = bounds(a - b)
    if low > 0 or high < 0:
        return False
    return True if low == high else UNKNOWN


def _known(fact: Fact) -> np.ndarray:
    assert fact.known is not None
    return fact.known


def _has_dims(known: np.ndarray | None) -> bool:
    return known is not None and any(is_dim(e) for e in known.flat)


def _numbers(fact: Fact) -> np.ndarray:
    """The known elements in their element type, 1 in the place of dims."""
    known = _known(fact)
    if _has_dims(known):
        known = np.array([1 if is_dim(e) else e for e in known.flat], object).reshape(known.shape)
    return known.astype(tensor(fact).dtype)


def _settled(value: Any, dtype: np.dtype) -> Any:
    """An element as a tensor of the dtype holds it: integers wrap, forms that might wrap are unknown."""
    if isinstance(value, Linear):
        numbers = (value.constant, *(k for _, k in value.terms))
        return value if all(abs(n) < _LARGEST for n in numbers) else UNKNOWN
    if value is UNKNOWN or dtype == BOOL:
        return value
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return (int(value) - low) % (int(high) - int(low) + 1) + int(low)
