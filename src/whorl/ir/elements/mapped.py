"""Element by element computations that wait until a block of the result is read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from whorl.ir.elements.base import Elements, Leaf, Memo
from whorl.ir.elements.regions import Region

Function = Callable[..., np.ndarray]
"""What computes a block of the result from the blocks of the inputs that lie there."""
SMALL = 4096
"""Elements up to which a result is computed at once."""


class Mapped(Elements):
    """A function of the inputs' elements at the same place, the inputs broadcast as NumPy does."""

    __slots__ = ("function",)

    def __init__(self, function: Function, inputs: Sequence[Elements], dtype: np.dtype, shape: tuple[int, ...]) -> None:
        super().__init__(dtype, shape, *inputs)
        self.function = function

    def compute(self, region: Region, memo: Memo) -> np.ndarray:
        blocks = [each.read(_within(each.shape, region), memo) for each in self.inputs]
        return np.asarray(self.function(*blocks))


def _within(shape: tuple[int, ...], region: Region) -> Region:
    """The part of an input that is broadcast to a region."""
    tail = region[len(region) - len(shape) :]
    return tuple((0, 1) if length == 1 else span for length, span in zip(shape, tail, strict=True))


def mapped(function: Function, inputs: Sequence[Elements], dtype: np.dtype, shape: tuple[int, ...]) -> Elements:
    """The function of the inputs' elements. Along axes where all inputs repeat it is computed once, and repeats."""
    arrays = [each.array for each in inputs if isinstance(each, Leaf)]
    if len(arrays) == len(inputs):
        repeating = [axis for axis in range(1, len(shape) + 1) if all(_repeats(array, axis) for array in arrays)]
        if math.prod(length for axis, length in enumerate(reversed(shape), 1) if axis not in repeating) <= SMALL:
            with np.errstate(all="ignore"):
                core = function(*(_cut(array, repeating) for array in arrays))
            return Leaf(np.broadcast_to(core, shape))
    return Mapped(function, inputs, dtype, shape)


def _repeats(array: np.ndarray, axis: int) -> bool:
    """Whether all elements along an axis, counted from the last, are the same."""
    return array.ndim < axis or array.shape[-axis] == 1 or array.strides[-axis] == 0


def _cut(array: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """The array with length 1 along axes counted from the last."""
    index = [slice(None)] * array.ndim
    for axis in axes:
        if axis <= array.ndim:
            index[-axis] = slice(0, 1)
    return array[(..., *index)]
