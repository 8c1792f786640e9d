"""Random bits by counting: Philox4x32-10, on arrays and as nodes of the hub alike.

Source: Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3 (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT64
from whorl.ir.graph import Value
from whorl.ops.elementwise.arithmetic import Add, Mul
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.logic import BitShift, BitwiseAnd, BitwiseXor

ROUNDS = 10
MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = 0x9E3779B9, 0xBB67AE85
WORD = 0xFFFFFFFF
UINT64 = np.dtype(np.uint64)


class Arithmetic(Protocol):
    """What the generator computes with: words of 32 bits in numbers of 64."""

    def number(self, value: int) -> Any: ...
    def add(self, x: Any, y: Any) -> Any: ...
    def times(self, x: Any, y: Any) -> Any: ...
    def both(self, x: Any, y: Any) -> Any: ...
    def either(self, x: Any, y: Any) -> Any: ...
    def right(self, x: Any, places: int) -> Any: ...
    def unit(self, x: Any) -> Any:
        """A number of 53 bits as a fraction of 2^53."""


class OnArrays:
    """NumPy's arithmetic."""

    def number(self, value: int) -> np.ndarray:
        return np.array(value, UINT64)

    def add(self, x: Any, y: Any) -> Any:
        return np.add(x, y)

    def times(self, x: Any, y: Any) -> Any:
        return np.multiply(x, y)

    def both(self, x: Any, y: Any) -> Any:
        return np.bitwise_and(x, y)

    def either(self, x: Any, y: Any) -> Any:
        return np.bitwise_xor(x, y)

    def right(self, x: Any, places: int) -> Any:
        return np.right_shift(x, self.number(places))

    def unit(self, x: Any) -> Any:
        return x.astype(FLOAT64) * 2.0**-53


class InHub:
    """Nodes of the hub."""

    def __init__(self, build: Builder) -> None:
        self.build = build

    def number(self, value: int) -> Value:
        return self.build.constant(np.array(value, UINT64))

    def add(self, x: Any, y: Any) -> Value:
        return self.build.add(Add(), x, y)

    def times(self, x: Any, y: Any) -> Value:
        return self.build.add(Mul(), x, y)

    def both(self, x: Any, y: Any) -> Value:
        return self.build.add(BitwiseAnd(), x, y)

    def either(self, x: Any, y: Any) -> Value:
        return self.build.add(BitwiseXor(), x, y)

    def right(self, x: Any, places: int) -> Value:
        return self.build.add(BitShift(direction="RIGHT"), x, self.number(places))

    def unit(self, x: Any) -> Value:
        scale = self.build.constant(np.array(2.0**-53))
        return self.build.add(Mul(), self.build.add(Cast(to=FLOAT64), x), scale)


def philox(k: Arithmetic, counter: Sequence[Any], key: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
    """Four words for a counter of four words and a key of two."""
    a, b, c, d = counter
    low, high = key
    mask = k.number(WORD)
    for n in range(ROUNDS):
        if n:
            low, high = (k.both(k.add(x, k.number(step)), mask) for x, step in zip((low, high), WEYL, strict=True))
        first, second = k.times(a, k.number(MULTIPLIERS[0])), k.times(c, k.number(MULTIPLIERS[1]))
        a, c = k.either(k.either(k.right(second, 32), b), low), k.either(k.either(k.right(first, 32), d), high)
        b, d = k.both(second, mask), k.both(first, mask)
    return a, b, c, d


def uniforms(k: Arithmetic, words: Sequence[Any]) -> tuple[Any, Any]:
    """Two numbers from 0 to 1, 1 left out, of four words."""
    a, b, c, d = words
    return _unit(k, a, b), _unit(k, c, d)


def _unit(k: Arithmetic, high: Any, low: Any) -> Any:
    upper = k.times(k.right(high, 5), k.number(1 << 26))
    return k.unit(k.add(upper, k.right(low, 6)))
