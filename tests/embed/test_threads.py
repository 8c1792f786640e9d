"""Embedded loops share their rows on the threads of onnxruntime's session: the same bits for any number of them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx_text import model
from onnxruntime.capi.onnxruntime_pybind11_state import RuntimeException

import whorl

NEURONS = """main (float[n] v, float[n] w, int64 k) => (float[n] v1, float[n] w1, float[k, n] rows) {
    c = Constant<value = float {0.08}> ()
    v1, w1, rows = Loop (k, "", v, w) <
        body = step (int64 i, bool go, float[n] a, float[n] b) => (bool on, float[n] a1, float[n] b1, float[n] row) {
            on = Identity(go)
            t = Tanh(a)
            u = Mul(t, c)
            a1 = Sub(a, u)
            s = Mul(a1, c)
            b1 = Add(b, s)
            row = Add(a1, b1)
        }>
}"""
NEAREST = """main (float[n, 8] queries, float[300, 8] points) => (float[m, n] distances) {
    axes = Constant<value = int64[1] {1}> ()
    k = Constant<value = int64 {300}> ()
    distances = Loop (k, "") <
        body = step (int64 i, bool go) => (bool on, float[n] row) {
            on = Identity(go)
            p = Gather(points, i)
            d = Sub(queries, p)
            q = Mul(d, d)
            row = ReduceSum<keepdims = 0>(q, axes)
        }>
}"""
PRODUCTS = """main (float[n, 300] h, float[300, 300] w, int64 k) => (float[n, 300] y) {
    y = Loop (k, "", h) <body = step (int64 i, bool go, float[n, 300] a) => (bool on, float[n, 300] b) {
        on = Identity(go)
        t = MatMul(a, w)
        b = Tanh(t)
    }>
}"""
READS = """main (float[n, 64] x, int64[k] columns, int64 k) => (float[n, 64] y) {
    y = Loop (k, "", x) <body = step (int64 i, bool go, float[n, 64] h) => (bool on, float[n, 64] h2) {
        on = Identity(go)
        j = Gather(columns, i)
        axis = Constant<value = int64[1] {1}> ()
        [read] e = Gather<axis = 1>(x, j)
        column = Unsqueeze(e, axis)
        t = Tanh(h)
        h2 = Add(t, column)
    }>
}"""
THREADS = (1, 2, 3, 8)
RUNS = 5
"""The first ones are alone, then they are shared."""
RNG = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


NEURON_FEEDS = {"v": floats(20_000), "w": floats(20_000), "k": np.array(50)}
READ_FEEDS = {"x": floats(3000, 64), "columns": np.arange(200) % 64, "k": np.array(200)}
FEEDS = {
    NEURONS: NEURON_FEEDS,
    NEAREST: {"queries": floats(5000, 8), "points": floats(300, 8)},
    PRODUCTS: {"h": floats(64, 300), "w": floats(300, 300) / 17, "k": np.array(3)},
}


def sessions(text: str, folder: Path, threads: Sequence[int] = THREADS) -> list[Any]:
    """Sessions over one embedded model, with these numbers of threads."""
    made, result = whorl.embed(model(text), folder / "threads.onnx"), list[Any]()
    for count in threads:
        options = onnxruntime.SessionOptions()
        options.log_severity_level, options.intra_op_num_threads = 4, count
        options.register_custom_ops_library(made.library)
        result.append(onnxruntime.InferenceSession(made.model, options))
    return result


def bits(results: Sequence[np.ndarray]) -> list[bytes]:
    return [array.tobytes() for array in results]


@pytest.mark.parametrize("text", FEEDS, ids=["neurons", "nearest", "products"])
def test_any_number_of_threads_gives_the_same_bits(tmp_path: Path, text: str) -> None:
    first, *others = [session.run(None, FEEDS[text]) for session in sessions(text, tmp_path) for _ in range(RUNS)]
    plain = onnxruntime.InferenceSession(model(text).SerializeToString()).run(None, FEEDS[text])
    for actual, expected in zip(first, plain, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)
    for other in others:
        assert bits(other) == bits(first)


def test_threads_that_run_one_session_at_once_give_the_same(tmp_path: Path) -> None:
    (session,) = sessions(NEURONS, tmp_path, [3])
    expected = bits(session.run(None, NEURON_FEEDS))
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(partial(session.run, None, NEURON_FEEDS)) for _ in range(40)]
        assert all(bits(run.result()) == expected for run in runs)


def test_failure_on_several_threads_is_that_of_the_first_iteration_that_fails(tmp_path: Path) -> None:
    message = "Status Message: Loop 'y': Gather 'read' in body of Loop (iteration 150): a value or a length is refused"
    columns = READ_FEEDS["columns"].copy()
    columns[[150, 170]] = 64, -65
    for session in sessions(READS, tmp_path):
        for _ in range(RUNS):
            with pytest.raises(RuntimeException) as caught:
                session.run(None, READ_FEEDS | {"columns": columns})
            assert str(caught.value).endswith(message)
        assert np.isfinite(session.run(None, READ_FEEDS)[0]).all()
