"""Vectors of a float type on the machine that is written for: lanes, masks, and what is done by them."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.ir.dtypes import FLOAT32
from whorl.llvm.function import Function
from whorl.llvm.module import Machine
from whorl.llvm.value import Index, Value, overload

_MASKED_BYTES = 64
"""The width of vectors that are stored by a mask as fast as without."""


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
            numbers = self._splat_number(f, step) * numbers
        return self._splat_number(f, first) + numbers

    def compare(self, f: Function, predicate: str, numbers: Value, limit: Index | int) -> Value:
        """A mask of the lanes whose number compares so with a limit."""
        return f.compare(predicate, numbers, self._splat_number(f, limit))

    def _splat_number(self, f: Function, number: Index | int) -> Value:
        """An i64 as i32 in every lane."""
        return f.splat(f.convert("trunc", f.index(number), "i32"), self.lanes)

    def larger(self, f: Function, a: Value, b: Value) -> Value:
        """a where it is the larger number, else b; so b where one is NaN."""
        return f.select(a > b, a, b)

    def clamp(self, f: Function, value: Value, low: Value, high: Value) -> Value:
        """The value between two vectors; NaN stays."""
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

    def gather(self, f: Function, base: Value, indices: Value, mask: Value, rest: Value) -> Value:
        """The lanes of the mask from elements counted from an address, the others from `rest`."""
        pointers = f"<{self.lanes} x ptr>"
        name = f"@llvm.masked.gather.{overload(self.type)}.v{self.lanes}p0"
        f.module.declare(name, self.type, [pointers, self.mask, self.type])
        addresses = f.value(pointers, f"getelementptr {self.scalar}, {base}, {indices}")
        return f.call(name, self.type, f"{pointers} align {self.size} {addresses.text}", mask, rest)


def vectors_of(dtype: np.dtype, machine: Machine) -> Vectors:
    """Those of float32 or float64."""
    scalar = "float" if dtype == FLOAT32 else "double"
    return Vectors(scalar, dtype.itemsize, machine.vector_bytes // dtype.itemsize)


def prefetch(f: Function, pointer: Value) -> None:
    """Ask for the cache line at an address that is read soon, if there is one."""
    name = f.module.declare("@llvm.prefetch.p0", "void", ["ptr", "i32", "i32", "i32"])
    f.run(name, pointer, "i32 0", "i32 3", "i32 1")
