"""Native form of looking numbers up among keys: a search by halves in a table that is in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.ir.dtypes import BOOL, INT64, is_float
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import View
from whorl.ops.native.index_maps import embed_array

_SPARSE = 4
"""How many times as many numbers as keys there may be between the least and the largest one, for a table of all."""
_SMALL = 1 << 10
"""Numbers for which there is a table of all anyway."""


class Lookup(Struct, frozen=True):
    """Keys in order with their values, the value of NaN, and that of all other numbers."""

    keys: np.ndarray
    values: np.ndarray
    of_nan: Any
    default: Any

    @classmethod
    def of(cls, entries: Mapping[Any, Any], default: Any, key_type: np.dtype, value_type: np.dtype) -> Lookup | None:
        """The entries of numbers; `entries` has one key of another kind for NaN, if any. Keys that no element of the
        type equals are left out. None where a value is too large for its type."""
        numbers = {key: value for key, value in entries.items() if isinstance(key, int | float)}
        (of_nan,) = [value for key, value in entries.items() if key not in numbers] or [default]
        possible = [key for key in numbers if _fits(key, key_type)]
        keys = np.array(possible, key_type)
        try:
            values = np.array([numbers[key] for key in possible], value_type)
            np.array([default, of_nan], value_type)
        except OverflowError:
            return None
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], values[order], of_nan, default)

    def view(self, k: NativeBuilder, x: View) -> View:
        """Each element replaced by its value, in memory."""
        result = k.temporary(self.values.dtype, x.shape, "found")
        find = self._table(k) if self._is_dense() else self._search(k)
        with k.nest(x.shape) as index:
            k.store(result, index, find(k.let(x.at(index))))
        return k.view_of(result, x.shape)

    def _is_dense(self) -> bool:
        if is_float(self.keys.dtype) or not len(self.keys):
            return False
        return int(self.keys[-1]) - int(self.keys[0]) < max(_SMALL, _SPARSE * len(self.keys))

    def _table(self, k: NativeBuilder) -> Any:
        """A table of all numbers from the least key to the largest."""
        least = int(self.keys[0])
        table = np.full(int(self.keys[-1]) - least + 1, self.default, self.values.dtype)
        table[self.keys.astype(np.int64) - least] = self.values
        values, last = embed_array(k, table), len(table) - 1
        default = k.const(self.default, self.values.dtype)

        def find(x: Expr) -> Expr:
            number = k.cast(x, INT64)
            is_inside = k.apply(
                "and", k.compare("ge", number, k.const(least)), k.compare("le", number, k.const(least + last))
            )
            position = k.select(is_inside, k.sub(number, k.const(least)), k.const(0))
            return k.select(is_inside, values.at((position,)), default)

        return find

    def _search(self, k: NativeBuilder) -> Any:
        """The last key that is not above a number, found by steps that halve."""
        dtype, default = self.keys.dtype, k.const(self.default, self.values.dtype)
        if not len(self.keys):
            return lambda x: self._of_nan(k, x, default)
        keys, values, count = embed_array(k, self.keys), embed_array(k, self.values), len(self.keys)

        def find(x: Expr) -> Expr:
            position: Expr = k.const(0)
            for step in reversed([1 << n for n in range((count - 1).bit_length())]):
                other = k.let(k.apply("min", k.add(position, k.const(step)), k.const(count - 1)))
                position = k.let(k.select(k.compare("le", keys.at((other,)), x), other, position))
            is_key = k.compare("eq", keys.at((position,)), x)
            return self._of_nan(k, x, k.select(is_key, values.at((position,)), default))

        return find if is_float(dtype) or dtype.kind in "iu" else None

    def _of_nan(self, k: NativeBuilder, x: Expr, other: Expr) -> Expr:
        if not is_float(x.dtype):
            return other
        return k.select(k.apply("isnan", x, dtype=BOOL), k.const(self.of_nan, self.values.dtype), other)


def _fits(key: float, dtype: np.dtype) -> bool:
    """Whether an element of a type may equal a number."""
    if is_float(dtype):
        return float(dtype.type(key)) == key
    limits = np.iinfo(dtype)
    return limits.min <= key <= limits.max and int(key) == key
