"""What does `score` cost over a session in a loop over arrays, and what do two workers of Dask and Ray gain?

A table of Parquet with a million rows (`WHORL_ROWS` for others) through nearest neighbours, a loop that a condition
ends, and an MDF neuron. The bare session has the arrays in memory, runs batches of the size that `score` chose and
writes nothing; `score` reads Parquet and writes Parquet. "pyarrow alone" reads the same columns and writes the same
results, and computes nothing: nothing that reads and writes tables is faster. Results are compared first. Targets: at
least 0.85 of the bare session's throughput, and with two workers of an engine at least 1.6 times that of one, where the
machine is idle; where it is not, see CPU seconds: of this process, and of the worker that has most of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import LocalCluster
from measuring import US, Measurement, cpu, in_turns, report

import whorl
from whorl.scoring.engines import ray_cluster
from whorl.scoring.jobs import READ_ROWS
from whorl.scoring.parts import Target
from whorl.scoring.sources import Part
from whorl.scoring.storage import Storage

ROWS = int(os.environ.get("WHORL_ROWS", "1000000"))
BARE, ALONE, ONE = "bare session", "pyarrow alone", "one worker"
LOCAL, GAIN = 0.85, 1.6
PART = Part(0, "rows.parquet", 0, 0, 0, None)
ONE_EACH: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
ROUNDS = 3
NEIGHBOURS = """
<ir_version: 10, opset_import: ["" : 21]>
neighbours (float[n, 4] x) => (int64[n] label) {{
  known = Constant <value = float[4, {points}] {{{coordinates}}}> ()
  squares = Constant <value = float[{points}] {{{squares}}}> ()
  labels = Constant <value = int64[{points}] {{{labels}}}> ()
  product = MatMul (x, known)
  minus_two = Constant <value = float {{-2}}> ()
  scaled = Mul (product, minus_two)
  distance = Add (scaled, squares)
  five = Constant <value = int64[1] {{5}}> ()
  nearest, which = TopK <axis = 1, largest = 0> (distance, five)
  votes = Gather (labels, which)
  last = Constant <value = int64[1] {{1}}> ()
  total = ReduceSum <keepdims = 0> (votes, last)
  two = Constant <value = int64 {{2}}> ()
  many = Greater (total, two)
  label = Cast <to = 7> (many)
}}
"""
ROOT = """
<ir_version: 10, opset_import: ["" : 21]>
root (float x) => (float y) {
  one = Constant <value = float {1}> ()
  most = Constant <value = int64 {40}> ()
  size = Abs (x)
  number = Add (size, one)
  yes = Constant <value = bool {1}> ()
  y = Loop (most, yes, number) <body = newton (int64 i, bool go, float guess) => (bool on, float better) {
    half = Constant <value = float {0.5}> ()
    small = Constant <value = float {0.00001}> ()
    quotient = Div (number, guess)
    sum = Add (guess, quotient)
    better = Mul (sum, half)
    change = Sub (guess, better)
    far = Mul (small, better)
    on = Greater (change, far)
  }>
}
"""
NEURON = {
    "neuron": {
        "format": "ModECI MDF v0.4",
        "graphs": {
            "g": {
                "nodes": {
                    "cell": {
                        "parameters": {
                            "V": {"default_initial_value": -1.0, "time_derivative": "V - V**3 / 3 - W + 0.5"},
                            "W": {"default_initial_value": 0.0, "time_derivative": "(V + 0.7 - 0.8 * W) / 12.5"},
                        },
                        "output_ports": {"V": {"value": "V"}},
                    }
                }
            }
        },
    }
}


@dataclass(frozen=True)
class Case:
    """A model, how columns feed it, and the inputs of a bare session for rows of the table."""

    name: str
    model: Any
    columns: dict[str, Any]
    shared: dict[str, Any]
    rows: int
    feeds: Callable[[np.ndarray], dict[str, Any]]
    axis: bool


def cases(folder: Path) -> list[Case]:
    rng = np.random.default_rng(0)
    points = 64
    known, labels = rng.normal(size=(4, points)).astype(np.float32), rng.integers(0, 2, points)
    text = NEIGHBOURS.format(
        points=points,
        coordinates=_listed(known),
        squares=_listed((known * known).sum(axis=0)),
        labels=_listed(labels),
    )
    neuron = folder / "neuron.json"
    neuron.write_text(json.dumps(NEURON))
    steps = {"steps": 20, "dt": 0.1}
    first = {"x": "a"}, {}
    return [
        Case("nearest neighbours", onnx.parser.parse_model(text), {"x": list("abcd")}, {}, ROWS, _side_by_side, True),
        Case("a loop that a condition ends", onnx.parser.parse_model(ROOT), *first, ROWS, _first, False),
        Case("an MDF neuron, 20 steps", str(neuron), {"cell.V.initial": "a"}, steps, ROWS // 10, _initial, False),
    ]


def _listed(array: np.ndarray) -> str:
    return ", ".join(str(value) for value in array.reshape(-1).tolist())


def _side_by_side(rows: np.ndarray) -> dict[str, Any]:
    return {"x": rows.astype(np.float32)}


def _first(rows: np.ndarray) -> dict[str, Any]:
    return {"x": rows[:, 0].astype(np.float32)}


def _initial(rows: np.ndarray) -> dict[str, Any]:
    return {"cell.V.initial": rows[:, 0].astype(np.float64)}


def measure() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        for case in cases(folder):
            path, rows = write(folder, case.rows)
            yield from local(case, path, rows, folder)
        path, _ = write(folder, ROWS)
        yield from engines(cases(folder)[0], path, folder)


def write(folder: Path, count: int) -> tuple[Path, np.ndarray]:
    rows = np.random.default_rng(1).normal(size=(count, 4)).astype(np.float32)
    path = folder / "rows.parquet"
    table = pa.table({name: rows[:, k] for k, name in enumerate("abcd")})
    pq.write_table(table, path, row_group_size=1 << 17)
    return path, rows


def local(case: Case, path: Path, rows: np.ndarray, folder: Path) -> Iterator[Measurement]:
    scored = run(case, path, folder / f"{case.name}.first.parquet")
    mapped = dict.fromkeys(case.columns, 0)
    session = whorl.InferenceSession(case.model if case.axis else whorl.vmap(case.model, mapped))

    def bare() -> list[Any]:
        starts = range(0, len(rows), scored.batch)
        return [session.run(None, case.feeds(rows[k : k + scored.batch]) | _shared(case)) for k in starts]

    expected = np.concatenate([batch[0] for batch in bare()])
    results = pq.read_table(folder / f"{case.name}.first.parquet")
    column = results.column(-1).combine_chunks()
    actual = (column.flatten() if pa.types.is_nested(column.type) else column).to_numpy()
    assert np.array_equal(actual, expected.reshape(-1)), f"{case.name}: results differ"
    names = iter(range(1000))
    works = {
        US: lambda: run(case, path, folder / f"{case.name}.{next(names)}.parquet", scored.batch),
        BARE: bare,
        ALONE: lambda: copy(case, path, results, folder / "alone.parquet"),
    }
    what = f"{case.name}: {len(rows)} rows, {scored.batch} a run"
    for unit, measure, target in (("s", clock, LOCAL), ("s of CPU", cpu, None)):
        seconds = in_turns({name: partial(measure, work) for name, work in works.items()}, ROUNDS)
        yield Measurement(what, unit, seconds, target and seconds[BARE] / target)


def copy(case: Case, path: Path, results: pa.Table, out: Path) -> None:
    """Read what a model needs, and write its results, as `score` does."""
    columns = [name for names in case.columns.values() for name in names]
    with pq.ParquetFile(path) as file, Target(Storage(str(out))).write(PART, results.schema) as writer:
        first = 0
        for batch in file.iter_batches(READ_ROWS, columns=columns):
            writer.write_table(results.slice(first, batch.num_rows))
            first += batch.num_rows


def _shared(case: Case) -> dict[str, Any]:
    return {name: np.asarray(value, np.int64 if name == "steps" else np.float64) for name, value in case.shared.items()}


def run(case: Case, path: Path, out: Path, batch: int | None = None, **options: Any) -> whorl.Scored:
    return whorl.score(case.model, path, out, columns=case.columns, shared=case.shared, batch=batch, **options)


def clock(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def engines(case: Case, path: Path, folder: Path) -> Iterator[Measurement]:
    """Two workers against one, in turns, after a first run of each that started them and compiled."""
    batch = run(case, path, folder / "alone.first.parquet").batch
    with LocalCluster(n_workers=1, **ONE_EACH) as one, LocalCluster(n_workers=2, **ONE_EACH) as two:
        addresses = {1: one.scheduler_address, 2: two.scheduler_address}
        yield from engine(case, "dask", path, folder, batch, lambda workers: {"address": addresses[workers]})
    with ray_cluster(2, None):
        yield from engine(case, "ray", path, folder, batch, lambda workers: {"workers": workers})


def engine(
    case: Case, name: Any, path: Path, folder: Path, batch: int, options: Callable[[int], dict[str, Any]]
) -> Iterator[Measurement]:
    numbers = iter(range(1000))
    seconds, busiest = {1: list[float](), 2: list[float]()}, {1: list[float](), 2: list[float]()}
    for turn in range(ROUNDS + 1):
        for workers in (1, 2):
            with Busiest() as processes:
                work = partial(run, case, path, folder / f"{name}{next(numbers)}.parquet", batch, on=name)
                taken = clock(lambda work=work, workers=workers: work(**options(workers)))
            if turn:
                seconds[workers].append(taken)
                busiest[workers].append(processes.seconds)
    what = f"{case.name} on two workers of {name}: {ROWS} rows, {batch} a run"
    for unit, values, target in (("s", seconds, GAIN), ("s of CPU of the busiest worker", busiest, None)):
        medians = {US: statistics.median(values[2]), ONE: statistics.median(values[1])}
        yield Measurement(what, unit, medians, target and medians[ONE] / target)


class Busiest:
    """The CPU seconds of that child of this process which has most of them, between the begin and the end."""

    def __enter__(self) -> Busiest:
        self._first, self._last = self._read(), dict[int, float]()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def seconds(self) -> float:
        return max(seconds - self._first.get(process, 0.0) for process, seconds in self._last.items())

    def _watch(self) -> None:
        """Read often: workers of Ray end with a run."""
        while not self._ended.wait(0.2):
            self._last |= self._read()
        self._last |= self._read()

    def _read(self) -> dict[int, float]:
        times = {}
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                own = process.cpu_times()
                times[process.pid] = own.user + own.system
        return times


def main() -> Sequence[Measurement]:
    return list(measure())


if __name__ == "__main__":
    sys.exit(report(__doc__ or "", main))
