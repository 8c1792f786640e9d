"""How close does `whorl sweep` come to hand-written C over 10,000 points, in this process and on two engines?

Each point starts a model elsewhere and keeps its last state. C has the steps of the same method in a loop over points,
without records. CPU time of this process counts, compilation and the written Parquet included; on Dask and Ray, the
same specification gives the same results, and the seconds are those of a clock, of a cluster that is there.
`WHORL_POINTS` chooses another number of points. Target: 1.3 times C.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from measuring import US, Measurement, cpu, in_turns, report, use_one_thread

use_one_thread()

from mdf_models.engines import ROUNDED, library
from mdf_models.models import Case, fitzhugh_nagumo, hodgkin_huxley, recurrent

from whorl.cli import main as whorl_command
from whorl.scoring.engines import dask_client, ray_cluster

POINTS = int(os.environ.get("WHORL_POINTS", "10000"))
OVER_C, ROUNDS, TOLERANCE = 1.3, 3, 1e-6
CASES = (
    (replace(fitzhugh_nagumo(), steps=2000), "V", (-2.0, 2.0)),
    (replace(hodgkin_huxley(), steps=1000), "v", (-75.0, -55.0)),
    (replace(recurrent(100), steps=100), "x", (-1.0, 1.0)),
)
"""A model, the state that points differ in, and its range."""


def write_specification(case: Case, state: str, ends: tuple[float, float], folder: Path) -> Path:
    path = folder / f"{case.function}.yaml"
    low, high = ends
    path.write_text(
        f"grid:\n  cell.{state}: {{from: {low}, to: {high}, count: {POINTS}}}\nsteps: {case.steps}\ndt: {case.dt}\n"
    )
    return path


def sweep(case: Case, model: Path, specification: Path, out: Path, *options: str) -> np.ndarray:
    """The last values of the first record."""
    name = case.names[0]
    arguments = [model, specification, "-o", out, "--record", name, "--last", *options]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = whorl_command(["sweep", *map(str, arguments)])
    assert code == 0, f"whorl sweep ended with {code}"
    table = pq.read_table(out)
    column = table.column(f"{name}.last" if f"{name}.last" in table.column_names else name)
    return np.stack(column.to_numpy()) if column.type.num_fields else column.to_numpy()[:, np.newaxis]


def in_c(case: Case, state: str, ends: tuple[float, float]) -> np.ndarray:
    count = np.size(case.start[0])
    function = getattr(library(ROUNDED), case.function)
    fixed = [np.ascontiguousarray(value, float) for value in case.arrays]
    states = [np.empty(count) for _ in case.start]
    rows = [np.empty((case.steps, count)) for _ in case.record]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*states, *fixed, *rows)]
    passed = ctypes.c_int64(count), ctypes.c_int64(case.steps), ctypes.c_double(case.dt), *pointers
    last = np.empty((POINTS, count))
    for point, value in enumerate(np.linspace(*ends, POINTS)):
        for name, array, start in zip(case.record, states, case.start, strict=True):
            array[:] = value if name == state else start
        function(*passed)
        last[point] = states[0]
    return last


def measure() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        names = (folder / f"{number}.parquet" for number in range(1000))
        for case, state, ends in CASES:
            model, specification = case.write(folder), write_specification(case, state, ends, folder)

            def run(case: Case = case, model: Path = model, specification: Path = specification) -> np.ndarray:
                return sweep(case, model, specification, next(names))

            def c(case: Case = case, state: str = state, ends: tuple[float, float] = ends) -> np.ndarray:
                return in_c(case, state, ends)

            expected = run()
            check(case, c(), expected)
            seconds = in_turns({US: lambda run=run: cpu(run), "C": lambda c=c: cpu(c)}, ROUNDS)
            what = f"{case.name}: {POINTS} points of {case.steps} steps"
            yield Measurement(what, "s", seconds, OVER_C * seconds["C"])
            for name, cluster in (("dask", dask_client), ("ray", ray_cluster)):
                with cluster(2, None):
                    out = next(names)
                    start = time.perf_counter()
                    check(case, sweep(case, model, specification, out, "--on", name, "--workers", "2"), expected)
                    yield Measurement(f"{what}, on {name}", "s", {US: time.perf_counter() - start}, None)


def check(case: Case, actual: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(actual, expected, rtol=TOLERANCE, atol=TOLERANCE, err_msg=case.name)


def main() -> Sequence[Measurement]:
    return list(measure())


if __name__ == "__main__":
    sys.exit(report(__doc__ or "", main))
