"""How much faster is onnxruntime with the loops of a model embedded by whorl, and what does entering one cost?

Both models run in onnxruntime in one process, in turns, on one thread, with inputs and outputs bound; results are
compared first. Where a workload is written in C, that runs beside them, without onnxruntime around it: it may round
otherwise (-ffast-math), and says how much of a target this CPU leaves room for. Targets: the part of the plain model's
time that the embedded one may take, and microseconds by which a node that stands for a loop of no iterations may exceed
an Identity.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from measuring import US, Measurement, cpu, in_turns, lines, machine, repeated, use_one_thread

use_one_thread()

import numpy as np
import onnxruntime
from loops import in_c, nests, networks, scalars, tensors
from loops.engines import bound
from loops.workload import Feeds, Workload, model
from shapes_models import mamba

import whorl

PEER = "onnxruntime"
ROUNDS = 7
TARGETS = {
    "W1 spec n=100000": 1000,
    "W1 collatz n=10000": 1000,
    **{f"W2 neurons n={n}{kind} as Loop": 30 for kind in ("", " collected") for n in (1, 64, 1024, 4096)},
    "W6 knn": 10,
    "W7 viterbi states=32": 15,
    "W7 viterbi states=128": 15,
    "W5 decoder concat 1000": 3,
    "W3 LSTM batch=1 width=128": 1.8,
}
"""How many times faster than plain each of the loop benchmarks' workloads is to be."""
MAMBA = {(1, 100): 4.0, (4, 200): 4.0}
"""The same for 8 Mamba blocks, by batch and length."""
ENTRY = 3.0
"""Microseconds of entering a node."""
LOOP = """main (float[4] x, int64 n) => (float[4] y) {
    y = Loop (n, "", x) <body = step (int64 i, bool go, float[4] h) => (bool on, float[4] a) {
        on = Identity (go)
        a = Add (h, x)
    }>
}"""


def session(path: str | bytes, library: str = "") -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if library:
        options.register_custom_ops_library(library)
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def in_turn(load: Workload, folder: Path) -> dict[str, Any]:
    """Runs of the embedded and the plain model, and in C where that is written, after their results were compared."""
    runs = pair(load.model, load.feeds, folder, load.tolerance, load.astray)
    if load.kind in in_c.FORMS and in_c.compiler() is not None:
        runs["c"] = in_c.runner(load)
        expected = [x.numpy() for x in runs[PEER]()]
        for actual, theirs in zip(runs["c"](), expected, strict=True):
            if theirs.dtype.kind == "f" or not load.astray:
                np.testing.assert_allclose(actual, theirs, rtol=load.tolerance, atol=load.tolerance)
    return runs


def pair(data: bytes | Path, feeds: Feeds, folder: Path, tolerance: float, astray: float) -> dict[str, Any]:
    """Runs of the embedded and the plain model, after their results were compared."""
    plain = session(data if isinstance(data, bytes) else str(data))
    made = whorl.embed(data, folder / f"{len(list(folder.iterdir()))}.onnx")
    if not made.library:
        raise RuntimeError(f"nothing is embedded: {[region.reason for region in made.regions]}")
    runs = {US: bound(session(made.model, made.library), feeds), PEER: bound(plain, feeds)}
    results = [[x.numpy() for x in run()] for run in runs.values()]
    for actual, expected in zip(*results, strict=True):
        if actual.dtype.kind == "f" or not astray:
            np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)
        elif np.mean(actual != expected) > astray:
            raise AssertionError("more whole numbers differ than rounding explains")
    return runs


def cases(folder: Path) -> Iterator[tuple[str, float, Callable[[], dict[str, Any]]]]:
    """The workloads, how many times faster than plain each is to be, and what makes its runs."""
    made = dict(entry for part in (scalars, tensors, nests, networks) for entry in part.workloads())
    for name, times in TARGETS.items():
        load = made[name]()
        yield name, times, partial(in_turn, load, folder)
    path = folder / "mamba.onnx"
    mamba.write(8, path)
    for (batch, length), times in MAMBA.items():
        feeds = {"x0": np.random.default_rng(0).standard_normal((batch, length, 128)).astype(np.float32)}
        yield f"8 Mamba blocks, {batch} x {length}", times, partial(pair, path, feeds, folder, 1e-3, 0.0)


def entry(folder: Path) -> Measurement:
    """A loop of no iterations as one node, and an Identity."""
    x = np.ones(4, np.float32)
    made = whorl.embed(model(LOOP), folder / "entry.onnx")
    runs = {
        US: bound(session(made.model, made.library), {"x": x, "n": np.array(0)}),
        "Identity": bound(
            session(model("main (float[4] x, int64 n) => (float[4] y) { y = Identity (x) }")),
            {"x": x, "n": np.array(0)},
        ),
    }
    medians = in_turns({name: repeated(partial(cpu, run)) for name, run in runs.items()}, 3 * ROUNDS)
    medians = {name: 1e6 * value for name, value in medians.items()}
    return Measurement("entering a node", "us", medians, medians["Identity"] + ENTRY)


def measured(name: str, times: float, make: Callable[[], dict[str, Any]]) -> Measurement:
    runs = {key: repeated(partial(cpu, run)) for key, run in make().items()}
    medians = {key: 1e3 * value for key, value in in_turns(runs, ROUNDS).items()}
    return Measurement(f"{name}: {medians[PEER] / medians[US]:.3g} times faster", "ms", medians, medians[PEER] / times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only workloads whose names hold one of these")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    options = parser.parse_args()

    def is_chosen(name: str) -> bool:
        return not options.words or any(word in name for word in options.words)

    with tempfile.TemporaryDirectory() as folder:
        results = [measured(*case) for case in cases(Path(folder)) if is_chosen(case[0])]
        if is_chosen("entering"):
            results.append(entry(Path(folder)))
    if options.json:
        print(json.dumps({"machine": machine(), "measurements": [m.as_json() for m in results]}, indent=1))
    else:
        print("\n".join(line for m in results for line in lines(m)))
    return int(any(m.misses for m in results))


if __name__ == "__main__":
    sys.exit(main())
