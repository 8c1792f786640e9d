"""How two results differ: type, shape, or the first element that does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.ir.dtypes import COMPLEX, STRING
from whorl.ir.types import type_of

Output = np.ndarray | list[Any] | dict[Any, Any] | str | float | np.generic | None
"""What a run gives for an output, and what lists and maps hold."""


def difference(expected: Output, actual: Output, rtol: float = 0.0, atol: float = 0.0) -> str:
    """What differs, in one line; empty where the values agree within `atol + rtol * |expected|` (NaN equals NaN).

    Arrays must agree in element type and shape, lists in length, maps in keys.
    """
    return _Comparison(rtol, atol).difference(expected, actual)


class _Comparison(Struct, frozen=True):
    rtol: float
    atol: float

    def difference(self, expected: Output, actual: Output) -> str:
        match expected, actual:
            case np.ndarray(), np.ndarray():
                return self._arrays(expected, actual)
            case list(), list():
                if len(expected) != len(actual):
                    return f"{len(actual)} items instead of {len(expected)}"
                return self._first(enumerate(zip(expected, actual, strict=True)))
            case dict(), dict():
                if expected.keys() != actual.keys():
                    return f"keys {sorted(actual)} instead of {sorted(expected)}"
                return self._first((repr(key), (value, actual[key])) for key, value in expected.items())
            case ((int() | float() | np.number()), (int() | float() | np.number())):
                return self._arrays(np.array(expected, np.float64), np.array(actual, np.float64))
            case _ if type(expected) is type(actual) and expected == actual:
                return ""
            case _:
                return f"{_brief(actual)} instead of {_brief(expected)}"

    def _first(self, items: Iterable[tuple[object, tuple[Output, Output]]]) -> str:
        problems = (f"item {key}: {text}" for key, pair in items if (text := self.difference(*pair)))
        return next(problems, "")

    def _arrays(self, expected: np.ndarray, actual: np.ndarray) -> str:
        if expected.dtype != actual.dtype or expected.shape != actual.shape:
            return f"{type_of(actual)} instead of {type_of(expected)}"
        wrong = self._wrong(expected, actual)
        count = int(np.count_nonzero(wrong))
        if not count:
            return ""
        first = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(wrong)))[: expected.ndim]
        values = f"{actual[first]!s} instead of {expected[first]!s}"
        return f"{count} of {expected.size} elements differ, first at {list(first)}: {values}"

    def _wrong(self, expected: np.ndarray, actual: np.ndarray) -> np.ndarray:
        if expected.dtype == STRING or (expected.dtype.kind in "biu" and not self.rtol and not self.atol):
            return np.asarray(expected != actual)
        wide = np.complex128 if expected.dtype in COMPLEX else np.float64
        with np.errstate(all="ignore"):
            a, b = expected.astype(wide), actual.astype(wide)
            return ~np.isclose(b, a, rtol=self.rtol, atol=self.atol, equal_nan=True)


def _brief(value: object) -> str:
    return str(type_of(value)) if isinstance(value, np.ndarray) else repr(value)
