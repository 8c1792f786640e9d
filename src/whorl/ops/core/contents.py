"""Elements of small tensors, numbers and dims, as inference follows them through elementwise ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whorl.errors import RunError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim, Linear, Unknown
from whorl.ir.dtypes import BOOL, INT32, INT64
from whorl.ir.types import Fact, tensor
from whorl.ops.movement.lengths import bounds

_SYMBOLIC = frozenset((INT32, INT64, BOOL))
"""The element types in which a dim is taken to fit."""
_TRUTHS = {(0, 0), (0, 1), (1, 1)}
_LARGEST = 1 << 62
"""Coefficients beyond this could wrap; such a form is dropped."""


def known_elements(
    run: Callable[..., object], of_dims: Callable[..., Dim], inputs: Sequence[Fact | None]
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
    known = result.astype(object)
    if not any(_has_dims(x.known) for x in facts):
        return (known,)
    is_symbolic = result.dtype in _SYMBOLIC and all(tensor(x).dtype in _SYMBOLIC for x in facts)
    operands = [None if x is None else np.broadcast_to(_known(x), result.shape) for x in inputs]
    for index in np.ndindex(result.shape):
        elements = [None if x is None else x[index] for x in operands]
        if any(is_dim(e) for e in elements):
            known[index] = _wrap(of_dims(*elements), result.dtype) if is_symbolic else UNKNOWN
    return () if all(e is UNKNOWN for e in known.flat) else (known,)


def is_dim(element: object) -> bool:
    """Whether a known element is a named dim or unknown, and no plain number."""
    return isinstance(element, (Linear, Unknown))


def is_less(a: Dim, b: Dim) -> Dim:
    """Whether `a < b`: a bool where it is proved, else a form that is 1 or 0."""
    low, high = bounds(b - a)
    return True if low > 0 else False if high <= 0 else dims.call("less", a, b)


def is_equal(a: Dim, b: Dim) -> Dim:
    """Whether `a == b`: a bool where it is proved, else a form that is 1 or 0."""
    low, high = bounds(a - b)
    if low > 0 or high < 0:
        return False
    return True if low == high else dims.call("equal", a, b)


def is_true(a: Dim) -> Dim:
    """Whether a number is not 0."""
    return a if bounds(a) in _TRUTHS else negate(is_equal(a, 0))


def negate(truth: Dim) -> Dim:
    """The other truth value."""
    return not truth if isinstance(truth, int) else 1 - truth


def _known(fact: Fact) -> np.ndarray:
    assert fact.known is not None
    return fact.known


def _has_dims(known: np.ndarray | None) -> bool:
    return known is not None and any(is_dim(e) for e in known.flat)


def _numbers(fact: Fact) -> np.ndarray:
    """The known elements in their element type, 1 for dims."""
    known = _known(fact)
    if _has_dims(known):
        known = np.array([1 if is_dim(e) else e for e in known.flat], object).reshape(known.shape)
    return known.astype(tensor(fact).dtype)


def _wrap(value: Dim, dtype: np.dtype) -> Dim:
    """An element in an integer type: numbers wrap, forms that might wrap are unknown."""
    if isinstance(value, Linear):
        numbers = (value.constant, *(k for _, k in value.terms))
        return value if all(abs(n) < _LARGEST for n in numbers) else UNKNOWN
    if isinstance(value, Unknown):
        return value
    if dtype == BOOL:
        return bool(value)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return (int(value) - low) % (int(high) - int(low) + 1) + int(low)
