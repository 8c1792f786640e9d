"""Vectors of a float type on the machine that is written for: lanes, masks, and what is done by them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.dtypes import FLOAT32, INT32
from whorl.llvm.function import Function
from whorl.llvm.module import Machine
from whorl.llvm.value import Index, Value, is_real, overload

_LEAST_DOT_BYTES = 16
"""The width of the narrowest vectors for which hardware adds dot products of bytes."""
_MASKED_BYTES = 64
"""The width of vectors that are stored by a mask as fast as without: these have registers for masks."""


class Vectors(Struct, frozen=True):
    """Vectors of float or double. Addresses are aligned to elements, not to vectors."""

    scalar: str
    size: int
    lanes: int

    @property
    def type(self) -> str:
        return f"<{self.lanes} x {self.scalar}>"

    @property
    def mask(self) -> str:
        return f"<{self.lanes} x i1>"

    @property
    def waiting_mask(self) -> str:
        """The type of a mask that waits in a variable: integers as wide as elements where masks have no registers."""
        return self.mask if self.size * self.lanes == _MASKED_BYTES else f"<{self.lanes} x i{8 * self.size}>"

    def wait(self, f: Function, mask: Value) -> Value:
        """A mask as it waits."""
        return mask if self.waiting_mask == self.mask else f.convert("sext", mask, self.waiting_mask)

    def awaited(self, f: Function, waiting: Value) -> Value:
        """The mask that waited."""
        return waiting if waiting.type == self.mask else f.compare("slt", waiting, f.number(0, waiting.type))

    @property
    def suffix(self) -> str:
        """The element type in the names of routines: f32."""
        return overload(self.scalar)

    def constant(self, f: Function, value: float) -> Value:
        """A number in every lane."""
        return f.number(value, self.type)

    def load(self, f: Function, pointer: Value) -> Value:
        return f.load(self.type, pointer, self.size)

    def store(self, f: Function, value: Value, pointer: Value) -> None:
        f.store(value, pointer, self.size)

    def load_splat(self, f: Function, pointer: Value) -> Value:
        """An element of memory in every lane."""
        return f.splat(f.load(self.scalar, pointer, self.size), self.lanes)

    def offset(self, f: Function, pointer: Value, index: Value | int) -> Value:
        """The address of an element of the same memory."""
        return f.offset(pointer, self.scalar, index)

    def lane_numbers(self, f: Function, first: Index | int, step: Index | None = None) -> Value:
        """first + lane * step, as a vector of i32, which they must fit."""
        type = f"<{self.lanes} x i32>"
        numbers = Value(f, type, "<" + ", ".join(f"i32 {lane}" for lane in range(self.lanes)) + ">")
        if step is not None:
            numbers = self.splat_number(f, step) * numbers
        return self.splat_number(f, first) + numbers

    def compare(self, f: Function, predicate: str, numbers: Value, limit: Index | int) -> Value:
        """A mask of the lanes whose number compares so with a limit."""
        return f.compare(predicate, numbers, self.splat_number(f, limit))

    def splat_number(self, f: Function, number: Index | int) -> Value:
        """An i64 as i32 in every lane."""
        return f.splat(f.convert("trunc", f.index(number), "i32"), self.lanes)

    def larger(self, f: Function, a: Value, b: Value) -> Value:
        """a where it is the larger number, else b; so b where one is NaN."""
        return f.select(a > b, a, b)

    def clamp(self, f: Function, value: Value, low: Value, high: Value) -> Value:
        """The value between two vectors; NaN stays. Integers stay as they are: nothing bounds them."""
        if not is_real(self.scalar):
            return value
        raised = f.select(low > value, low, value)
        return f.select(high < raised, high, raised)

    def masked_load(self, f: Function, pointer: Value, mask: Value, rest: Value) -> Value:
        """The lanes of the mask from memory, the others from `rest`."""
        name = f.module.declare(f"@llvm.masked.load.{overload(self.type)}.p0", self.type, ["ptr", self.mask, self.type])
        return f.call(name, self.type, f"ptr align {self.size} {pointer.text}", mask, rest)

    def masked_store(self, f: Function, value: Value, pointer: Value, mask: Value) -> None:
        name = f.module.declare(f"@llvm.masked.store.{overload(self.type)}.p0", "void", [self.type, "ptr", self.mask])
        f.run(name, value, f"ptr align {self.size} {pointer.text}", mask)

    def store_part(self, f: Function, value: Value, pointer: Value, left: Index) -> None:
        """Store the first `left` lanes, or all; without a mask where that is slow and not needed."""
        mask = self.compare(f, "slt", self.lane_numbers(f, 0), left)
        if self.size * self.lanes == _MASKED_BYTES:
            return self.masked_store(f, value, pointer, mask)
        whole = left >= self.lanes
        with f.when(whole):
            self.store(f, value, pointer)
        with f.when(whole ^ True):
            self.masked_store(f, value, pointer, mask)
        return None

    def halves(self, f: Function, low: Value, high: Value) -> tuple[Value, Value]:
        """The even and the odd ones of the elements of two vectors, one after the other."""
        even, odd = (self._pick(f, low, high, range(n, 2 * self.lanes, 2)) for n in range(2))
        return even, odd

    def interleave(self, f: Function, even: Value, odd: Value) -> tuple[Value, Value]:
        """The two vectors of which these are the even and the odd elements."""
        order = [lane + n * self.lanes for lane in range(self.lanes) for n in range(2)]
        return self._pick(f, even, odd, order[: self.lanes]), self._pick(f, even, odd, order[self.lanes :])

    def _pick(self, f: Function, a: Value, b: Value, order: Sequence[int]) -> Value:
        numbers = ", ".join(f"i32 {n}" for n in order)
        return f.value(self.type, f"shufflevector {a}, {b}, <{self.lanes} x i32> <{numbers}>")

    def gather(self, f: Function, base: Value, indices: Value, mask: Value, rest: Value) -> Value:
        """The lanes of the mask from elements counted from an address, the others from `rest`."""
        pointers = f"<{self.lanes} x ptr>"
        name = f"@llvm.masked.gather.{overload(self.type)}.v{self.lanes}p0"
        f.module.declare(name, self.type, [pointers, self.mask, self.type])
        addresses = f.value(pointers, f"getelementptr {self.scalar}, {base}, {indices}")
        return f.call(name, self.type, f"{pointers} align {self.size} {addresses.text}", mask, rest)


def vectors_of(dtype: np.dtype, machine: Machine) -> Vectors:
    """Those of float32, float64 or int32."""
    scalar = "i32" if dtype == INT32 else "float" if dtype == FLOAT32 else "double"
    return Vectors(scalar, dtype.itemsize, machine.vector_bytes // dtype.itemsize)


def add_product(f: Function, v: Vectors, total: Value, x: Value, y: Value) -> Value:
    """total + x * y, fused where the machine can; of int32, the dot products of their bytes are added (`add_dots`)."""
    return f.muladd(x, y, total) if is_real(v.scalar) else add_dots(f, v, total, x, y)


def add_dots(f: Function, v: Vectors, total: Value, x: Value, y: Value) -> Value:
    """total + the dot products of the four bytes of each lane, those of x without sign; for vectors of int32."""
    size = v.lanes * v.size
    if f.module.machine.dot_bytes >= size and size >= _LEAST_DOT_BYTES:
        name = f"@llvm.x86.avx512.vpdpbusd.{8 * size}"
        f.module.declare(name, v.type, [v.type] * 3)
        return f.call(name, v.type, total, x, y)
    halves = f"<{2 * v.lanes} x i16>"
    x_even, x_odd = (f.convert("bitcast", value, halves) for value in (x & 0x00FF00FF, (x >> 8) & 0x00FF00FF))
    y_even = f.convert("bitcast", y << 8, halves)
    pairs = (x_even, _shift_signed(f, y_even)), (x_odd, _shift_signed(f, f.convert("bitcast", y, halves)))
    for left, right in pairs:
        total = total + _add_neighbours(f, v, f.convert("sext", left, _wide(v)) * f.convert("sext", right, _wide(v)))
    return total


def _shift_signed(f: Function, x: Value) -> Value:
    """The upper bytes of 16 bits, with their sign."""
    return f.value(x.type, f"ashr {x}, {f.number(8, x.type).text}")


def _wide(v: Vectors) -> str:
    return f"<{2 * v.lanes} x i32>"


def _add_neighbours(f: Function, v: Vectors, x: Value) -> Value:
    """The sums of lanes 0 and 1, 2 and 3, ..."""
    even, odd = (
        f.value(
            v.type,
            f"shufflevector {x}, {x.type} poison, <{v.lanes} x i32> <"
            + ", ".join(f"i32 {2 * lane + first}" for lane in range(v.lanes))
            + ">",
        )
        for first in (0, 1)
    )
    return even + odd


def prefetch_element(f: Function, start: Value, type: str, position: Index, count: Index) -> None:
    """Ask for the cache line of an element, or of the last of so many from a start."""
    prefetch(f, f.offset(start, type, f.least(position, count - 1)))


def prefetch(f: Function, pointer: Value) -> None:
    """Ask for a cache line of memory that there is: each time takes as long as many products where there is no page."""
    name = f.module.declare("@llvm.prefetch.p0", "void", ["ptr", "i32", "i32", "i32"])
    f.run(name, pointer, "i32 0", "i32 3", "i32 1")
