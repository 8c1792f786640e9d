"""How far two values lie apart: where first, and by how much in all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.ir.dtypes import COMPLEX, STRING
from whorl.ir.guards import is_array, is_list
from whorl.ir.types import type_of

Tolerances = Mapping[str, tuple[float, float]]
"""The relative and absolute tolerance of an element type by its name; whatever is not named has to be equal."""
DEFAULTS: Tolerances = {
    "float64": (1e-9, 1e-12),
    "float32": (1e-4, 1e-6),
    "float16": (1e-2, 1e-3),
    "bfloat16": (1e-1, 1e-2),
    "complex64": (1e-4, 1e-6),
    "complex128": (1e-9, 1e-12),
}


class Difference(Struct, frozen=True):
    """The first element that differs, and the greatest distances of all that do; None where there are none.

    `ulp`: how many numbers of the type lie between the two, at most. `text` says in words what differs.
    """

    text: str
    index: list[int] = []
    ours: Any = None
    theirs: Any = None
    max_abs: float | None = None
    max_rel: float | None = None
    ulp: int | None = None


def measure(ours: Any, theirs: Any, tolerances: Tolerances) -> Difference | None:
    """How two values differ, None where they do not; NaN equals NaN, and -0 equals 0 where there is a tolerance."""
    if is_array(ours) and is_array(theirs):
        return _measure_arrays(ours, theirs, tolerances)
    if is_list(ours) and is_list(theirs):
        if len(ours) != len(theirs):
            return Difference(f"{len(ours)} items here, {len(theirs)} there")
        pairs = zip(ours, theirs, strict=True)
        return next((d for a, b in pairs if (d := measure(a, b, tolerances)) is not None), None)
    if (ours is None) != (theirs is None):
        return Difference(f"{'nothing' if ours is None else 'a value'} here, the opposite there")
    return None if ours is None or type(ours) is type(theirs) else Difference("values of different kinds")


@np.errstate(all="ignore")  # memory that an engine never wrote may hold a signaling NaN
def _measure_arrays(ours: np.ndarray, theirs: np.ndarray, tolerances: Tolerances) -> Difference | None:
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return Difference(f"{type_of(ours)} here, {type_of(theirs)} there")
    wrong = _wrong(ours, theirs, tolerances)
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    index = tuple(int(axis[0]) for axis in np.nonzero(np.atleast_1d(wrong)))[: ours.ndim]
    text = (
        f"{count} of {ours.size} elements differ, first at {list(index)}: {ours[index]!s} here, {theirs[index]!s} there"
    )
    first = ours[index], theirs[index]
    if ours.dtype == STRING or ours.dtype.kind == "b" or ours.dtype in COMPLEX:
        return Difference(text, list(index), *first)
    a, b = ours.astype(np.float64)[wrong], theirs.astype(np.float64)[wrong]
    distance = np.abs(a - b)
    relative = distance / np.abs(a)
    return Difference(text, list(index), *first, _greatest(distance), _greatest(relative), _ulps(ours, theirs, wrong))


def _wrong(ours: np.ndarray, theirs: np.ndarray, tolerances: Tolerances) -> np.ndarray:
    """Which elements differ."""
    rtol, atol = tolerances.get(str(ours.dtype), (0.0, 0.0))
    if ours.dtype == STRING or (ours.dtype.kind in "bui" and not rtol and not atol):
        return np.asarray(ours != theirs)
    wide = np.complex128 if ours.dtype in COMPLEX else np.float64
    if not rtol and not atol and ours.dtype not in COMPLEX:
        a, b = ours.astype(wide), theirs.astype(wide)
        is_same = (a == b) & (np.signbit(a) == np.signbit(b))
        return ~(is_same | (np.isnan(a) & np.isnan(b)))
    return ~np.isclose(theirs.astype(wide), ours.astype(wide), rtol=rtol, atol=atol, equal_nan=True)


def _greatest(distances: np.ndarray) -> float | None:
    """The greatest, of those that are numbers."""
    finite = distances[np.isfinite(distances)]
    return float(finite.max()) if len(finite) else None


def _ulps(ours: np.ndarray, theirs: np.ndarray, wrong: np.ndarray) -> int | None:
    """The most numbers of the type between two elements that differ and are numbers."""
    if ours.dtype.kind in "ui" or ours.dtype.itemsize not in (2, 4, 8):
        return None
    signed = np.dtype(f"i{ours.dtype.itemsize}")
    a, b = (np.atleast_1d(x)[np.atleast_1d(wrong)] for x in (ours, theirs))
    finite = np.isfinite(a.astype(np.float64)) & np.isfinite(b.astype(np.float64))
    orders = [_order(x[finite].view(signed)) for x in (a, b)]
    return max((abs(x - y) for x, y in zip(*orders, strict=True)), default=None)


def _order(bits: np.ndarray) -> list[int]:
    """Numbers in the order of the floats that these bits are."""
    lowest = int(np.iinfo(bits.dtype).min)
    return [bit if bit >= 0 else lowest - bit for bit in bits.tolist()]
