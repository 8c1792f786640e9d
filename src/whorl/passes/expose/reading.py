"""What outputs that were exposed hold: for each value the iterations in which it was recorded, and what it was."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.ir.cached_property import cached_property
from whorl.ir.guards import is_array
from whorl.passes.expose.exposure import Exposed, Part


class Nested(Struct, frozen=True, eq=False, dict=True):
    """Iterations of loops in each other: for each row of `outer` all inner ones, whose numbers are in `lengths`."""

    outer: np.ndarray
    lengths: np.ndarray

    @cached_property
    def table(self) -> np.ndarray:
        """A row for each iteration of the innermost loop."""
        if not self.outer.shape[1] and len(self.outer) == 1:
            return _grid(tuple(self.lengths[0].tolist()))
        counts = self.lengths.prod(1)
        table = np.empty((int(counts.sum()), self.outer.shape[1] + self.lengths.shape[1]), np.int64)
        depth = self.outer.shape[1]
        table[:, :depth] = np.repeat(self.outer, counts, 0)
        rest = np.arange(len(table)) - np.repeat(counts.cumsum() - counts, counts)
        for axis in range(self.lengths.shape[1] - 1, 0, -1):
            rest, table[:, depth + axis] = np.divmod(rest, np.repeat(self.lengths[:, axis], counts))
        table[:, depth] = rest
        return table


class Records(Struct, frozen=True, eq=False):
    """A value of a body, record by record.

    `loops`: the paths of the loops around it, outermost first. `numbers` are their `iterations`. `values`: an array
    with the records on its first axis, or a list where their shapes differ, or where they are lists of arrays.
    """

    path: str
    loops: tuple[str, ...]
    numbers: np.ndarray | Nested
    values: np.ndarray | list[Any]

    @property
    def iterations(self) -> np.ndarray:
        """For each record the iteration of each loop, a row for each record."""
        return self.numbers.table if isinstance(self.numbers, Nested) else self.numbers

    @property
    def count(self) -> int:
        """The number of records."""
        return len(self.values)

    @property
    def is_ragged(self) -> bool:
        """Whether the records have different shapes, or are lists."""
        return isinstance(self.values, list)

    @property
    def first(self) -> Any:
        """The value of the first record, None where there is none."""
        return self.at_row(0) if self.count else None

    def at_row(self, row: int) -> Any:
        """The value of a record."""
        return self.values[row] if isinstance(self.values, list) else self.values[row, ...]

    def within(self, iterations: Mapping[str, int]) -> Records:
        """The records in which loops have these iterations, by their paths."""
        columns = [column for column, path in enumerate(self.loops) if path in iterations]
        numbers = [iterations[self.loops[column]] for column in columns]
        (rows,) = np.nonzero((self.iterations[:, columns] == np.array(numbers, np.int64)).all(1))
        if len(rows) == len(self.iterations):
            return self
        values = [self.values[row] for row in rows] if isinstance(self.values, list) else self.values[rows]
        return Records(self.path, self.loops, self.iterations[rows], values)

    def at(self, *iterations: int) -> Any:
        """What the value was in these iterations of the loops around it. Errors: KeyError where it was not recorded."""
        (rows,) = np.nonzero((self.iterations == np.array(iterations, np.int64)).all(1))
        if not len(rows):
            raise KeyError(f"{self.path!r} was not recorded in iteration {', '.join(map(str, iterations))}")
        return self.at_row(int(rows[0]))


def read_records(exposed: Exposed, outputs: Mapping[str, np.ndarray]) -> Records:
    """The records of one value, from the outputs that `expose` added."""
    if not exposed.parts:
        value = outputs[exposed.outputs[0]]
        if not is_array(value):
            return Records(exposed.path, exposed.loops, np.zeros((1, 0), np.int64), [value])
        return _explode(
            exposed, np.zeros((1, 0), np.int64), Column(value.reshape(-1), np.array([value.shape], np.int64))
        )
    iterations, columns = _read_log(exposed, outputs)
    column = columns[exposed.first]
    if not exposed.is_sequence:
        return _explode(exposed, iterations, column)
    pairs = zip(column.tensors(), columns[exposed.first + 1].tensors(), strict=True)
    return Records(exposed.path, exposed.loops, iterations, [_split_items(data, shapes) for data, shapes in pairs])


class Column(Struct, frozen=True):
    """Tensors one after the other: the elements of all, and the shape of each as a row, or as a list if ranks differ.

    `starts`: where each begins, if they do not follow each other.
    """

    elements: np.ndarray
    shapes: np.ndarray | list[np.ndarray]
    starts: np.ndarray | None = None

    @property
    def sizes(self) -> np.ndarray:
        """The number of elements of each."""
        if isinstance(self.shapes, np.ndarray):
            return self.shapes.prod(1)
        return np.array([math.prod(shape.tolist()) for shape in self.shapes], np.int64)

    def rows(self, stacked: int) -> np.ndarray | list[np.ndarray]:
        """What lies on the first axes of all tensors together: one array where the rest of their shapes is the same."""
        shapes = self.shapes
        if not len(shapes):
            return []
        if not isinstance(shapes, np.ndarray) or (shapes[:, stacked:] != shapes[0, stacked:]).any():
            tensors = self.tensors()
            if stacked:
                leading = [math.prod(each.shape[:stacked]) for each in tensors]
                pairs = zip(leading, tensors, strict=True)
                tensors = [row for n, each in pairs for row in each.reshape(n, *each.shape[stacked:])]
            return np.stack(tensors) if len({each.shape for each in tensors}) == 1 else tensors
        own = tuple(shapes[0, stacked:].tolist())
        if self.starts is None:
            return self.elements.reshape(int(shapes[:, :stacked].prod(1).sum()), *own)
        return np.concatenate([each.reshape(math.prod(each.shape[:stacked]), *own) for each in self.tensors()])

    def tensors(self) -> list[np.ndarray]:
        """Each tensor, a view."""
        sizes = self.sizes
        starts = sizes.cumsum() - sizes if self.starts is None else self.starts
        spans = zip(starts.tolist(), sizes.tolist(), self.shapes, strict=True)
        return [self.elements[start : start + size].reshape(shape.tolist()) for start, size, shape in spans]


def _explode(exposed: Exposed, iterations: np.ndarray, column: Column) -> Records:
    """A record for each iteration of the loops that stacked a value on its first axes."""
    values = column.rows(exposed.stacked)
    if not exposed.stacked:
        shape = exposed.parts[exposed.first].shape if exposed.parts else None
        if not len(iterations) and shape is not None and None not in shape:
            values = column.elements.reshape(0, *(length or 0 for length in shape))
        return Records(exposed.path, exposed.loops, iterations, values)
    assert isinstance(column.shapes, np.ndarray)
    numbers = Nested(iterations, column.shapes[:, : exposed.stacked])
    return Records(exposed.path, exposed.loops, numbers, values)


@lru_cache(maxsize=2)
def _grid(lengths: tuple[int, ...]) -> np.ndarray:
    """The iterations of loops in each other; shared, since long loops have many values."""
    grid = np.indices(lengths).reshape(len(lengths), -1).T
    grid.flags.writeable = False
    return grid


def _read_log(exposed: Exposed, outputs: Mapping[str, np.ndarray]) -> tuple[np.ndarray, list[Column]]:
    """The iterations of each record, and for each part of the log its tensors."""
    header = outputs[exposed.outputs[0]]
    depth = len(exposed.loops) - exposed.stacked
    parts = exposed.parts
    shapes: list[np.ndarray | list[np.ndarray]] = []
    if any(part.shape is None for part in parts):
        iterations, shapes = _walk(parts, header, depth)
    else:
        marks = max(1, depth)
        unknown = [[axis for axis, length in enumerate(part.shape or ()) if length is None] for part in parts]
        ranks = [len(part.shape or ()) if axes else 0 for part, axes in zip(parts, unknown, strict=True)]
        table = header.reshape(-1, marks + sum(ranks))
        iterations = table[:, :depth]
        position = marks
        for part, rank in zip(parts, ranks, strict=True):
            if rank:
                shapes.append(table[:, position : position + rank])
            else:
                shapes.append(np.tile(np.array(part.shape, np.int64), (len(table), 1)))
            position += rank
    dtypes = list(dict.fromkeys(part.dtype for part in parts))
    data = {dtype: outputs[name] for dtype, name in zip(dtypes, exposed.outputs[1:], strict=True)}
    return iterations, _columns(parts, shapes, data)


def _columns(
    parts: Sequence[Part], shapes: Sequence[np.ndarray | list[np.ndarray]], data: Mapping[np.dtype, np.ndarray]
) -> list[Column]:
    """The tensors of each part, which lie in the data of its element type beside those of the others."""
    sizes = [Column(data[part.dtype], each).sizes for part, each in zip(parts, shapes, strict=True)]
    members = {dtype: [k for k, part in enumerate(parts) if part.dtype == dtype] for dtype in data}
    columns: list[Column] = []
    for k, (part, each) in enumerate(zip(parts, shapes, strict=True)):
        others = members[part.dtype]
        if len(others) == 1:
            columns.append(Column(data[part.dtype], each))
            continue
        widths = np.sum([sizes[n] for n in others], 0)
        before = np.sum([sizes[n] for n in others if n < k] or [np.zeros_like(sizes[k])], 0)
        columns.append(Column(data[part.dtype], each, np.cumsum(widths) - widths + before))
    return columns


def _walk(
    parts: Sequence[Part], header: np.ndarray, depth: int
) -> tuple[np.ndarray, list[np.ndarray | list[np.ndarray]]]:
    """The iterations, and the shapes of each part, where ranks are in the header."""
    iterations: list[np.ndarray] = []
    shapes: list[list[np.ndarray]] = [[] for _ in parts]
    position = 0
    while position < len(header):
        iterations.append(header[position : position + depth])
        position += max(1, depth)
        for part, own in zip(parts, shapes, strict=True):
            shape, position = _read_shape(part, header, position)
            own.append(shape)
    tables: list[np.ndarray | list[np.ndarray]] = [
        np.stack(own) if own and len({len(shape) for shape in own}) == 1 else own for own in shapes
    ]
    return np.array(iterations, np.int64).reshape(len(iterations), depth), tables


def _read_shape(part: Part, header: np.ndarray, position: int) -> tuple[np.ndarray, int]:
    if part.shape is not None and None not in part.shape:
        return np.array(part.shape, np.int64), position
    if part.shape is None:
        rank, position = int(header[position]), position + 1
    else:
        rank = len(part.shape)
    return header[position : position + rank], position + rank


def _split_items(data: np.ndarray, shapes: np.ndarray) -> list[np.ndarray]:
    """The tensors of a sequence from their elements and from the rank and lengths of each."""
    items: list[np.ndarray] = []
    position = begin = 0
    while position < len(shapes):
        rank = int(shapes[position])
        shape = tuple(map(int, shapes[position + 1 : position + 1 + rank]))
        end = begin + math.prod(shape)
        items.append(data[begin:end].reshape(shape))
        position, begin = position + 1 + rank, end
    return items
