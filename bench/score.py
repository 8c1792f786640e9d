"""What does `score` cost over a session in a loop over arrays, and what do two workers of Dask and Ray gain?

A table of Parquet with a million rows (`WHORL_ROWS` for others) through nearest neighbours, a loop that a condition
ends, and an MDF neuron. The bare session has the arrays in memory, runs batches of the size that `score` chose and
writes nothing; `score` reads Parquet and writes Parquet. Results are compared first. Targets: at least 0.85 of the bare
session's throughput, and with two workers of an engine at least 1.6 times that of one, where the machine is idle.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import US, Measurement, in_turns, report

import whorl
from whorl.scoring.engines import dask_client, ray_cluster

ROWS = int(os.environ.get("WHORL_ROWS", "1000000"))
BARE, LOCAL, GAIN = "bare session", 0.85, 1.6
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
            yield local(case, path, rows, folder)
        case, _ = cases(folder)[0], write(folder, ROWS)
        for name, cluster in (("dask", dask_client), ("ray", ray_cluster)):
            yield engine(case, name, cluster, folder / "rows.parquet", folder)


def write(folder: Path, count: int) -> tuple[Path, np.ndarray]:
    rows = np.random.default_rng(1).normal(size=(count, 4)).astype(np.float32)
    path = folder / "rows.parquet"
    table = pa.table({name: rows[:, k] for k, name in enumerate("abcd")})
    pq.write_table(table, path, row_group_size=1 << 17)
    return path, rows


def local(case: Case, path: Path, rows: np.ndarray, folder: Path) -> Measurement:
    scored = run(case, path, folder / f"{case.name}.first.parquet")
    mapped = dict.fromkeys(case.columns, 0)
    session = whorl.InferenceSession(case.model if case.axis else whorl.vmap(case.model, mapped))

    def bare() -> list[Any]:
        starts = range(0, len(rows), scored.batch)
        return [session.run(None, case.feeds(rows[k : k + scored.batch]) | _shared(case)) for k in starts]

    expected = np.concatenate([batch[0] for batch in bare()])
    column = pq.read_table(folder / f"{case.name}.first.parquet").column(-1).combine_chunks()
    actual = (column.flatten() if pa.types.is_nested(column.type) else column).to_numpy()
    assert np.array_equal(actual, expected.reshape(-1)), f"{case.name}: results differ"
    names = iter(range(1000))
    runs = {
        US: lambda: clock(lambda: run(case, path, folder / f"{case.name}.{next(names)}.parquet", scored.batch)),
        BARE: lambda: clock(bare),
    }
    seconds = in_turns(runs, ROUNDS)
    return Measurement(f"{case.name}: {len(rows)} rows, {scored.batch} a run", "s", seconds, seconds[BARE] / LOCAL)


def _shared(case: Case) -> dict[str, Any]:
    return {name: np.asarray(value, np.int64 if name == "steps" else np.float64) for name, value in case.shared.items()}


def run(case: Case, path: Path, out: Path, batch: int | None = None, **options: Any) -> whorl.Scored:
    return whorl.score(
        case.model, path, out, columns=case.columns, shared=case.shared, batch=batch, part_rows=1 << 17, **options
    )


def clock(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def engine(case: Case, name: Any, cluster: Any, path: Path, folder: Path) -> Measurement:
    """Two workers against one, each after a first run that started them and compiled."""
    seconds = {}
    for workers in (1, 2):
        with cluster(workers, None):
            run(case, path, folder / f"{name}{workers}.warm.parquet", 16384, on=name, workers=workers)
            out = folder / f"{name}{workers}.parquet"
            seconds[workers] = clock(lambda out=out, n=workers: run(case, path, out, 16384, on=name, workers=n))
    medians = {US: seconds[2], "one worker": seconds[1]}
    return Measurement(f"{case.name} on two workers of {name}", "s", medians, seconds[1] / GAIN)


def main() -> Sequence[Measurement]:
    return list(measure())


if __name__ == "__main__":
    sys.exit(report(__doc__ or "", main))
