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
CHUNK = 1 << 16
"""Bytes of a run's results above which to copy them next to the others takes longer than another chunk does."""


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
        """The results of a table's rows, in their order, of which runs may be chunks.

        Errors: RunError names a row, counted from `first` on.
        """
        pieces, faults, groups = list[Piece](), dict[int, str](), list[Group]()
        columns = {name: read_column(table.column(name), name) for name in self.layout.feeding.columns}
        for column in columns.values():
            faults |= column.faults
        if not faults or self.on_error == "null":
            groups = list(self.groups(columns, table.num_rows, faults))
            for group in groups:
                pieces += self._run_group(columns, group, faults)
        if faults and self.on_error == "raise":
            row = min(faults)
            fix = "mend the row, or let failed rows have an error instead of results (on_error null)"
            raise RunError(faults[row], f"row {first + row} of {source}", fix)
        return self._table(table, pieces, faults, is_ordered=len(groups) == 1 and not faults)

    def groups(self, columns: dict[str, Column], count: int, faults: dict[int, str]) -> Iterator[Group]:
        """The rows without a fault by the shapes of their tensors."""
        rows = np.arange(count)
        bound = self.layout.feeding.bound
        if count and not faults and all(column.is_even for column in columns.values()):
            shapes = np.concatenate([_shapes(each, columns, 1) for each in bound], axis=1)
            yield Group(rows, _split(shapes[0], bound))
            return
        if faults:
            rows = np.delete(rows, list(faults))
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
        run, size, options = self.layout.run, self.batch, self._options()
        for start in range(0, len(group.rows), size):
            rows = group.rows[start : start + size]
            if feeds is None:
                yield from self._run(columns, Group(rows, group.shapes), faults)
                continue
            own = {name: each[start : start + size] for name, each in feeds.items()}
            try:
                piece = Piece(rows, run(own, len(rows), options))
            except CancelledError:
                raise
            except WhorlError as error:
                yield from self._halve(columns, Group(rows, group.shapes), faults, error)
            else:
                yield piece
            if faults and self.on_error == "raise":
                return

    def _run(self, columns: dict[str, Column], group: Group, faults: dict[int, str]) -> list[Piece]:
        """The results of rows that may run at once; where that fails, of each half of them."""
        if faults and self.on_error == "raise":
            return []
        try:
            return [self.run(self.feeds(columns, group), group.rows)]
        except CancelledError:
            raise
        except WhorlError as error:
            return self._halve(columns, group, faults, error)

    def _halve(
        self, columns: dict[str, Column], group: Group, faults: dict[int, str], error: WhorlError
    ) -> list[Piece]:
        """The results of each half of rows that failed together; one that is alone has this error."""
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
        return Piece(rows, self.layout.run(feeds, len(rows), self._options()))

    def _options(self) -> RunOptions | None:
        if self.max_memory is None:
            return None
        options = RunOptions()
        options.max_memory = self.max_memory
        return options

    def _table(self, table: Any, pieces: list[Piece], faults: dict[int, str], *, is_ordered: bool) -> Any:
        """The results as a table; `is_ordered`: the pieces have all rows in their order."""
        pa, count = arrow(), table.num_rows
        arrays = [_join_rows([p.values[k] for p in pieces], field.type) for k, field in enumerate(self.results)]
        if not is_ordered:
            rows = np.concatenate([piece.rows for piece in pieces]) if pieces else np.zeros(0, np.int64)
            positions = np.full(count, -1)
            positions[rows] = np.arange(len(rows))
            indices = pa.array(positions, mask=positions < 0)
            arrays = [array.take(indices) for array in arrays]
        if self.on_error == "null":
            texts = pa.array([faults.get(row) for row in range(count)], pa.string()) if faults else None
            arrays.append(pa.nulls(count, pa.string()) if texts is None else texts)
        schema = self.output_schema(table.schema)
        return pa.Table.from_arrays([*(table.column(name) for name in self.keep), *arrays], schema=schema)


def _shapes(each: Bound, columns: dict[str, Column], count: int) -> np.ndarray:
    """The shape of each of the first rows for an input."""
    if each.is_stacked:
        return np.full((count, 1), len(each.columns), np.int64)
    return columns[each.columns[0]].shapes[:count]


def _split(shape: np.ndarray, bound: tuple[Bound, ...]) -> tuple[tuple[int, ...], ...]:
    """The shape of each input of those that lie side by side."""
    lengths = iter(shape.tolist())
    return tuple(tuple(next(lengths) for _ in range(each.rank)) for each in bound)


def _join_rows(values: list[Any], type: Any) -> Any:
    """A column of values, which have rows on their first axis and may else differ in shape; large ones are chunks."""
    pa = arrow()
    if not values:
        return pa.array([], type)
    kinds = {(value.dtype, value.shape[1:]) if isinstance(value, np.ndarray) else None for value in values}
    if len(kinds) > 1 or None in kinds:
        return pa.concat_arrays([write_column(value, type) for value in values])
    if len(values) == 1:
        return write_column(values[0], type)
    if sum(value.nbytes for value in values) < CHUNK * len(values):
        return write_column(np.concatenate(values), type)
    return pa.chunked_array([write_column(value, type) for value in values])
