"""Runs of Dask and Ray whose workers, drivers and disk fail: after all of it, the parts are those of a calm run."""

import os
import random
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import onnx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scoring.models import HALVES

import whorl

psutil = pytest.importorskip("psutil", reason="Dask and Ray bring psutil")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="processes are killed by signals")]
ENGINES = ("dask", "ray")
PACKAGES = {"dask": "distributed", "ray": "ray"}
WORKERS, DRIVERS = 10, 5
GROUPS, ROWS, ITERATIONS = 24, 64, 400_000
RUN = """
import sys
import whorl

if __name__ == "__main__":
    model, source, out, engine, workers = sys.argv[1:]
    whorl.score(model, source, out, columns={"count": "n"}, batch=16, part_rows=64, on=engine, workers=int(workers))
"""


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """A model, a table of many parts that take a while, and the results of a run that nothing disturbs."""
    folder = tmp_path_factory.mktemp("calm")
    onnx.save(HALVES, folder / "model.onnx")
    count = GROUPS * ROWS
    rows = pa.table({"x": np.random.default_rng(0).normal(size=count), "n": np.full(count, ITERATIONS)})
    pq.write_table(rows, folder / "rows.parquet", row_group_size=ROWS)
    inputs = folder / "model.onnx", folder / "rows.parquet"
    whorl.score(*inputs, folder / "out", columns={"count": "n"}, batch=16, part_rows=ROWS)
    return *inputs, contents(folder / "out")


def contents(folder):
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))}


def start(calm, out, engine, **options):
    command = [sys.executable, "-c", RUN, str(calm[0]), str(calm[1]), str(out), engine, "2"]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)


def parts_in(out):
    return sum(name.startswith("part-") for name in os.listdir(out)) if out.exists() else 0


def workers_of(process, engine):
    """The processes that compute parts."""
    workers = []
    for each in psutil.Process(process.pid).children(recursive=True):
        try:
            line = " ".join(each.cmdline())
        except psutil.Error:
            continue
        if "spawn_main" in line if engine == "dask" else line.startswith("ray::") and "Actor" in line:
            workers.append(each)
    return workers


@pytest.mark.parametrize("engine", ENGINES)
def test_workers_that_are_killed_at_random_lose_and_double_nothing(calm, tmp_path, engine):
    pytest.importorskip(PACKAGES[engine], reason="this engine is not installed")
    chance, kills, runs = random.Random(engine), 0, 0
    while kills < WORKERS:  # on a fast machine a run may end before all of them
        runs += 1
        assert runs <= WORKERS, f"{kills} workers died in {runs - 1} runs"
        out = tmp_path / f"out{runs}"
        kills += kill_workers(start(calm, out, engine), calm, out, engine, chance, WORKERS - kills)
        assert contents(out) == calm[2]


def kill_workers(process, calm, out, engine, chance, most):
    """Kill so many workers of a run at random moments, until it has ended well; how many were killed."""
    kills = 0
    while process.poll() is None or process.returncode:
        if process.poll() is not None:
            process = start(calm, out, engine)  # the engine gave up after so many deaths, and says to start again
        try:
            workers = workers_of(process, engine) if kills < most and parts_in(out) else []
            if workers:
                chance.choice(workers).send_signal(signal.SIGKILL)
                kills += 1
        except psutil.Error:
            pass
        time.sleep(chance.uniform(0.1, 0.6))
    return kills


@pytest.mark.parametrize("engine", ENGINES)
def test_drivers_that_are_killed_lose_and_double_nothing(calm, tmp_path, engine):
    pytest.importorskip(PACKAGES[engine], reason="this engine is not installed")
    out = tmp_path / "out"
    for number in range(DRIVERS):
        process = start(calm, out, engine)
        while process.poll() is None and parts_in(out) < 3 * number + 1:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert 0 < parts_in(out) < GROUPS
    assert start(calm, out, engine).wait() == 0
    assert contents(out) == calm[2]


def test_disk_that_was_full_is_gone_on_with(calm, tmp_path):
    """A file of more than so many bytes cannot be written: that of a part of more rows than the others have."""
    rows = pq.read_table(calm[1]).set_column(1, "n", pa.array(np.full(GROUPS * ROWS, 10)))
    source, whole, out = tmp_path / "rows.parquet", tmp_path / "whole", tmp_path / "out"
    with pq.ParquetWriter(source, rows.schema) as writer:
        for start_row, count in ((0, 64), (64, 64), (128, 1024), (1152, 64)):
            writer.write_table(rows.slice(start_row, count), row_group_size=count)
    whorl.score(calm[0], source, whole, columns={"count": "n"}, batch=16, part_rows=64)
    files = contents(whole)
    largest, *others = sorted((len(data) for data in files.values()), reverse=True)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, ((largest + others[0]) // 2,) * 2)

    command = [sys.executable, "-c", RUN, str(calm[0]), str(source), str(out), "local", "1"]
    failed = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True)
    assert failed.returncode and "cannot write " in failed.stderr and "File too large" in failed.stderr
    assert 0 < parts_in(out) < parts_in(whole)
    assert subprocess.run(command).returncode == 0
    assert contents(out) == files
