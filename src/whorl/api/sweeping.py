"""Sweeps: a model simulated for every point of a grid, on this machine or on the workers of an engine."""

from __future__ import annotations

import importlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from msgspec import Struct

from whorl.api.models import load
from whorl.errors import RunError, SaveError, UnsupportedError, WhorlError
from whorl.ir.graph import Module

if TYPE_CHECKING:
    from whorl.formats.mdf.model import MdfModel
    from whorl.mdf.simulation import Simulation

Point = dict[str, Any]
"""Values by name, as JSON has them."""
Measure = Callable[["Simulation"], Mapping[str, Any]]
Task = Callable[[list[Point]], list[dict[str, Any]]]
Engine = Callable[[Task, list[list[Point]]], Iterator[list[dict[str, Any]]]]
ERROR = "error"
PACK, PARTS = 16, 8
"""Points that a worker takes at once, fewer where a sweep would have less than this many parts."""


class _Task(Struct, frozen=True):
    """A simulation of points, sent to a worker: the model, if possible by its path, and how it is simulated."""

    model: str | MdfModel
    steps: int
    dt: float | None
    record: tuple[str, ...] | None
    seed: int
    measure: Measure | None

    def __call__(self, points: list[Point]) -> list[dict[str, Any]]:
        model = load(self.model)
        if isinstance(model, Module):
            raise RunError("a sweep simulates, and the model is no MDF model", fix="name an MDF file")
        return [point | self._result(model, point) for point in points]

    def _result(self, model: MdfModel, point: Point) -> dict[str, Any]:
        """The measures of a point, or what went wrong."""
        try:
            simulation = model.simulate(self.steps, self.dt, record=self.record, initial=point, seed=self.seed)
        except WhorlError as error:
            return {ERROR: str(error)}
        try:
            values = dict(last_values(simulation) if self.measure is None else self.measure(simulation))
            row = {f"{name}.last" if name in point else str(name): plain(value) for name, value in values.items()}
            json.dumps(row)
        except Exception as error:  # the caller's function may raise anything, and one point must not end the others
            return {ERROR: f"measure: {type(error).__name__}: {error}"}
        return row | {ERROR: ""}


def sweep(
    model: str | os.PathLike[str] | MdfModel,
    grid: Mapping[str, Iterable[Any]] | Sequence[Point],
    *,
    steps: int,
    dt: float | None = None,
    record: Sequence[str] | None = None,
    measure: Measure | None = None,
    engine: str = "local",
    seed: int = 0,
    file: str | os.PathLike[str] | None = None,
) -> Any:
    """Simulate an MDF model for each point, and return a table: a DataFrame, or without pandas columns by name.

    `grid`: values by name, all combinations of which are points, or the points. `measure` takes a simulation and
    returns numbers by name; without it these are the last recorded values (called "name.last" where the grid has the
    name). `engine`: "local", "dask" (the current client, or one of its own) or "ray". `file`: finished points are
    appended to it as lines of JSON, and not run again. A point that fails has its message under "error".
    Errors: RunError, UnsupportedError where an engine is missing.
    """
    points = _points(grid)
    done = _read(file, points)
    _append(file, [])
    left = [point for point in points if _key(point) not in done]
    names = None if record is None else tuple(record)
    source = os.fspath(model) if isinstance(model, str | os.PathLike) else model
    task = _Task(source, steps, dt, names, seed, measure)
    size = max(1, min(PACK, len(left) // PARTS))
    packs = [left[start : start + size] for start in range(0, len(left), size)]
    for rows in _engine(engine)(task, packs) if packs else ():
        _append(file, rows)
        done |= {_key({name: row[name] for name in points[0]}): row for row in rows}
    return table([done[_key(point)] for point in points])


def last_values(simulation: Simulation) -> dict[str, Any]:
    """The last value of each record."""
    return {name: rows[-1] for name, rows in simulation.items()}


def plain(value: Any) -> Any:
    """A number, or a list of numbers, as JSON holds it."""
    array = np.asarray(value)
    return array.reshape(()).item() if array.size == 1 else array.tolist()


def _points(grid: Mapping[str, Iterable[Any]] | Sequence[Point]) -> list[Point]:
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            if isinstance(values, str) or not np.iterable(values):
                raise RunError(f"grid[{name!r}] is {values!r}, expected a list of values")
        columns = [[(name, plain(value)) for value in values] for name, values in grid.items()]
        return [{str(name): value for name, value in pairs} for pairs in itertools.product(*columns)]
    points = [{name: plain(value) for name, value in point.items()} for point in grid]
    if any(point.keys() != points[0].keys() for point in points):
        raise RunError("the points of the grid have different names", fix="give every point the same names")
    return points


def table(rows: list[dict[str, Any]]) -> Any:
    """Rows as a DataFrame, or without pandas as a list for each column."""
    names = dict.fromkeys(name for row in rows for name in row if name != ERROR)
    columns = {name: [row.get(name) for row in rows] for name in (*names, ERROR)}
    try:
        pandas = importlib.import_module("pandas")
    except ModuleNotFoundError:
        return columns
    return pandas.DataFrame(columns)


# ---- the file ----------------------------------------------------------------------------------------------------


def _key(point: Point) -> str:
    return json.dumps(point, sort_keys=True)


def _read(file: str | os.PathLike[str] | None, points: list[Point]) -> dict[str, dict[str, Any]]:
    """The rows of finished points; a last line that was cut short does not count, nor do points that failed."""
    if file is None or not Path(file).is_file() or not points:
        return {}
    rows: dict[str, dict[str, Any]] = {}
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        try:
            row: object = json.loads(line)
        except ValueError:
            continue
        if _is_row(row) and not row.get(ERROR) and points[0].keys() <= row.keys():
            rows[_key({name: row[name] for name in points[0]})] = row
    return rows


def _is_row(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _append(file: str | os.PathLike[str] | None, rows: list[dict[str, Any]]) -> None:
    if file is None:
        return
    try:
        with Path(file).open("a+", encoding="utf-8") as lines:
            lines.write(_line_end(Path(file)))
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    except OSError as error:
        raise SaveError(f"cannot write {os.fspath(file)!r}: {error.strerror or error}") from None


def _line_end(path: Path) -> str:
    """The newline that a last line lacks that was cut short."""
    text = path.read_bytes()
    return "\n" if text and not text.endswith(b"\n") else ""


# ---- engines -----------------------------------------------------------------------------------------------------


def _engine(name: str) -> Engine:
    engines: dict[str, Engine] = {"local": _run_here, "dask": _run_by_dask, "ray": _run_by_ray}
    if name not in engines:
        raise RunError(f"there is no engine {name!r}", fix=f"choose from {', '.join(engines)}")
    return engines[name]


def _run_here(task: Task, packs: list[list[Point]]) -> Iterator[Any]:
    return map(task, packs)


def _run_by_dask(task: Task, packs: list[list[Point]]) -> Iterator[Any]:
    distributed = _module("distributed", "dask")
    try:
        client, own = distributed.get_client(), False
    except ValueError:
        client, own = distributed.Client(processes=True, dashboard_address=None), True
    try:
        yield from (future.result() for future in distributed.as_completed(client.map(task, packs, pure=False)))
    finally:
        if own:
            client.close()


def _run_by_ray(task: Task, packs: list[list[Point]]) -> Iterator[Any]:
    ray = _module("ray", "ray")
    own = not ray.is_initialized()
    if own:
        folder = str(Path(__file__).parents[2])
        ray.init(include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": folder}})
    try:
        remote = ray.remote(_call)
        left = [remote.remote(task, pack) for pack in packs]
        while left:
            ready, left = ray.wait(left)
            yield from ray.get(ready)
    finally:
        if own:
            ray.shutdown()


def _call(task: Task, points: list[Point]) -> list[dict[str, Any]]:
    return task(points)


def _module(name: str, package: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise UnsupportedError(f"the engine needs {package}", fix=f"pip install {package}") from None
