"""What outputs that were exposed hold: for each value the iterations in which it was recorded, and what it was."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.ir.guards import is_array
from whorl.passes.expose.exposure import Exposed, Part


class Records(Struct, frozen=True, eq=False):
    """A value of a body, record by record.

    `loops`: the paths of the loops around it, outermost first. `iterations`: for each record the iteration of each of
    these. `values`: an array with the records on its first axis, or a list where their shapes differ, or where they
    are lists of arrays.
    """

    path: str
    loops: tuple[str, ...]
    iterations: np.ndarray
    values: np.ndarray | list[Any]

    @property
    def is_ragged(self) -> bool:
        """Whether the records have different shapes, or are lists."""
        return isinstance(self.values, list)

    @property
    def first(self) -> Any:
        """The value of the first record, None where there is none."""
        return self.at_row(0) if len(self.iterations) else None

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
        return _explode(exposed, np.zeros((1, 0), np.int64), [outputs[exposed.outputs[0]]])
    iterations, columns = _read_log(exposed, outputs)
    if not exposed.is_sequence:
        return _explode(exposed, iterations, columns[exposed.first])
    pairs = zip(columns[exposed.first], columns[exposed.first + 1], strict=True)
    return Records(exposed.path, exposed.loops, iterations, [_split_items(data, shapes) for data, shapes in pairs])


def _explode(exposed: Exposed, iterations: np.ndarray, values: Sequence[np.ndarray] | np.ndarray) -> Records:
    """A record for each iteration of the loops that stacked a value on its first axes."""
    if not exposed.stacked:
        return Records(exposed.path, exposed.loops, iterations, _stack(values))
    numbers: list[np.ndarray] = []
    rows: list[np.ndarray] = []
    for outer, value in zip(iterations, values, strict=True):
        lengths, rest = value.shape[: exposed.stacked], value.shape[exposed.stacked :]
        own = _grid(lengths)
        numbers.append(np.concatenate([np.broadcast_to(outer, (len(own), len(outer))), own], 1) if len(outer) else own)
        rows.append(value.reshape(len(own), *rest))
    if len({row.shape[1:] for row in rows}) == 1:
        stacked_rows: np.ndarray | list[Any] = rows[0] if len(rows) == 1 else np.concatenate(rows)
    else:
        stacked_rows = _stack([row for each in rows for row in each])
    empty = np.zeros((0, len(exposed.loops)), np.int64)
    all_numbers = numbers[0] if len(numbers) == 1 else np.concatenate([empty, *numbers])
    return Records(exposed.path, exposed.loops, all_numbers, stacked_rows)


@lru_cache(maxsize=2)
def _grid(lengths: tuple[int, ...]) -> np.ndarray:
    """The iterations of loops in each other; shared, since long loops have many values."""
    grid = np.indices(lengths).reshape(len(lengths), -1).T
    grid.flags.writeable = False
    return grid


def _stack(values: Sequence[np.ndarray] | np.ndarray) -> np.ndarray | list[Any]:
    if isinstance(values, np.ndarray):
        return values
    shapes = {np.shape(value) if is_array(value) else None for value in values}
    return np.stack(values) if len(shapes) == 1 and None not in shapes else list(values)


def _read_log(
    exposed: Exposed, outputs: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray | list[np.ndarray]]]:
    """The iterations of each record, and for each part of the log its tensors."""
    header = outputs[exposed.outputs[0]]
    depth = len(exposed.loops) - exposed.stacked
    marks = max(1, depth)
    dtypes = list(dict.fromkeys(part.dtype for part in exposed.parts))
    data = {dtype: outputs[name] for dtype, name in zip(dtypes, exposed.outputs[1:], strict=True)}
    if all(part.shape is not None and None not in part.shape for part in exposed.parts):
        return _read_table(exposed.parts, header.reshape(-1, marks)[:, :depth], data)
    iterations: list[np.ndarray] = []
    columns: list[list[np.ndarray]] = [[] for _ in exposed.parts]
    position, ends = 0, dict.fromkeys(dtypes, 0)
    while position < len(header):
        iterations.append(header[position : position + depth])
        position += marks
        for part, column in zip(exposed.parts, columns, strict=True):
            shape, position = _read_shape(part, header, position)
            begin = ends[part.dtype]
            ends[part.dtype] = end = begin + math.prod(shape)
            column.append(data[part.dtype][begin:end].reshape(shape))
    return np.array(iterations, np.int64).reshape(len(iterations), depth), list(columns)


def _read_table(
    parts: Sequence[Part], header: np.ndarray, data: Mapping[np.dtype, np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray | list[np.ndarray]]]:
    """Records of known lengths are the rows of tables."""
    sizes = [math.prod(length for length in part.shape or () if length is not None) for part in parts]
    widths = {dtype: sum(n for n, p in zip(sizes, parts, strict=True) if p.dtype == dtype) for dtype in data}
    begins = dict.fromkeys(data, 0)
    columns: list[np.ndarray | list[np.ndarray]] = []
    for part, size in zip(parts, sizes, strict=True):
        table = data[part.dtype].reshape(len(header), widths[part.dtype])
        begin = begins[part.dtype]
        begins[part.dtype] = begin + size
        columns.append(table[:, begin : begin + size].reshape(len(header), *(n or 0 for n in part.shape or ())))
    return header, columns


def _read_shape(part: Part, header: np.ndarray, position: int) -> tuple[tuple[int, ...], int]:
    if part.shape is not None and None not in part.shape:
        return tuple(length or 0 for length in part.shape), position
    if part.shape is None:
        rank, position = int(header[position]), position + 1
    else:
        rank = len(part.shape)
    return tuple(map(int, header[position : position + rank])), position + rank


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
