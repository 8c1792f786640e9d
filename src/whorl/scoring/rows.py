"""A table in, a table out: rows grouped by their shapes, computed in batches, and those that fail named one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from whorl.api.options import RunOptions
from whorl.errors import CancelledError, RunError, WhorlError
from whorl.scoring.columns import Column, convert, read_column, write_column
from whorl.scoring.layouts import Runs
from whorl.scoring.mapping import Bound, stack
from whorl.scoring.packages import arrow

OnError = Literal["raise", "null"]
ERROR = "error"
"""The column that says why a row has no results."""


class Group(Struct, frozen=True):
    """Rows whose tensors have the same shapes, an input each."""

    rows: np.ndarray
    shapes: tuple[tuple[int, ...], ...]


class Piece(Struct, frozen=True):
    """The results of some rows, for each output an array with the rows on its first axis, or a list."""

    rows: np.ndarray
    values: list[Any]


class Scorer(Struct, frozen=True):
    """Computes tables: how rows lie in runs and how many do, the columns to keep, and those of the results."""

    layout: Runs
    results: Any
    batch: int
    keep: tuple[str, ...] = ()
    on_error: OnError = "raise"
    max_memory: int | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return list(dict.fromkeys([*self.layout.feeding.columns, *self.keep]))

    def output_schema(self, schema: Any) -> Any:
        """The columns of what `score` gives for a table of this schema."""
        pa = arrow()
        errors = [pa.field(ERROR, pa.string())] if self.on_error == "null" else []
        return pa.schema([*(schema.field(name) for name in self.keep), *self.results, *errors])

    def score(self, table: Any, source: str = "the table", first: int = 0) -> Any:
        """The results of a table's rows, in their order. Errors: RunError names a row, counted from `first` on."""
        pieces, faults = list[Piece](), dict[int, str]()
        columns = {name: read_column(table.column(name), name) for name in self.layout.feeding.columns}
        for column in columns.values():
            faults |= column.faults
        if not faults or self.on_error == "null":
            for group in self.groups(columns, table.num_rows, faults):
                pieces += self._run_group(columns, group, faults)
        if faults and self.on_error == "raise":
            row = min(faults)
            fix = "mend the row, or let failed rows have an error instead of results (on_error null)"
            raise RunError(faults[row], f"row {first + row} of {source}", fix)
        return self._table(table, pieces, faults)

    def groups(self, columns: dict[str, Column], count: int, faults: dict[int, str]) -> Iterator[Group]:
        """The rows without a fault by the shapes of their tensors."""
        rows = np.arange(count)
        if faults:
            rows = np.delete(rows, list(faults))
        bound = self.layout.feeding.bound
        shapes = np.concatenate([_shapes(each, columns, count) for each in bound], axis=1)[rows]
        if not len(rows):
            return
        if (shapes == shapes[0]).all():
            yield Group(rows, _split(shapes[0], bound))
            return
        kinds, inverse = np.unique(shapes, axis=0, return_inverse=True)
        order = np.argsort(inverse.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(inverse.reshape(-1), minlength=len(kinds)))
        for kind, part in zip(kinds, np.split(order, ends[:-1]), strict=True):
            yield Group(rows[part], _split(kind, bound))

    def _run_group(self, columns: dict[str, Column], group: Group, faults: dict[int, str]) -> Iterator[Piece]:
        """The results of rows of the same shapes, which become tensors together and run batch by batch.

        Where a row cannot become a tensor, each batch does on its own, so that the row is named.
        """
        try:
            feeds = self.feeds(columns, group)
        except RunError:
            feeds = None
        for start in range(0, len(group.rows), self.batch):
            end = start + self.batch
            part = Group(group.rows[start:end], group.shapes)
            own = None if feeds is None else {name: rows[start:end] for name, rows in feeds.items()}
            yield from self._run(columns, part, faults, own)

    def _run(
        self,
        columns: dict[str, Column],
        group: Group,
        faults: dict[int, str],
        feeds: Mapping[str, np.ndarray] | None = None,
    ) -> list[Piece]:
        """The results of rows that may run at once; where that fails, of each half of them."""
        if faults and self.on_error == "raise":
            return []
        try:
            return [self.run(self.feeds(columns, group) if feeds is None else feeds, group.rows)]
        except CancelledError:
            raise
        except WhorlError as error:
            if len(group.rows) == 1:
                faults[int(group.rows[0])] = str(error)
                return []
        middle = len(group.rows) // 2
        halves = Group(group.rows[:middle], group.shapes), Group(group.rows[middle:], group.shapes)
        return [piece for half in halves for piece in self._run(columns, half, faults)]

    def feeds(self, columns: dict[str, Column], group: Group) -> dict[str, np.ndarray]:
        """The inputs of rows, which lie on the first axis. Errors: RunError for what an input cannot take."""
        feeds = {}
        for each, shape in zip(self.layout.feeding.bound, group.shapes, strict=True):
            parts = [columns[name].take(group.rows, () if each.is_stacked else shape) for name in each.columns]
            parts = [convert(part, each.type.dtype, name) for part, name in zip(parts, each.columns, strict=True)]
            feeds[each.name] = stack(parts) if each.is_stacked else parts[0]
        return feeds

    def run(self, feeds: Mapping[str, np.ndarray], rows: np.ndarray) -> Piece:
        """The results of rows in one run. Errors: as of a session's run."""
        options = None
        if self.max_memory is not None:
            options = RunOptions()
            options.max_memory = self.max_memory
        return Piece(rows, self.layout.run(feeds, len(rows), options))

    def _table(self, table: Any, pieces: list[Piece], faults: dict[int, str]) -> Any:
        pa, count = arrow(), table.num_rows
        rows = np.concatenate([piece.rows for piece in pieces]) if pieces else np.zeros(0, np.int64)
        arrays = [_join_rows([p.values[k] for p in pieces], field.type) for k, field in enumerate(self.results)]
        if len(rows) != count or not np.array_equal(rows, np.arange(count)):
            positions = np.full(count, -1)
            positions[rows] = np.arange(len(rows))
            indices = pa.array(positions, mask=positions < 0)
            arrays = [array.take(indices) for array in arrays]
        if self.on_error == "null":
            arrays.append(
                pa.array([faults.get(row) for row in range(count)] if faults else [None] * count, pa.string())
            )
        schema = self.output_schema(table.schema)
        return pa.Table.from_arrays([*(table.column(name) for name in self.keep), *arrays], schema=schema)


def _shapes(each: Bound, columns: dict[str, Column], count: int) -> np.ndarray:
    """The shape of each row for an input."""
    if each.is_stacked:
        return np.full((count, 1), len(each.columns), np.int64)
    return columns[each.columns[0]].shapes


def _split(shape: np.ndarray, bound: tuple[Bound, ...]) -> tuple[tuple[int, ...], ...]:
    """The shape of each input of those that lie side by side."""
    lengths = iter(shape.tolist())
    return tuple(tuple(next(lengths) for _ in range(each.rank)) for each in bound)


def _join_rows(values: list[Any], type: Any) -> Any:
    """One Arrow array of values, which have the rows on their first axis and may else differ in shape."""
    pa = arrow()
    if not values:
        return pa.array([], type)
    kinds = {(value.dtype, value.shape[1:]) if isinstance(value, np.ndarray) else None for value in values}
    if len(kinds) == 1 and None not in kinds:
        return write_column(values[0] if len(values) == 1 else np.concatenate(values), type)
    return pa.concat_arrays([write_column(value, type) for value in values])
