"""Random bits by counting: Philox4x32-10, on arrays and as nodes of the hub alike.

Source: Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3 (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

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


T = TypeVar("T")


class Arithmetic(Protocol[T]):
    """What the generator computes with: words of 32 bits in numbers of 64."""

    def number(self, value: int) -> T: ...
    def add(self, x: T, y: T) -> T: ...
    def times(self, x: T, y: T) -> T: ...
    def both(self, x: T, y: T) -> T: ...
    def either(self, x: T, y: T) -> T: ...
    def right(self, x: T, bits: int) -> T: ...
    def unit(self, x: T) -> T:
        """A number of 53 bits as a fraction of 2^53."""
        ...


class OnArrays:
    """NumPy's arithmetic."""

    def number(self, value: int) -> np.ndarray:
        return np.array(value, UINT64)

    def add(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.add(x, y)

    def times(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.multiply(x, y)

    def both(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.bitwise_and(x, y)

    def either(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.bitwise_xor(x, y)

    def right(self, x: np.ndarray, bits: int) -> np.ndarray:
        return np.right_shift(x, self.number(bits))

    def unit(self, x: np.ndarray) -> np.ndarray:
        return x.astype(FLOAT64) * 2.0**-53


class InHub:
    """Nodes of the hub."""

    def __init__(self, build: Builder) -> None:
        self.build = build

    def number(self, value: int) -> Value:
        return self.build.constant(np.array(value, UINT64))

    def add(self, x: Value, y: Value) -> Value:
        return self.build.add(Add(), x, y)

    def times(self, x: Value, y: Value) -> Value:
        return self.build.add(Mul(), x, y)

    def both(self, x: Value, y: Value) -> Value:
        return self.build.add(BitwiseAnd(), x, y)

    def either(self, x: Value, y: Value) -> Value:
        return self.build.add(BitwiseXor(), x, y)

    def right(self, x: Value, bits: int) -> Value:
        return self.build.add(BitShift(direction="RIGHT"), x, self.number(bits))

    def unit(self, x: Value) -> Value:
        scale = self.build.constant(np.array(2.0**-53))
        return self.build.add(Mul(), self.build.add(Cast(to=FLOAT64), x), scale)


def philox(k: Arithmetic[T], counter: Sequence[T], key: Sequence[T]) -> tuple[T, T, T, T]:
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


def uniforms(k: Arithmetic[T], words: Sequence[T]) -> tuple[T, T]:
    """Two numbers from 0 to 1, 1 left out, of four words."""
    a, b, c, d = words
    return _unit(k, a, b), _unit(k, c, d)


def _unit(k: Arithmetic[T], high: T, low: T) -> T:
    upper = k.times(k.right(high, 5), k.number(1 << 26))
    return k.unit(k.add(upper, k.right(low, 6)))
