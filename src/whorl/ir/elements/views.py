"""Views of elements that are not computed: axes permuted, cut, reversed, repeated, added, dropped, merged, joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.elements.base import Elements, Leaf, Memo
from whorl.ir.elements.regions import Region, lengths_of, runs, unraveled

View = Callable[..., np.ndarray | tuple[np.ndarray, ...]]
"""A function of an array that answers a view of it, or several, without reading an element."""


def viewed(view: View, source: Elements, *settings: np.ndarray | None) -> tuple[Elements, ...] | None:
    """The views that a function makes of elements, found by showing it an array of their shape; None for other ones.

    The array has the shape of the source over a single byte: only its strides tell where an element would lie.
    """
    if not source.size:
        return None
    probe = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), source.shape, _strides(source.shape))
    answer = view(probe, *settings)
    results = answer if isinstance(answer, tuple) else (answer,)
    views = [_as_view(each, probe, source) for each in results]
    if any(each is None for each in views):
        return None
    if isinstance(source, Leaf):
        exact = all(isinstance(each, StridedView) for each in views) or source.array.flags.c_contiguous
        if exact:
            stored = view(source.array, *settings)
            return tuple(Leaf(each) for each in (stored if isinstance(stored, tuple) else (stored,)))
    return tuple(each for each in views if each is not None)


def _strides(shape: Sequence[int]) -> list[int]:
    """The strides of a row-major array of bytes."""
    strides: list[int] = []
    step = 1
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return strides[::-1]


def _as_view(answer: np.ndarray, probe: np.ndarray, source: Elements) -> Elements | None:
    """The view of `source` that an array over the probe stands for."""
    first = answer.__array_interface__["data"][0] - probe.__array_interface__["data"][0]
    if not answer.size or not 0 <= first < source.size:
        return None
    if answer.flags.c_contiguous and answer.size == source.size and first == 0:
        return Reshaped(source, answer.shape) if answer.shape != source.shape else source
    axes: list[Axis | None] = []
    steps = _strides(source.shape)
    for stride, length in zip(answer.strides, answer.shape, strict=True):
        axis = _axis_of(stride, length, steps, source.shape)
        if axis is None and length > 1 and stride:
            return None
        axes.append(axis)
    used = [axis.source for axis in axes if axis is not None]
    if len(set(used)) < len(used):
        return None
    return StridedView(source, unraveled(first, source.shape), tuple(axes), answer.shape)


class Axis(Struct, frozen=True):
    """An axis of a view: the axis of the source it runs along, and how far a step goes there."""

    source: int
    step: int


def _axis_of(stride: int, length: int, steps: Sequence[int], shape: Sequence[int]) -> Axis | None:
    """The axis of the source that a stride goes along; None for one that repeats, or that goes along several."""
    if length == 1 or stride == 0:
        return None
    for k, (step, limit) in enumerate(zip(steps, shape, strict=True)):
        if limit > 1 and stride % step == 0 and (abs(stride) // step) * (length - 1) < limit:
            return Axis(k, stride // step)
    return None


class StridedView(Elements):
    """Each axis runs along one axis of the source from `start`, forwards or backwards, or repeats."""

    __slots__ = ("axes", "start")

    def __init__(
        self, source: Elements, start: tuple[int, ...], axes: tuple[Axis | None, ...], shape: tuple[int, ...]
    ) -> None:
        super().__init__(source.dtype, shape, source)
        self.start, self.axes = start, axes
        order = [axis.source for axis in axes if axis is not None]
        self.is_across = source.is_across or order != sorted(order)

    def compute(self, region: Region, memo: Memo) -> np.ndarray:
        spans = [(first, first + 1) for first in self.start]
        index: list[slice] = [slice(None)] * len(spans)
        for axis, (low, high) in zip(self.axes, region, strict=True):
            if axis is not None:
                ends = sorted(self.start[axis.source] + axis.step * k for k in (low, high - 1))
                spans[axis.source] = ends[0], ends[1] + 1
                index[axis.source] = slice(None, None, axis.step)
        part = self.inputs[0].read(tuple(spans), memo)[(..., *index)]
        sources = [axis.source for axis in self.axes if axis is not None]
        dropped = [k for k in range(len(spans)) if k not in sources]
        part = part.transpose(sources + dropped).reshape([part.shape[k] for k in sources])
        added = tuple(slice(None) if axis is not None else None for axis in self.axes)
        return np.broadcast_to(part[added], lengths_of(region))


class Reshaped(Elements):
    """The elements of the source in row-major order under another shape."""

    __slots__ = ()

    def __init__(self, source: Elements, shape: tuple[int, ...]) -> None:
        super().__init__(source.dtype, shape, source)

    def compute(self, region: Region, memo: Memo) -> np.ndarray:
        parts = [self.inputs[0].flat(start, stop) for start, stop in runs(self.shape, region)]
        flat = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return flat.reshape(lengths_of(region))

    def flat(self, start: int, stop: int) -> np.ndarray:
        return self.inputs[0].flat(start, stop)


class Concatenated(Elements):
    """The inputs one after the other along an axis."""

    __slots__ = ("axis",)

    def __init__(self, inputs: Sequence[Elements], axis: int) -> None:
        first = inputs[0]
        length = sum(x.shape[axis] for x in inputs)
        super().__init__(first.dtype, (*first.shape[:axis], length, *first.shape[axis + 1 :]), *inputs)
        self.axis = axis

    def compute(self, region: Region, memo: Memo) -> np.ndarray:
        (low, high), offset = region[self.axis], 0
        parts: list[np.ndarray] = []
        for each in self.inputs:
            length = each.shape[self.axis]
            first, last = max(low, offset), min(high, offset + length)
            if first < last:
                span = (first - offset, last - offset)
                parts.append(each.read((*region[: self.axis], span, *region[self.axis + 1 :]), memo))
            offset += length
        return parts[0] if len(parts) == 1 else np.concatenate(parts, self.axis)


def tiled(source: Elements, times: Sequence[int]) -> Elements | None:
    """The elements repeated along each axis."""
    shape = [length for pair in zip(times, source.shape, strict=True) for length in pair]
    index = tuple(part for _ in source.shape for part in (None, slice(None)))

    def repeat(array: np.ndarray) -> np.ndarray:
        return np.broadcast_to(array[index], shape)

    repeated = viewed(repeat, source)
    if repeated is None:
        return None
    return Reshaped(repeated[0], tuple(n * length for n, length in zip(times, source.shape, strict=True)))
