"""How much faster are models on all cores than on one, and beside onnxruntime with its own threads?

Loops whose states do not meet, recurrent cells, products, convolutions, and a prompt of a language model. Wall clock
times, since the threads share the work: medians of runs in turns, on one thread and on as many as there are cores. The
bits of whorl's results must be the same for both, and near those of onnxruntime. A machine that does other work shows
less than there is.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from measuring import US, Measurement, in_turns, report, use_one_thread

use_one_thread()

import numpy as np
import onnxruntime
import straight_line
from loops import networks, tensors
from loops.workload import floats, model
from shapes_models import mamba, phi

import whorl

ROUNDS = 9
REST = 0.06
"""Seconds between runs: threads of onnxruntime look for work long after a run, and take a core from the next one."""
PEER = "onnxruntime"
TOLERANCE = 1e-3
"""Of the largest element of a result."""
BATCHED_VITERBI = """viterbi (float[{b}, {s}] p0, float[{t}, {b}, {s}] scores)
  => (float[{b}, {s}] p, int64[{t}, {b}, {s}] back) {{
  last = Constant <value = int64[1] {{2}}> ()
  p, back = Scan (p0, scores) <num_scan_inputs = 1, body = forward (float[{b}, {s}] q, float[{b}, {s}] e)
    => (float[{b}, {s}] q_out, int64[{b}, {s}] from) {{
    column = Unsqueeze (q, last)
    steps = Add (column, moves)
    best = ReduceMax <axes = [1], keepdims = 0> (steps)
    from = ArgMax <axis = 1, keepdims = 0> (steps)
    q_out = Add (best, e)
  }}>
}}"""


@dataclass(frozen=True)
class Case:
    """A model, its inputs, and how many times faster than on one thread two cores are to be; `ahead` of the peer."""

    what: str
    path: Path
    feeds: Mapping[str, Any]
    gain: float
    ahead: float


def viterbi(batch: int, steps: int, states: int) -> tuple[bytes, dict[str, np.ndarray]]:
    feeds = {"p0": floats(0, batch, states), "scores": floats(1, steps, batch, states)}
    text = BATCHED_VITERBI.format(b=batch, t=steps, s=states)
    return model(text, {"moves": floats(2, states, states)}, opset=13), feeds


def cases(folder: Path) -> Iterator[Case]:
    def stored(name: str, data: bytes) -> Path:
        path = folder / f"{name}.onnx"
        path.write_bytes(data)
        return path

    neurons = tensors.neurons(65536, 500, collects=False)
    yield Case("65,536 neurons (FitzHugh-Nagumo)", stored("neurons", neurons.model), neurons.feeds, 1.7, 1.0)
    mamba.write(8, folder / "mamba.onnx")
    yield Case("8 Mamba blocks, 4 x 200", folder / "mamba.onnx", {"x0": floats(0, 4, 200, 128)}, 1.7, 1.0)
    cell = networks.cell("LSTM", 32, 512)
    yield Case("LSTM as Scan, batch 32, width 512", stored("cell", cell.model), cell.feeds, 1.7, 1.0)
    nearest = tensors.knn(4000, 4000, 16)
    yield Case("4000 nearest neighbours of 4000", stored("knn", nearest.model), nearest.feeds, 1.7, 1.0)
    data, feeds = viterbi(32, 100, 64)
    yield Case("Viterbi, batch 32, 64 states", stored("viterbi", data), feeds, 1.7, 1.0)
    for name in ("resnet50", "densenet121"):
        network = straight_line.network(name)
        shape = [d.dim_value for d in network.graph.input[0].type.tensor_type.shape.dim]
        path = stored(name, network.SerializeToString())
        yield Case(name, path, {network.graph.input[0].name: floats(0, *shape)}, 1.7, 0.95)
    phi.write(folder / "phi.onnx")
    prompt = phi.call(0, 128)
    yield Case("2 layers of Phi, a prompt of 128", folder / "phi.onnx", prompt.feeds, 1.7, 0.95)


def ours(path: Path, threads: int) -> Any:
    options = whorl.SessionOptions()
    options.intra_op_num_threads = threads
    return whorl.InferenceSession(str(path), options)


def theirs(path: Path, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def wall(work: Callable[[], object]) -> float:
    """Seconds that a run takes after two more, when the threads of all others sleep."""
    time.sleep(REST)
    for _ in range(2):
        work()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measured(case: Case) -> Measurement:
    sessions = {US: ours(case.path, 0), f"{US}, 1": ours(case.path, 1)}
    sessions |= {PEER: theirs(case.path, 0), f"{PEER}, 1": theirs(case.path, 1)}
    runs = {name: partial(session.run, None, dict(case.feeds)) for name, session in sessions.items()}
    results = {name: [run() for _ in range(3)][-1] for name, run in runs.items()}
    for mine, alone, other in zip(results[US], results[f"{US}, 1"], results[PEER], strict=True):
        np.testing.assert_array_equal(mine, alone, case.what)
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, other, atol=TOLERANCE * np.abs(other).max(), err_msg=case.what)
    seconds = in_turns({name: partial(wall, run) for name, run in runs.items()}, ROUNDS)
    milliseconds = {name: 1e3 * value for name, value in seconds.items()}
    target = min(milliseconds[f"{US}, 1"] / case.gain, milliseconds[PEER] / case.ahead)
    return Measurement(case.what, "ms", milliseconds, target)


def measurements() -> Sequence[Measurement]:
    onnxruntime.set_default_logger_severity(3)
    with tempfile.TemporaryDirectory() as folder:
        return [measured(case) for case in cases(Path(folder))]


if __name__ == "__main__":
    sys.exit(report((__doc__ or "").partition("\n")[0], measurements))
