"""How long after a limit is passed does a run end, whatever it is doing then?

Constructs that take minutes or more, each under a timeout, `Session.cancel`, `RunOptions.terminate` and Ctrl-C; tensors
larger than `max_memory`; loops beyond `max_iterations`; optimising, delooping and compiling. The time is counted from
the moment that the limit is passed, the median of three runs in a process of their own. Target: 50 ms.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
from measuring import US, Measurement, report

import whorl

ROUNDS, TARGET = 3, 50.0
WAIT = 0.25
"""Seconds that a run has before the limit."""
SIDE = 6000
Feeds = Mapping[str, Any]


@dataclass(frozen=True)
class Construct:
    """A graph in ONNX's text form, what it is fed, and the backend that runs it."""

    graph: str
    feeds: Callable[[], Feeds]
    backend: str = "native"

    def session(self, **limits: Any) -> whorl.InferenceSession:
        options = whorl.SessionOptions()
        options.backend, options.intra_op_num_threads = self.backend, 1
        for name, value in limits.items():
            setattr(options, name, value)
        return whorl.InferenceSession(parsed(self.graph).SerializeToString(), options)


def parsed(graph: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {graph}')


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def number(value: int) -> np.ndarray:
    return np.array(value)


SUM_OF_SINES = """g (int64 n) => (y) { zero = Constant <value = int64 {0}> () one = Constant <value = int64 {1}> ()
    r = Range (zero, n, one) c = Cast <to = 1> (r) s = Sin (c) y = ReduceSum <keepdims = 0> (s) }"""
PRODUCTS = "g (float[n, n] x) => (y) { a = MatMul (x, x) b = MatMul (a, x) y = MatMul (b, x) }"
CONVOLUTION = "g (float[n, c, h, w] x, float[m, c, a, b] f) => (y) { y = Conv (x, f) }"
FOREVER = """g (float[n] x) => (y) { most = Constant <value = int64 {9223372036854775807}> ()
    y = Loop (most, "", x) <body = step (int64 i, bool on, float[n] a) => (bool on_out, float[n] b) {
        on_out = Identity (on) BODY }> }"""
NESTED = FOREVER.replace(
    "BODY",
    """most = Constant <value = int64 {1000000000}> ()
    b = Loop (most, "", a) <body = inner (int64 j, bool k, float[n] c) => (bool k_out, float[n] d) {
        k_out = Identity (k)
        d = Loop (most, "", c) <body = innermost (int64 m, bool o, float[n] e) => (bool o_out, float[n] f) {
            o_out = Identity (o) f = Sin (e) }> }>""",
)
GROWING = """g (float[k, 64] x, float[1, 64] row) => (y) { most = Constant <value = int64 {9223372036854775807}> ()
    y = Loop (most, "", x) <body = step (int64 i, bool on, float[p, 64] a) => (bool on_out, float[q, 64] b) {
        on_out = Identity (on) b = Concat <axis = 0> (a, row) s = Sin (b) t = ReduceSum <keepdims = 0> (s) }> }"""
CONSTRUCTS = {
    "a fused reduction over 10^13 elements": Construct(SUM_OF_SINES, lambda: {"n": number(10**13)}),
    f"MatMul {SIDE} x {SIDE}": Construct(PRODUCTS, lambda: {"x": zeros(SIDE, SIDE)}),
    f"MatMul {SIDE} x {SIDE}, interpreted": Construct(PRODUCTS, lambda: {"x": zeros(SIDE, SIDE)}, "interpreter"),
    "Conv of 1024 channels": Construct(
        CONVOLUTION, lambda: {"x": zeros(4, 1024, 128, 128), "f": zeros(1024, 1024, 5, 5)}
    ),
    "Conv of 1024 channels, interpreted": Construct(
        CONVOLUTION, lambda: {"x": zeros(4, 1024, 128, 128), "f": zeros(1024, 1024, 5, 5)}, "interpreter"
    ),
    "three nested loops": Construct(NESTED, lambda: {"x": zeros(4)}),
    "an endless loop": Construct(FOREVER.replace("BODY", "b = Cos (a)"), lambda: {"x": zeros(1)}),
    "an endless loop, interpreted": Construct(
        FOREVER.replace("BODY", "b = Cos (a)"), lambda: {"x": zeros(1)}, "interpreter"
    ),
    "a loop over MatMul 3000 x 3000": Construct(
        FOREVER.replace("[n]", "[n, n]").replace("BODY", "c = MatMul (a, a) b = MatMul (c, a)"),
        lambda: {"x": zeros(3000, 3000)},
    ),
    "a loop that calls NumPy for Det": Construct(
        FOREVER.replace("[n]", "[n, n]").replace("BODY", "d = Det (a) b = Add (a, d)"), lambda: {"x": zeros(2500, 2500)}
    ),
    "a loop whose rows grow": Construct(GROWING, lambda: {"x": zeros(0, 64), "row": zeros(1, 64)}),
    "sorting 3 * 10^7 elements, interpreted": Construct(
        "g (float[n] x, int64[1] k) => (y, i) { y, i = TopK (x, k) }",
        lambda: {"x": np.random.default_rng(0).random(3 * 10**7, np.float32), "k": np.array([3 * 10**7])},
        "interpreter",
    ),
}
BIG = {
    "ConstantOfShape": ("g (int64[1] n) => (y) { y = ConstantOfShape (n) }", lambda: {"n": np.array([1 << 32])}),
    "Expand": (
        "g (float x, int64[1] n) => (y) { y = Expand (x, n) }",
        lambda: {"x": zeros(), "n": np.array([1 << 32])},
    ),
    "Tile": (
        "g (float[1] x, int64[1] n) => (y) { y = Tile (x, n) }",
        lambda: {"x": zeros(1), "n": np.array([1 << 32])},
    ),
    "Pad": (
        "g (float[1] x, int64[2] n) => (y) { y = Pad (x, n) }",
        lambda: {"x": zeros(1), "n": np.array([0, 1 << 32])},
    ),
    "Range": (
        "g (int64 n, int64 zero, int64 one) => (y) { y = Range (zero, n, one) }",
        lambda: {"n": number(1 << 40), "zero": number(0), "one": number(1)},
    ),
    "collected rows": (
        """g (float[1000] x) => (y) { most = Constant <value = int64 {9223372036854775807}> ()
        y = Loop (most, "") <body = step (int64 i, bool on) => (bool on_out, float[1000] row) {
            on_out = Identity (on) row = Identity (x) }> }""",
        lambda: {"x": zeros(1000)},
    ),
}
LOOPS = {
    "an endless loop": "an endless loop",
    "three nested loops": "three nested loops",
    "a loop whose rows grow": "a loop whose rows grow",
}
FOLDED = """g () => (y) { n = Constant <value = int64[2] {6000, 6000}> () one = Constant <value = int64[1] {1}> ()
    c = ConstantOfShape <value = float[1] {0.5}> (n) s = Sin (c) a = MatMul (s, s) b = MatMul (a, s) d = MatMul (b, s)
    y = MatMul (d, s) }"""
UNROLLED = FOREVER.replace("9223372036854775807", "5000").replace("[n]", "[4]").replace("BODY", "b = Sin (a)")
CHAIN = "g (float[n] x0) => (x3000) {" + " ".join(f"x{k + 1} = Softmax (x{k})" for k in range(3000)) + "}"


# ---- what is done in a process of its own ----------------------------------------------------------------------


def latency(start: Callable[[], object], moment: Callable[[], float], expected: type[BaseException]) -> float:
    """Milliseconds from the moment that a limit is passed to the error."""
    try:
        start()
    except expected:
        return 1000 * (time.perf_counter() - moment())
    raise RuntimeError("nothing stopped it")


def later(act: Callable[[], object]) -> Callable[[], float]:
    """Do something after a while, from another thread; when that was."""
    moments: list[float] = []

    def target() -> None:
        moments.append(time.perf_counter())
        act()

    timer = threading.Timer(WAIT, target)
    timer.daemon = True
    timer.start()
    return lambda: moments[0]


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def of_run(construct: Construct, limit: str) -> float:
    """One run under one limit."""
    feeds = construct.feeds()
    if limit == "timeout":
        session, moment = construct.session(timeout=WAIT), time.perf_counter() + WAIT
        return latency(lambda: session.run(None, feeds), lambda: moment, whorl.TimeLimitError)
    session, options = construct.session(), whorl.RunOptions()
    acts = {"cancel": session.cancel, "terminate": lambda: setattr(options, "terminate", True), "Ctrl-C": interrupt}
    moment = later(acts[limit])
    error = KeyboardInterrupt if limit == "Ctrl-C" else whorl.CancelledError
    return latency(lambda: session.run(None, feeds, options), moment, error)


def at_once(construct: Construct, error: type[BaseException], **limits: Any) -> float:
    """A run that is to fail as soon as it can be known."""
    session, feeds = construct.session(**limits), construct.feeds()
    moment = time.perf_counter()
    return latency(lambda: session.run(None, feeds), lambda: moment, error)


def of_work(verb: str, limit: str) -> float:
    """One of the other verbs under one limit."""
    graph = {"optimize": FOLDED, "deloop": UNROLLED, "compile": CHAIN}[verb]
    seconds = WAIT if limit == "timeout" else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        onnx.save(parsed(graph), path)
        optimize, deloop, compile = whorl.optimize, whorl.deloop, whorl.compile
        calls = {
            "optimize": lambda: optimize(path, timeout=seconds),
            "deloop": lambda: deloop(path, max_iterations=10**6, timeout=seconds),
            "compile": lambda: compile(path, Path(folder, "model.so"), dims={"n": 1000}, timeout=seconds),
        }
        whorl.load(path)  # what is imported at the first use is no part of the work
        begun = time.perf_counter() + WAIT
        moment = later(interrupt) if limit == "Ctrl-C" else lambda: begun
        return latency(calls[verb], moment, KeyboardInterrupt if limit == "Ctrl-C" else whorl.TimeLimitError)


PAIRS: dict[str, Callable[[], float]] = {
    **{
        f"{name}: {limit}": lambda construct=construct, limit=limit: of_run(construct, limit)
        for name, construct in CONSTRUCTS.items()
        for limit in ("timeout", "cancel", "terminate", "Ctrl-C")
    },
    **{
        f"{name}: max_memory": lambda graph=graph, feeds=feeds: at_once(
            Construct(graph, feeds), whorl.MemoryLimitError, max_memory=1 << 20
        )
        for name, (graph, feeds) in BIG.items()
    },
    **{
        f"{name}: max_iterations": lambda construct=CONSTRUCTS[key]: at_once(
            construct, whorl.IterationLimitError, max_iterations=100
        )
        for name, key in LOOPS.items()
    },
    **{
        f"{verb}: {limit}": lambda verb=verb, limit=limit: of_work(verb, limit)
        for verb in ("optimize", "deloop", "compile")
        for limit in ("timeout", "Ctrl-C")
    },
}


def measure() -> list[Measurement]:
    actual = []
    for name in PAIRS:
        done = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True, check=True)
        actual.append(Measurement(name, "ms", {US: statistics.median(json.loads(done.stdout))}, TARGET))
    return actual


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps([PAIRS[sys.argv[2]]() for _ in range(ROUNDS)]))
    else:
        sys.exit(report(__doc__.splitlines()[0], measure))
