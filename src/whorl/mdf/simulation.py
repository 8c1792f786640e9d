"""What a simulation gives: recorded values over time, and the state to go on from."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct, field

from whorl.errors import RunError, UnsupportedError
from whorl.ir.cached_property import cached_property
from whorl.ir.types import TensorType
from whorl.mdf.model import Datum
from whorl.mdf.monitors import Spikes, find_spikes
from whorl.mdf.plotting import plot_lines, write_figure
from whorl.mdf.variables import Cell
from whorl.runtime.buffer_pool import empty


class Trace(Struct):
    """A recorded value: some rows, then those of the loop, or one value that no step of it changes.

    In a batch, rows have a last axis for the parameter sets.
    """

    first: Sequence[Datum]
    over_time: np.ndarray | None = None
    fixed: Datum = None
    repeats: int = 0
    batch: int | None = None
    traced: Sequence[bool] = ()
    """Which of the first rows come from a run; the others have no axis for the batch."""

    def array(self) -> np.ndarray:
        """All rows on the first axis; in a batch, on the second one after the parameter sets."""
        rows = [np.asarray(np.nan if row is None else row) for row in (*self.first, self.fixed)]
        if self.batch is not None:
            marks = (*self.traced, False)
            rows = [row if mark else row[..., np.newaxis] for row, mark in zip(rows, marks, strict=True)]
        *rows, fixed = rows
        if self.over_time is not None:
            rest = self.over_time
        else:
            rest = np.broadcast_to(fixed, (self.repeats, *fixed.shape))
        result = self._join_rows(rows, rest)
        return result if self.batch is None else np.moveaxis(result, -1, 0)

    def _join_rows(self, rows: list[np.ndarray], rest: np.ndarray) -> np.ndarray:
        """One array; rows of another shape are repeated to the shape that all fit."""
        shapes = [row.shape for row in rows] + ([rest.shape[1:]] if len(rest) else [])
        shapes += [] if self.batch is None else [(self.batch,)]
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            raise RunError(
                "a recorded value has shapes that do not fit each other", fix="record other values"
            ) from None
        kinds = [row.dtype for row in rows] + ([rest.dtype] if len(rest) else [])
        dtype = np.result_type(*kinds)
        if not rows and rest.dtype == dtype and rest.shape[1:] == shape:
            return rest
        result = empty((len(rows) + len(rest), *shape), dtype)
        for n, row in enumerate(rows):
            result[n] = row
        if len(rest):
            missing = len(shape) + 1 - rest.ndim
            result[len(rows) :] = rest.reshape(len(rest), *[1] * missing, *rest.shape[1:])
        return result


class SavedState(Struct, frozen=True):
    """The values that a graph keeps after `done` evaluations: those of a run, and those known without one."""

    arrays: Mapping[Cell, np.ndarray] = field(default_factory=dict)
    constants: Mapping[Cell, Datum] = field(default_factory=dict)
    done: int = 0
    overrides: Mapping[Cell, np.ndarray] = field(default_factory=dict)
    sets: Mapping[Cell, np.ndarray] = field(default_factory=dict)
    batch: int | None = None
    time: float = 0.0
    engine: Datum = None
    """The interpreter's own state, where it ran the model."""

    def start(self) -> dict[Cell, Datum]:
        """Where a program starts: values, and the types of those that it takes as inputs."""
        types = {cell: TensorType(array.dtype, array.shape) for cell, array in self.arrays.items()}
        return types | dict(self.constants)


class Times(Struct, frozen=True):
    """The time before a run, its steps, and whether it has an evaluation before the first step."""

    start: float
    dt: float
    steps: int
    is_first: bool

    @property
    def end(self) -> float:
        return self.start + self.steps * self.dt

    def array(self) -> np.ndarray:
        return self.start + np.arange(0 if self.is_first else 1, self.steps + 1) * self.dt


class Simulation(Mapping[str, np.ndarray]):
    """The result of `simulate`: `times`, an array for each recorded name, and `state` to go on from.

    Arrays have the evaluations on the first axis; in a batch, the parameter sets come before it.
    """

    def __init__(self, times: Times, traces: Mapping[str, Trace], state: SavedState) -> None:
        self.state, self.when = state, times
        self._traces = dict(traces)
        self._arrays: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._arrays:
            if name not in self._traces:
                raise KeyError(f"{name!r} was not recorded; there are {', '.join(self._traces) or 'no records'}")
            self._arrays[name] = self._traces[name].array()
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._traces)

    def __len__(self) -> int:
        return len(self._traces)

    @cached_property
    def times(self) -> np.ndarray:
        """The time after each evaluation; without a time step, the number of steps."""
        return self.when.array()

    @property
    def batch(self) -> int | None:
        """The number of parameter sets, where there is more than one."""
        return self.state.batch

    def spikes(self, name: str, above: float) -> Spikes:
        """When each cell of a record rises through a threshold: `run.spikes("cell.v", above=0).rates()`."""
        sets = self[name] if self.batch is not None else self[name][np.newaxis]
        return find_spikes(self.times, sets.reshape(len(sets), len(self.times), -1).astype(np.float64), above)

    def window(self, start: float = -np.inf, end: float = np.inf) -> Simulation:
        """The rows from `start` to `end`, both with the rounding of their times. Errors: RunError where there are none.

        Its `state` is that of the whole run.
        """
        slack = 1e-9 * abs(self.when.dt)
        chosen = np.flatnonzero((self.times >= start - slack) & (self.times <= end + slack))
        if not len(chosen):
            raise RunError(f"no row is between {start} and {end}", fix=f"rows are from {self.when.start} on")
        low, high = int(chosen[0]), int(chosen[-1]) + 1
        first = self.when.start + (low + (not self.when.is_first)) * self.when.dt
        times = Times(first, self.when.dt, high - low - 1, True)
        if self.batch is None:
            traces = {name: Trace((), rows[low:high]) for name, rows in self.items()}
        else:
            traces = {
                name: Trace((), np.moveaxis(rows[:, low:high], 0, -1), batch=self.batch) for name, rows in self.items()
            }
        return Simulation(times, traces, self.state)

    def plot(self, path: str | os.PathLike[str] | None = None, names: Sequence[str] = (), title: str = "") -> Datum:
        """A matplotlib Figure of records, one panel each, with a line for each element and parameter set.

        It is also written to `path`, whose ending says the format (.png, .svg, .pdf).
        Errors: UnsupportedError without matplotlib; SaveError.
        """
        figure = plot_lines(self.times, {name: self._lines(name) for name in names or self}, title)
        if path is not None:
            write_figure(figure, path)
        return figure

    def _lines(self, name: str) -> np.ndarray:
        """A row for each element, in a batch for each parameter set of it."""
        array, time = self[name], 0 if self.batch is None else 1
        return np.moveaxis(array, time, -1).reshape(-1, array.shape[time])

    def to_pandas(self) -> Datum:
        """A pandas.DataFrame by "time", in a batch by "batch" and "time"; `v[0]` is an element of `v`.

        Errors: UnsupportedError without pandas.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ModuleNotFoundError:
            raise UnsupportedError("pandas is not installed", fix="pip install 'whorl[tables]'") from None
        columns = {}
        leading = 1 if self.batch is None else 2
        for name, array in self.items():
            for index in np.ndindex(array.shape[leading:]):
                label = f"{name}[{', '.join(map(str, index))}]" if index else name
                columns[label] = array[(..., *index)].ravel()
        index = pandas.Index(self.times, name="time")
        if self.batch is not None:
            index = pandas.MultiIndex.from_product([range(self.batch), self.times], names=["batch", "time"])
        return pandas.DataFrame(columns, index=index)

    def to_xarray(self) -> Datum:
        """An xarray.Dataset with the dims "batch" (in a batch) and "time". Errors: UnsupportedError without xarray."""
        try:
            xarray = importlib.import_module("xarray")
        except ModuleNotFoundError:
            raise UnsupportedError("xarray is not installed", fix="pip install xarray") from None
        leading = ("time",) if self.batch is None else ("batch", "time")
        variables = {}
        for name, array in self.items():
            own = tuple(f"{name}.{axis}" for axis in range(array.ndim - len(leading)))
            variables[name] = ((*leading, *own), array)
        return xarray.Dataset(variables, coords={"time": self.times})
