"""What a simulation gives: recorded values over time, and the state to go on from."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct, field

from whorl.errors import RunError, UnsupportedError
from whorl.ir.types import TensorType
from whorl.mdf.model import Datum
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

    @functools.cached_property
    def times(self) -> np.ndarray:
        """The time after each evaluation; without a time step, the number of steps."""
        return self.when.array()

    @property
    def batch(self) -> int | None:
        """The number of parameter sets, where there is more than one."""
        return self.state.batch

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
