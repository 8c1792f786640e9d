"""Elements in their order, and heaps of them: what selects the best elements of long lines.

An entry is one int64, or a pair of them that compares in order: how good an element is, above the complement of its
position. No two entries are equal, and of equal elements the first is the better one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64, is_float
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import Index

_HALF = 32
_LOW = (1 << _HALF) - 1
Entry = tuple[Expr, ...]


def key_of(k: NativeBuilder, value: Expr) -> Expr:
    """An int64 in the order of the numbers; zeros are equal, NaN is above all. Of types of 4 bytes it is an int32."""
    dtype = value.dtype
    if is_float(dtype):
        return _key_of_float(k, value if dtype == FLOAT64 else k.cast(value, FLOAT32))
    if dtype == np.uint64:
        return k.apply("xor", k.apply("bits", value, dtype=INT64), k.const(np.iinfo(np.int64).min))
    number = k.cast(value, INT64)
    return k.sub(number, k.const(1 << (_HALF - 1))) if dtype == np.uint32 else number


def _key_of_float(k: NativeBuilder, value: Expr) -> Expr:
    """The bits of a number, those besides the sign turned around where that is set."""
    whole = INT64 if value.dtype == FLOAT64 else INT32
    most = np.iinfo(whole).max
    bits = k.apply("bits", k.add(value, k.const(0.0, value.dtype)), dtype=whole)
    turned = k.select(k.compare("lt", bits, k.const(0, whole)), k.apply("xor", bits, k.const(most, whole)), bits)
    is_nan = k.apply("isnan", value, dtype=BOOL)
    return k.cast(k.select(is_nan, k.const(most, whole), turned), INT64)


def entry_of(k: NativeBuilder, key: Expr, position: Expr, is_wide: bool) -> Entry:
    """An element of a key, at a position below 2 ** 32; the key is an int32 unless entries are wide."""
    last = k.sub(k.const(_LOW), position)
    return (key, last) if is_wide else (k.add(k.mul(key, k.const(1 << _HALF)), last),)


def position_of(k: NativeBuilder, entry: Entry) -> Expr:
    """Where an element stands."""
    return k.sub(k.const(_LOW), k.apply("and", entry[-1], k.const(_LOW)))


def is_worse(k: NativeBuilder, a: Entry, b: Entry) -> Expr:
    """Whether an entry comes after another one."""
    if len(a) == 1:
        return k.compare("lt", a[0], b[0])
    is_tie = k.compare("eq", a[0], b[0])
    return k.apply("or", k.compare("lt", a[0], b[0]), k.apply("and", is_tie, k.compare("lt", a[1], b[1])))


class Heap(Struct, frozen=True):
    """A heap in memory behind an index; its root is the worst entry."""

    k: NativeBuilder
    buffers: tuple[Buffer, ...]
    prefix: Index = ()

    @classmethod
    def of_shape(cls, k: NativeBuilder, shape: Sequence[Dim], is_wide: bool) -> Heap:
        """Heaps for each index of all axes but the last, which is as long as they may become."""
        return cls(k, tuple(k.temporary(INT64, shape) for _ in range(1 + is_wide)))

    def at(self, prefix: Index) -> Heap:
        """The heap at an index."""
        return Heap(self.k, self.buffers, prefix)

    def load(self, position: Expr) -> Entry:
        return tuple(self.k.let(self.k.load(buffer, (*self.prefix, position))) for buffer in self.buffers)

    def store(self, position: Expr, entry: Entry) -> None:
        for buffer, part in zip(self.buffers, entry, strict=True):
            self.k.store(buffer, (*self.prefix, position), part)

    def build(self, count: Expr) -> None:
        """Make a heap of so many entries in any order."""
        k = self.k
        half = k.let(k.div(count, k.const(2)))
        with k.loop(half) as step:
            position = k.let(k.sub(k.sub(half, step), k.const(1)))
            self.sift(position, self.load(position), count)

    def sift(self, position: Expr, entry: Entry, count: Expr) -> None:
        """Put an entry where it belongs, at a free position of a heap of so many or below it."""
        k, one = self.k, self.k.const(1)
        free, child = k.variable(INT64, "free", once=False), k.variable(INT64, "child", once=False)
        k.assign(free, position)

        def is_above() -> Expr:
            left, last = k.let(k.add(k.add(free, free), one)), k.sub(count, one)
            near, far = (k.let(k.apply("min", n, last)) for n in (left, k.add(left, one)))
            k.assign(child, k.select(self._before(self.load(far), self.load(near)), far, near))
            return k.apply("and", k.compare("lt", left, count), self._before(self.load(child), entry))

        with k.repeat_while(is_above):
            self.store(free, self.load(child))
            k.assign(free, child)
        self.store(free, entry)

    def _before(self, a: Entry, b: Entry) -> Expr:
        """Whether an entry belongs above another one."""
        return is_worse(self.k, a, b)

    def sort(self, count: Expr) -> None:
        """Order a heap of so many entries: those that belong above come last."""
        k = self.k
        with k.loop(k.apply("max", k.sub(count, k.const(1)), k.const(0))) as step:
            end = k.let(k.sub(k.sub(count, k.const(1)), step))
            entry = self.load(end)
            self.store(end, self.load(k.const(0)))
            self.sift(k.const(0), entry, end)
