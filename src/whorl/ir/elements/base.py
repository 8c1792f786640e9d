"""Elements: the contents of a constant as an expression, read rectangle by rectangle.

A block is small enough that a chain of operations stays in the cache, and large enough that Python's share of the time
is not seen.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from whorl.ir.elements.mapping import gathered, is_scattered, mapping_of
from whorl.ir.elements.regions import Region, blocks_of, rectangles, slices_of, whole
from whorl.ir.guards import is_array

BLOCK = 1 << 17
"""Elements computed at a time: few enough that a chain of operations stays in the processor's cache."""
SCATTERED = 1 << 12
"""Elements from which it pays to copy in tiles."""
Memo = dict[tuple[int, Region], np.ndarray]
"""What one reading has computed of expressions with several readers."""


class Elements:
    """The contents of a constant: a type, a shape, and what to compute them from.

    Nothing is held but the leaves. Elements never change, and are read by `read`, which answers an array that the
    caller must not write to. `is_across`: reading in row-major order jumps about in what the elements are read from.
    """

    __slots__ = ("__weakref__", "_array", "depth", "dtype", "inputs", "is_across", "shape", "shared")

    def __init__(self, dtype: np.dtype, shape: tuple[int, ...], *inputs: Elements) -> None:
        self.dtype, self.shape, self.inputs = dtype, shape, inputs
        self.depth = 1 + max((x.depth for x in inputs), default=-1)
        self.shared = 0
        self.is_across = any(x.is_across for x in inputs)
        self._array: weakref.ref[np.ndarray] | None = None
        for each in inputs:
            each.shared += 1

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def read(self, region: Region, memo: Memo) -> np.ndarray:
        """The elements of a region."""
        if self.shared < 2:
            return self.compute(region, memo)
        key = id(self), region
        result = memo.get(key)
        if result is None:
            result = memo[key] = self.compute(region, memo)
        return result

    def compute(self, region: Region, memo: Memo) -> np.ndarray:
        """The elements of a region, from those of the inputs."""
        raise TypeError(f"{type(self).__name__} does not say its elements")

    def flat(self, start: int, stop: int) -> np.ndarray:
        """The elements `start` to `stop` of the row-major order, as a vector."""
        with np.errstate(all="ignore"):
            parts = [self.read(region, {}).reshape(-1) for region in rectangles(self.shape, start, stop)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0, self.dtype)

    def blocks(self, limit: int | None = None) -> Iterator[np.ndarray]:
        """All elements as blocks in row-major order, each an array of the rank of the whole."""
        if not self.size:
            return
        for region in blocks_of(self.shape, limit or self.window):
            with np.errstate(all="ignore"):
                block = self.read(region, {})
            yield block

    @property
    def window(self) -> int:
        """How many elements to read at a time; more where every block touches the whole file."""
        if not self.is_across:
            return BLOCK
        return min(max(BLOCK, self.size // 32), (32 << 20) // max(self.dtype.itemsize, 1))

    def numpy(self) -> np.ndarray:
        """All elements as an array. It is not kept, but given again as long as somebody has it."""
        array = None if self._array is None else self._array()
        if array is None:
            array = self._whole()
            self._array = weakref.ref(array)
        return array

    def _whole(self) -> np.ndarray:
        with np.errstate(all="ignore"):
            if self.size <= BLOCK:
                return np.ascontiguousarray(self.read(whole(self.shape), {})).reshape(self.shape)
            result = np.empty(self.shape, self.dtype)
            for region in blocks_of(self.shape, self.window):
                result[slices_of(region)] = self.read(region, {})
        result.flags.writeable = False
        return result

    def __reduce__(self) -> Any:
        return Leaf, (self.numpy(),)


class Leaf(Elements):
    """A leaf: elements that lie in memory, or in a file mapped into it. Any strides, also those of repeated axes."""

    __slots__ = ("array", "mapping")

    def __init__(self, array: np.ndarray) -> None:
        super().__init__(array.dtype, array.shape)
        self.array, self.mapping = array, mapping_of(array)
        strides = [abs(n) for n, length in zip(array.strides, array.shape, strict=True) if length > 1 and n]
        self.is_across = strides != sorted(strides, reverse=True)

    def compute(self, region: Region, memo: Memo) -> np.ndarray:
        part = self.array[(..., *slices_of(region))]
        if self.mapping is not None:
            self.mapping.note(part)
        return gathered(part) if part.size >= SCATTERED and is_scattered(part) else part

    def numpy(self) -> np.ndarray:
        return self.array

    def core(self) -> np.ndarray:
        """The elements without the axes along which they repeat, which have length 1 here."""
        return self.array[tuple(slice(0, 1) if not n else slice(None) for n in self.array.strides)]


def elements_of(value: Any) -> Elements:
    """A constant's value as elements."""
    return value if isinstance(value, Elements) else Leaf(value if is_array(value) else value.numpy())


def leaves_of(elements: Elements) -> Iterator[Leaf]:
    """What is held in memory or in files, each once."""
    visited: set[int] = set()
    stack = [elements]
    while stack:
        each = stack.pop()
        if id(each) in visited:
            continue
        visited.add(id(each))
        stack += each.inputs
        if isinstance(each, Leaf):
            yield each
