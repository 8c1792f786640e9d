"""Rectangles of a tensor: how its row-major order is cut into blocks, and a range of it into rectangles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

Region = tuple[tuple[int, int], ...]
"""For each axis the first index and the one past the last."""


def whole(shape: Sequence[int]) -> Region:
    """All of a tensor."""
    return tuple((0, length) for length in shape)


def lengths_of(region: Region) -> tuple[int, ...]:
    """The shape of a region."""
    return tuple(stop - start for start, stop in region)


def slices_of(region: Region) -> tuple[slice, ...]:
    """The region as an index of an array."""
    return tuple(slice(start, stop) for start, stop in region)


def blocks_of(shape: Sequence[int], limit: int) -> Iterator[Region]:
    """Regions of at most `limit` elements that follow each other in row-major order and make up the whole."""
    axis, inner = len(shape), 1
    while axis > 0 and inner * shape[axis - 1] <= limit:
        axis -= 1
        inner *= shape[axis]
    if axis == 0:
        yield whole(shape)
        return
    step, tail = max(1, limit // inner), whole(shape[axis:])
    outer = shape[: axis - 1]
    for number in range(math.prod(outer)):
        head = tuple((k, k + 1) for k in unraveled(number, outer))
        for start in range(0, shape[axis - 1], step):
            yield (*head, (start, min(start + step, shape[axis - 1])), *tail)


def unraveled(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index of the element that has a number in row-major order."""
    index: list[int] = []
    for length in reversed(shape):
        number, coordinate = divmod(number, length)
        index.append(coordinate)
    return tuple(reversed(index))


def rectangles(shape: Sequence[int], start: int, stop: int) -> Iterator[Region]:
    """The elements `start` to `stop` of the row-major order as regions, in order."""
    if not shape:
        if start < stop:
            yield ()
        return
    inner = math.prod(shape[1:])
    while start < stop:
        row, inside = divmod(start, inner)
        if inside or stop - start < inner:
            end = min(stop, (row + 1) * inner)
            for rest in rectangles(shape[1:], inside, end - row * inner):
                yield ((row, row + 1), *rest)
        else:
            last = stop // inner
            end = last * inner
            yield ((row, last), *whole(shape[1:]))
        start = end


def runs(shape: Sequence[int], region: Region) -> Iterator[tuple[int, int]]:
    """A region as ranges of the row-major order of a tensor, in the region's own order."""
    axis, inner = len(shape), 1
    while axis > 0 and region[axis - 1] == (0, shape[axis - 1]):
        axis -= 1
        inner *= shape[axis]
    if axis == 0:
        yield 0, inner
        return
    first, last = region[axis - 1]
    outer = region[: axis - 1]
    counts = lengths_of(outer)
    for number in range(math.prod(counts)):
        block = 0
        for (start, _), offset, length in zip(outer, unraveled(number, counts), shape, strict=False):
            block = block * length + start + offset
        block *= shape[axis - 1]
        yield (block + first) * inner, (block + last) * inner
