"""The values that loops and branches had in a run, by path and iteration."""

from __future__ import annotations

import html
import importlib
from collections.abc import Iterator, Mapping
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from whorl.errors import UnsupportedError
from whorl.ir.dtypes import STRING
from whorl.ir.forking import import_whole
from whorl.ir.guards import is_array
from whorl.passes.expose.reading import Records
from whorl.passes.expose.summaries import SUMMARY


class ValueTrace(Mapping[str, Any]):
    """The recorded values by path, such as `newton/x` for the value x in the body of the loop newton.

    `trace[path]` is an xarray.DataArray, `trace.records(path)` the same as plain arrays; a name alone will do where one
    path ends in it. `trip_counts` has the iterations that each loop made, `branches` whether each If took its
    then_branch, both as records by the iterations of the loops around. `summaries`: the paths of which no values are
    there, but `SUMMARY` of each.
    """

    def __init__(
        self,
        values: Mapping[str, Records],
        trip_counts: Mapping[str, Records],
        branches: Mapping[str, Records],
        summaries: frozenset[str] = frozenset(),
        folder: TemporaryDirectory[str] | None = None,
    ) -> None:
        self._values, self.trip_counts, self.branches = dict(values), dict(trip_counts), dict(branches)
        self.summaries = summaries
        self._folder = folder

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, path: str) -> Any:
        return to_xarray(self.records(path), self.records(path).path in self.summaries)

    def records(self, path: str) -> Records:
        """The records of a value. Errors: KeyError for one that was not recorded."""
        if path in self._values:
            return self._values[path]
        ends = [known for known in self._values if known.endswith(f"/{path}")]
        if len(ends) == 1:
            return self._values[ends[0]]
        listed = ", ".join(ends or self._values) or "nothing"
        problem = "may be one of several values" if ends else "was not recorded"
        raise KeyError(f"{path!r} {problem}; choose from {listed}")

    def shapes(self, path: str) -> np.ndarray | list[Any]:
        """The shape of each record: rows of lengths, or a list of shapes where ranks differ or records are lists."""
        values = self.records(path).values
        if isinstance(values, np.ndarray):
            return np.broadcast_to(np.array(values.shape[1:], np.int64), (len(values), values.ndim - 1))
        shapes = [_shape_of(value) for value in values]
        same = all(isinstance(value, np.ndarray) for value in values) and len({len(shape) for shape in shapes}) == 1
        return np.array(shapes, np.int64) if same else shapes

    def plot(self, *paths: str) -> Any:
        """A matplotlib Figure of values, all where none is named: a panel each, iterations from left to right.

        Up to eight elements are lines, more are a map. Errors: KeyError for a value that was not recorded,
        UnsupportedError without matplotlib, and for values that are not real numbers.
        """
        return import_whole("whorl.api.tracing.plotting").plot_records([self.records(path) for path in paths or self])

    def __repr__(self) -> str:
        return "\n".join(["<whorl.ValueTrace>", *self.lines()])

    def _repr_html_(self) -> str:
        """The lines as a table, for notebooks; `whorl.explore(model, trace=...)` shows what is in them."""
        cells = (line.split(maxsplit=1) for line in self.lines())
        rows = ((kind, *rest.rsplit(": ", 1)) for kind, rest in cells)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        return f"<table>{body}</table>"

    def lines(self) -> list[str]:
        """A line for each loop, branch and value."""
        lines = [f"loop    {path}: {_counted(each)}" for path, each in self.trip_counts.items()]
        lines += [f"branch  {path}: {_taken(each)}" for path, each in self.branches.items()]
        return lines + [f"value   {path}: {self._described(each)}" for path, each in self._values.items()]

    def _described(self, records: Records) -> str:
        count = records.count
        times = f"{count} {'record' if count == 1 else 'records'}"
        if records.path in self.summaries:
            return f"{times}, summaries only ({', '.join(SUMMARY)})"
        if isinstance(records.values, np.ndarray):
            shape = ", ".join(map(str, records.values.shape[1:]))
            return f"{times} of {_dtype_name(records.values.dtype)}[{shape}]"
        if not count:
            return f"{times} of lengths that no iteration showed"
        shapes = [_shape_of(value) for value in records.values]
        return f"{times}, ragged, from {list(shapes[0])} to {list(shapes[-1])}"


def to_xarray(records: Records, is_summary: bool = False) -> Any:
    """Records as an xarray.DataArray: an axis `iteration`, or one named after each loop where several are nested.

    Where a loop made other numbers of iterations each time, or a branch was not always taken, there is one axis
    `record` with the iterations as coordinates; values of several shapes are an array of objects. The attribute
    `ragged` says so. Errors: UnsupportedError without xarray.
    """
    try:
        xarray = importlib.import_module("xarray")
    except ModuleNotFoundError:
        raise UnsupportedError("xarray is not installed", fix="pip install xarray") from None
    values, ragged = _as_array(records.values), ["shapes differ"] if records.is_ragged else []
    names, axes = _loop_dims(records.loops), [np.unique(column) for column in records.iterations.T]
    if _is_grid(records.iterations, axes):
        lengths = [len(axis) for axis in axes]
        values = values.reshape(*lengths, *values.shape[1:])
        dims, coords = names, dict(zip(names, axes, strict=True))
    else:
        ragged.append("numbers of iterations differ")
        dims = ["record"]
        coords = {name: ("record", column) for name, column in zip(names, records.iterations.T, strict=True)}
    own = [f"dim_{k}" for k in range(values.ndim - len(dims))]
    if is_summary:
        own, coords = ["summary"], coords | {"summary": list(SUMMARY)}
    attributes = {"path": records.path, "loops": list(records.loops)} | (
        {"ragged": ", ".join(ragged)} if ragged else {}
    )
    return xarray.DataArray(values, dims=[*dims, *own], coords=coords, attrs=attributes, name=records.path)


def _as_array(values: np.ndarray | list[Any]) -> np.ndarray:
    if isinstance(values, np.ndarray):
        return values
    array = np.empty(len(values), object)
    for k, value in enumerate(values):
        array[k] = value
    return array


def _loop_dims(loops: tuple[str, ...]) -> list[str]:
    """The names of the axes of loops."""
    if len(loops) == 1:
        return ["iteration"]
    short = [path.rpartition("/")[2] for path in loops]
    return [f"{name}.iteration" for name in (short if len(set(short)) == len(short) else loops)]


def _is_grid(iterations: np.ndarray, axes: list[np.ndarray]) -> bool:
    """Whether there is a record for every combination of iterations, in order."""
    if not axes:
        return len(iterations) == 1
    if len(axes) == 1:
        return len(axes[0]) == len(iterations)
    if int(np.prod([len(axis) for axis in axes])) != len(iterations):
        return False
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes))
    return bool(np.array_equal(grid, iterations))


def _shape_of(value: Any) -> tuple[Any, ...]:
    """The shape of an array, or the shapes of the items of a list."""
    return np.shape(value) if is_array(value) else tuple(_shape_of(item) for item in value)


def _counted(records: Records) -> str:
    counts = np.asarray(records.values)
    if not len(counts):
        return "not reached"
    if not records.loops:
        return f"{counts[0]} iterations"
    least, most = int(counts.min()), int(counts.max())
    span = f"{least}" if least == most else f"{least} to {most}"
    return f"{span} iterations, {len(counts)} times"


def _taken(records: Records) -> str:
    taken = np.asarray(records.values).reshape(-1)
    return f"then_branch {int(taken.sum())} of {len(taken)} times"


def _dtype_name(dtype: np.dtype) -> str:
    return "string" if dtype == STRING else str(dtype)
