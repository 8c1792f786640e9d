"""How many microseconds does whorl's interpreter need for a node, and for an iteration of a loop?

Small values show the overhead of the interpreter itself, which has a target; large bodies show its kernels. The peers
get the same model and inputs in the same run, in turns; onnxruntime with all its optimisations. All use one thread, and
what counts is its CPU time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from measuring import Measurement, cpu, in_turns, report, use_one_thread

use_one_thread()

import numpy as np
import onnx
import onnx.reference
import onnxruntime

import whorl

ROUNDS = 9
HEADER = '<ir_version: 10, opset_import: ["" : 21]>'
FLOATS = np.random.default_rng(0)
Feeds = Mapping[str, np.ndarray]
Run = Callable[[], list[Any]]

SMALL_BODY = """
small (int64 n, float x) => (float y) {
  yes = Constant <value = bool {1}> ()
  half = Constant <value_float = 0.5> ()
  y = Loop (n, yes, x) <body = body (int64 i, bool go_on, float h) => (bool still, float next) {
    still = Identity (go_on)
    p = Mul (h, half)
    next = Add (p, half)
  }>
}
"""
COLLECTING_BODY = """
collecting (int64 n, float x) => (float y, float[n_values] ys) {
  yes = Constant <value = bool {1}> ()
  half = Constant <value_float = 0.5> ()
  y, ys = Loop (n, yes, x) <body = body (int64 i, bool go_on, float h) => (bool still, float next, float seen) {
    still = Identity (go_on)
    p = Mul (h, half)
    next = Add (p, half)
    seen = Identity (next)
  }>
}
"""
LSTM_CELL = """
lstm (float[T, 1, 128] xs, float[256, 512] w, float[512] b, float[1, 128] h0, float[1, 128] c0)
  => (float[1, 128] h, float[1, 128] c, float[T, 1, 128] hs) {
  h, c, hs = Scan <num_scan_inputs = 1, body = cell (float[1, 128] h_in, float[1, 128] c_in, float[1, 128] x)
    => (float[1, 128] h_out, float[1, 128] c_out, float[1, 128] seen) {
    joined = Concat <axis = 1> (x, h_in)
    product = MatMul (joined, w)
    gates = Add (product, b)
    i, o, f, g = Split <axis = 1, num_outputs = 4> (gates)
    i_open = Sigmoid (i)
    o_open = Sigmoid (o)
    f_open = Sigmoid (f)
    new = Tanh (g)
    kept = Mul (f_open, c_in)
    added = Mul (i_open, new)
    c_out = Add (kept, added)
    shown = Tanh (c_out)
    h_out = Mul (o_open, shown)
    seen = Identity (h_out)
  }> (h0, c0, xs)
}
"""
LARGE_ELEMENTWISE = """
large (int64 n, float[m] x) => (float[m] y) {
  yes = Constant <value = bool {1}> ()
  half = Constant <value_float = 0.5> ()
  y = Loop (n, yes, x) <body = body (int64 i, bool go_on, float[m] h) => (bool still, float[m] next) {
    still = Identity (go_on)
    p = Mul (h, half)
    s = Sigmoid (p)
    next = Add (s, h)
  }>
}
"""
CONVOLUTION = """
convolution (int64 n, float[1, 32, 56, 56] x, float[32, 32, 3, 3] w) => (float[1, 32, 56, 56] y) {
  yes = Constant <value = bool {1}> ()
  y = Loop (n, yes, x) <body = body (int64 i, bool go_on, float[1, 32, 56, 56] h)
    => (bool still, float[1, 32, 56, 56] next) {
    still = Identity (go_on)
    p = Conv <pads = [1, 1, 1, 1]> (h, w)
    next = Relu (p)
  }>
}
"""


@dataclass(frozen=True)
class Workload:
    """A model, its inputs, and how many units (nodes or iterations) a run is; the tolerance is relative."""

    what: str
    text: str
    feeds: Feeds
    units: int
    tolerance: float = 0.0
    target: float | None = None
    peers: tuple[str, ...] = field(default=("onnxruntime",))


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    return FLOATS.normal(0, scale, shape).astype(np.float32)


def chain(length: int) -> str:
    """A graph of additions one after the other."""
    inside = "".join(f"v{k + 1} = Add (v{k}, c)\n" for k in range(length))
    return f"chain (float[4] v0, float[4] c) => (float[4] v{length}) {{\n{inside}}}"


def trips(count: int) -> np.ndarray:
    return np.array(count, np.int64)


def workloads() -> list[Workload]:
    scalar = np.array(3, np.float32)
    start = {"h0": normal(1, 128), "c0": normal(1, 128), "w": normal(256, 512, scale=0.1), "b": normal(512)}
    image = {"x": normal(1, 32, 56, 56), "w": normal(32, 32, 3, 3, scale=0.08)}
    return [
        Workload(
            "a node, in a chain of 20,000 additions of 4 elements",
            chain(20_000),
            {"v0": normal(4), "c": normal(4)},
            20_000,
            target=15,
            peers=("onnxruntime", "reference"),
        ),
        Workload(
            "an iteration of 100,000, body of 3 nodes on scalars",
            SMALL_BODY,
            {"n": trips(100_000), "x": scalar},
            100_000,
            target=45,
        ),
        Workload(
            "an iteration of 100,000, the same with a collected output",
            COLLECTING_BODY,
            {"n": trips(100_000), "x": scalar},
            100_000,
            target=60,
        ),
        Workload(
            "an iteration of 1,000, LSTM cell of 14 nodes, width 128",
            LSTM_CELL,
            {**start, "xs": normal(1000, 1, 128)},
            1000,
            tolerance=1e-4,
            target=210,
        ),
        Workload(
            "an iteration of 20, body of 4 nodes on 1,000,000 elements",
            LARGE_ELEMENTWISE,
            {"n": trips(20), "x": normal(1_000_000)},
            20,
            tolerance=1e-5,
        ),
        Workload(
            "an iteration of 10, 3x3 convolution of 32 channels of 56x56",
            CONVOLUTION,
            {"n": trips(10), **image},
            10,
            tolerance=1e-3,
        ),
    ]


def runner(engine: str, data: bytes, feeds: Feeds) -> Run:
    """A ready session of an engine on a model, bound to its inputs."""
    match engine:
        case "whorl":
            options = whorl.SessionOptions()
            options.backend = "interpreter"
            session = whorl.InferenceSession(data, options)
        case "onnxruntime":
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        case _:
            session = onnx.reference.ReferenceEvaluator(onnx.load_from_string(data))
    return partial(session.run, None, dict(feeds))


def measured(load: Workload) -> Measurement:
    data = onnx.parser.parse_model(HEADER + load.text).SerializeToString()
    runs = {name: runner(name, data, load.feeds) for name in ("whorl", *load.peers)}
    actual = runs["whorl"]()
    for peer in load.peers:
        for ours, theirs in zip(actual, runs[peer](), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=load.tolerance, atol=load.tolerance, err_msg=peer)
    seconds = in_turns({name: partial(cpu, run) for name, run in runs.items()}, ROUNDS)
    each = {name: 1e6 * value / load.units for name, value in seconds.items()}
    return Measurement(load.what, "us", each, load.target)


if __name__ == "__main__":
    sys.exit(report(__doc__.partition("\n")[0], lambda: [measured(load) for load in workloads()]))
