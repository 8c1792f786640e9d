"""Element types of hand-written routines: their vectors on this host, lanes, masks, and intrinsics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whorl.codegen.formulas import Library
from whorl.codegen.routine import Routine
from whorl.codegen.target import vector_bytes
from whorl.ir.dtypes import FLOAT32

MASKED_BYTES = 64
"""The width of vectors that are stored by a mask as fast as without."""


@dataclass(frozen=True)
class Element:
    """A float type on this host, and vectors of it."""

    kind: str
    size: int
    lanes: int

    @property
    def vector(self) -> str:
        return f"<{self.lanes} x {self.kind}>"

    @property
    def mask(self) -> str:
        return f"<{self.lanes} x i1>"

    @property
    def suffix(self) -> str:
        return f"f{8 * self.size}"

    @property
    def overload(self) -> str:
        """What LLVM calls the vector in the name of an intrinsic."""
        return f"v{self.lanes}{self.suffix}"

    def splat(self, f: Routine, value: str) -> str:
        return f.splat(self.vector, self.kind, value)

    def lane_numbers(self, f: Routine, first: str, step: str = "1") -> str:
        """first + lane * step, as a vector of i32, which they must fit."""
        kind = f"<{self.lanes} x i32>"
        numbers = "<" + ", ".join(f"i32 {lane}" for lane in range(self.lanes)) + ">"
        if step != "1":
            numbers = f.value(f"mul {kind} {self._spread(f, step)}, {numbers}")
        return f.value(f"add {kind} {self._spread(f, first)}, {numbers}")

    def compare(self, f: Routine, how: str, numbers: str, limit: str) -> str:
        """A mask of the lanes whose number compares so with a limit."""
        return f.value(f"icmp {how} <{self.lanes} x i32> {numbers}, {self._spread(f, limit)}")

    def _spread(self, f: Routine, number: str) -> str:
        """An i64 as i32 in every lane."""
        return f.splat(f"<{self.lanes} x i32>", "i32", f.value(f"trunc i64 {number} to i32"))

    def fused(self, f: Routine, library: Library, a: str, b: str, c: str) -> str:
        """a * b + c."""
        name = self._declare(library, "fmuladd", f"{self.vector}, {self.vector}, {self.vector}")
        return f.value(f"call {self.vector} {name}({self.vector} {a}, {self.vector} {b}, {self.vector} {c})")

    def larger(self, f: Routine, a: str, b: str) -> str:
        """a where it is the larger number, else b; so b where one is NaN."""
        return self._chosen(f, "ogt", a, b)

    def _chosen(self, f: Routine, how: str, a: str, b: str) -> str:
        is_first = f.value(f"fcmp {how} {self.vector} {a}, {b}")
        return f.value(f"select {self.mask} {is_first}, {self.vector} {a}, {self.vector} {b}")

    def bounded(self, f: Routine, value: str, low: str, high: str) -> str:
        """The value kept between two vectors; NaN stays."""
        return self._chosen(f, "olt", high, self._chosen(f, "ogt", low, value))

    def masked_load(self, f: Routine, library: Library, pointer: str, mask: str, rest: str) -> str:
        """The lanes chosen from memory, the others from `rest`."""
        name = f"@llvm.masked.load.{self.overload}.p0"
        library.setdefault(name, f"declare {self.vector} {name}(ptr, {self.mask}, {self.vector})")
        given = f"ptr align {self.size} {pointer}, {self.mask} {mask}, {self.vector} {rest}"
        return f.value(f"call {self.vector} {name}({given})")

    def masked_store(self, f: Routine, library: Library, value: str, pointer: str, mask: str) -> None:
        name = f"@llvm.masked.store.{self.overload}.p0"
        library.setdefault(name, f"declare void {name}({self.vector}, ptr, {self.mask})")
        f.line(f"call void {name}({self.vector} {value}, ptr align {self.size} {pointer}, {self.mask} {mask})")

    def store_part(self, f: Routine, library: Library, value: str, pointer: str, left: str) -> None:
        """Store the first `left` lanes, or all; without a mask where that is slow and not needed."""
        mask = self.compare(f, "slt", self.lane_numbers(f, "0"), left)
        if self.size * self.lanes == MASKED_BYTES:
            return self.masked_store(f, library, value, pointer, mask)
        whole = f.value(f"icmp sge i64 {left}, {self.lanes}")
        with f.when(whole):
            f.store(self.vector, value, pointer, self.size)
        with f.when(f.value(f"xor i1 {whole}, true")):
            self.masked_store(f, library, value, pointer, mask)
        return None

    def gather(self, f: Routine, library: Library, base: str, places: str, mask: str, rest: str) -> str:
        """The lanes chosen from places counted from an address, the others from `rest`."""
        pointers = f"<{self.lanes} x ptr>"
        name = f"@llvm.masked.gather.{self.overload}.v{self.lanes}p0"
        library.setdefault(name, f"declare {self.vector} {name}({pointers}, {self.mask}, {self.vector})")
        found = f.value(f"getelementptr {self.kind}, ptr {base}, <{self.lanes} x i32> {places}")
        given = f"{pointers} align {self.size} {found}, {self.mask} {mask}, {self.vector} {rest}"
        return f.value(f"call {self.vector} {name}({given})")

    def prefetch(self, f: Routine, library: Library, pointer: str) -> None:
        """Fetch the cache line at an address that is read soon, if there is one."""
        library.setdefault("@llvm.prefetch.p0", "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        f.line(f"call void @llvm.prefetch.p0(ptr {pointer}, i32 0, i32 3, i32 1)")

    def _declare(self, library: Library, operation: str, parameters: str) -> str:
        name = f"@llvm.{operation}.{self.overload}"
        library.setdefault(name, f"declare {self.vector} {name}({parameters})")
        return name


def element_of(dtype: np.dtype) -> Element:
    """float32 or float64 on this host."""
    size = dtype.itemsize
    return Element("float" if dtype == FLOAT32 else "double", size, vector_bytes() // size)
