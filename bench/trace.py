"""How much longer does a run take that records one value of a loop, and does a trace keep to its budget?

Models with nested loops, states that grow, sequences, branches and early exits, OpenVINO IR and MDF. Traces of short
runs are compared with those of whorl's interpreter first. What counts is the median of the CPU time of this process,
from a loaded model to the trace, beside the same run without one, once the machine has memory at hand. Target: 1.3
times as long, and what it takes to write the bytes of the value to fresh memory, as a trace has it. Then 64 values of
10^6 iterations with a budget of 128 MB, in a process of their own: the memory that it takes beyond that of a trace of
a thousand.
"""

from __future__ import annotations

import json
import mmap
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from measuring import US, Measurement, cpu, in_turns, report, use_one_thread

use_one_thread()

import numpy as np
from trace_models.models import CASES, Case, onnx_text

import whorl
from whorl.api.models import load_module
from whorl.api.tracing.recording import run_once

ROUNDS, MOST = 7, 1.3
WARMING = 8
"""Traces before any is timed: pages that a virtual machine never had take ten times as long."""
BACKEND = "native"
PLAIN, BYTES = "plain run", "its bytes"
VALUES, MANY, FEW, BUDGET = 64, 1_000_000, 1_000, 128 << 20
MEGABYTE = 1 << 20


def check(case: Case, module: Any) -> None:
    """All values of a short run are those of the interpreter. Errors: AssertionError."""
    ours, expected = (
        whorl.trace(module, case.feeds(case.short), backend=backend) for backend in (BACKEND, "interpreter")
    )
    assert list(ours) == list(expected)
    for path in expected:
        a, b = ours.records(path), expected.records(path)
        np.testing.assert_array_equal(a.iterations, b.iterations)
        assert a.count == b.count
        for k in range(a.count):
            np.testing.assert_allclose(a.at_row(k), b.at_row(k), rtol=1e-5, atol=1e-6)


def size_of(values: Any) -> int:
    return values.nbytes if isinstance(values, np.ndarray) else sum(value.nbytes for value in values)


def write_fresh(size: int) -> None:
    """Write so many bytes to memory that this process has not had before, in large pages where there are any."""
    memory = mmap.mmap(-1, max(1, size))
    if hasattr(mmap, "MAP_PRIVATE"):
        memory = mmap.mmap(-1, max(1, size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    np.frombuffer(memory, np.uint8)[:] = 1


def measured(case: Case, folder: Path) -> Measurement:
    module = load_module(case.source(folder))
    check(case, module)
    feeds = case.feeds(case.long)
    plain = partial(run_once, module, feeds, mode=BACKEND)
    trace = partial(whorl.trace, module, feeds, values=case.value, backend=BACKEND)
    for _ in range(WARMING):
        trace()
    (path,) = actual = trace()
    size = size_of(actual.records(path).values)
    del actual
    runs = {US: trace, PLAIN: plain, BYTES: partial(write_fresh, size)}
    medians = {
        name: 1e3 * value for name, value in in_turns({n: partial(cpu, r) for n, r in runs.items()}, ROUNDS).items()
    }
    what = f"{case.name}: {size / MEGABYTE:.0f} MB"
    return Measurement(what, "ms", medians, MOST * medians[PLAIN] + medians[BYTES])


def of_many(n: int) -> int:
    """The most memory that this process took, in bytes, to trace 64 values of so many iterations."""
    body = " ".join(f"v{k + 1} = Add (v{k}, one)" for k in range(VALUES - 1))
    text = """g (int64 n) => (double y) { c = Constant <value = bool {1}> () one = Constant <value = double {1}> ()
        y = Loop <body = b (int64 i, bool k, double v0) => (bool h, double t) { h = Identity (k) BODY
            t = Identity (v63) }> (n, c, one) }"""
    module = load_module(onnx_text(text, "", body)(Path()))
    names = [f"v{k}" for k in range(VALUES)]
    trace = whorl.trace(module, {"n": np.array(n)}, values=names, budget=BUDGET, backend=BACKEND)
    assert len(trace) == VALUES
    assert not trace.summaries
    assert [float(trace.records(f"v{k}").values[n - 1]) for k in (0, 63)] == [1.0 + 63 * (n - 1), 64.0 + 63 * (n - 1)]
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def memory() -> Measurement:
    """The memory of the records of a trace within a budget."""
    peaks = []
    for n in (MANY, FEW):
        command = [sys.executable, __file__, "--many", str(n)]
        peaks.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    what = f"{VALUES} values of {MANY} iterations, {8 * VALUES * MANY / MEGABYTE:.0f} MB, within a budget"
    return Measurement(what, "MB", {US: (peaks[0] - peaks[1]) / MEGABYTE}, BUDGET / MEGABYTE)


def measure() -> list[Measurement]:
    with tempfile.TemporaryDirectory() as folder:
        return [*(measured(case, Path(folder)) for case in CASES), memory()]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--many"]:
        print(of_many(int(sys.argv[2])))
    else:
        sys.exit(report(__doc__.splitlines()[0], measure))
