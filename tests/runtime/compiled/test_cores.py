"""Threads that programs share their work with: the same bits for any number, limits, other threads, and forks."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from onnx_text import model
from spreading import results, session_of, share_everything, steps_handed_out

import whorl
from whorl.codegen import callers
from whorl.runtime.compiled import cores
from whorl.runtime.compiled.context import RunContext
from whorl.runtime.compiled.cores import ALONE, Pool, available_cores

SEVERAL = pytest.mark.skipif(not cores.is_supported(), reason="threads of this system are not known")
PRODUCT = """main (float[n, 24] x, float[24, 40] w) => (float[n, 40] y) {
  p = MatMul (x, w)
  y = Softmax <axis = 1> (p)
}"""
ATTENTION = """main (float[b, h, n, 8] q, float[b, h, n, 8] k, float[b, h, n, 8] v) => (float[b, h, n, 8] y) {
  turned = Transpose <perm = [0, 1, 3, 2]> (k)
  scores = MatMul (q, turned)
  weights = Softmax <axis = -1> (scores)
  y = MatMul (weights, v)
}"""
NETWORK = """main (float[n, 3, 14, 14] x, float[20, 3, 3, 3] w, float[20] b) => (float[n, 20, 3, 3] y, float[n, 20] z) {
  c = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x, w, b)
  y = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (c)
  z = ReduceMean <keepdims = 0, noop_with_empty_axes = 0> (c, axes)
}"""
STEPS = """main (int64 n, float[70000] v0) => (float[70000] v, int64 count) {
  one = Constant <value = int64 {1}> ()
  zero = Constant <value = int64 {0}> ()
  v, count = Loop (n, "", v0, zero) <
    body = step (int64 i, bool go, float[70000] x, int64 c) => (bool on, float[70000] y, int64 d) {
    on = Identity (go)
    s = Sin (x)
    y = Add (x, s)
    d = Add (c, one)
  }>
}"""

DISTANCES = """main (float[9, 3] x, float[11, 3] points) => (float[11, 9] d) {
  one = Constant <value_ints = [1]> ()
  n = Constant <value = int64 {11}> ()
  d = Loop (n, "") <body = row (int64 i, bool go) => (bool on, float[9] r) {
    on = Identity (go)
    p = Gather <axis = 0> (points, i)
    off = Sub (x, p)
    square = Mul (off, off)
    r = ReduceSum <keepdims = 0> (square, one)
  }>
}"""
NEURONS = """main (int64 n, float[33] v0, float[33] w0) => (float[33] v, float[33] w, float[k, 33] vs) {
  v, w, vs = Loop (n, "", v0, w0) <
    body = step (int64 i, bool go, float[33] x, float[33] y) => (bool on, float[33] a, float[33] b, float[33] c) {
    on = Identity (go)
    t = Tanh (x)
    a = Sub (t, y)
    b = Add (y, t)
    c = Identity (a)
  }>
}"""

VITERBI = """main (float[b, 6] p0, float[t, b, 6] scores, float[6, 6] moves) => (float[b, 6] p, int64[t, b, 6] back) {
  last = Constant <value_ints = [2]> ()
  states = Constant <value_ints = [1]> ()
  p, back = Scan (p0, scores) <num_scan_inputs = 1, body = forward (float[b, 6] q, float[b, 6] e)
    => (float[b, 6] q_out, int64[b, 6] from) {
    column = Unsqueeze (q, last)
    steps = Add (column, moves)
    best = ReduceMax <keepdims = 0> (steps, states)
    from = ArgMax <axis = 1, keepdims = 0> (steps)
    q_out = Add (best, e)
  }>
}"""
STATES = """main (int64 n, float[b, t, 70] x, float[b, t, 9] c, float[b, 70, 9] h0)
  => (float[b, 70, 9] h, float[k, b, 70] ys) {
  one = Constant <value_ints = [-1]> ()
  h, ys = Loop (n, "", h0) <
    body = step (int64 i, bool go, float[b, 70, 9] before) => (bool on, float[b, 70, 9] after, float[b, 70] y) {
    on = Identity (go)
    now = Gather <axis = 1> (x, i)
    column = Unsqueeze (now, one)
    moved = Mul (before, column)
    after = Add (moved, column)
    weights = Gather <axis = 1> (c, i)
    weight_column = Unsqueeze (weights, one)
    product = MatMul (after, weight_column)
    y = Squeeze (product, one)
  }>
}"""

STEP_OUTSIDE = "Gather 'now' in body of Loop (iteration 4): index 4 is outside [-4, 4) of axis 1"


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


CASES = {
    "product": (PRODUCT, {"x": floats(33, 24), "w": floats(24, 40)}),
    "attention": (ATTENTION, {name: floats(2, 3, 19, 8) for name in "qkv"}),
    "network": (
        NETWORK.replace("{\n", "{\n  axes = Constant <value_ints = [2, 3]> ()\n", 1),
        {"x": floats(2, 3, 14, 14), "w": floats(20, 3, 3, 3), "b": floats(20)},
    ),
    "distances": (DISTANCES, {"x": floats(9, 3), "points": floats(11, 3)}),
    "neurons": (NEURONS, {"n": np.array(7), "v0": floats(33), "w0": floats(33)}),
    "viterbi": (VITERBI, {"p0": floats(5, 6), "scores": floats(4, 5, 6), "moves": floats(6, 6)}),
    "states": (STATES, {"n": np.array(4), "x": floats(3, 4, 70), "c": floats(3, 4, 9), "h0": floats(3, 70, 9)}),
    "steps": (STEPS, {"n": np.array(5), "v0": floats(70000)}),
}


@SEVERAL
@pytest.mark.parametrize("name", CASES)
def test_results_have_the_same_bits_for_any_number_of_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    share_everything(monkeypatch)
    text, feeds = CASES[name]
    expected = results(model(text), 1, feeds)
    for threads in (2, 3, 8):
        for mine, other in zip(results(model(text), threads, feeds), expected, strict=True):
            np.testing.assert_array_equal(mine, other)
    assert steps_handed_out() > 0


@SEVERAL
def test_pool_starts_after_the_first_run_that_had_work_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_pools", cores._Pools())
    long, short = floats(4000, 24), floats(2, 24)
    session, w = session_of(model(PRODUCT), 2), floats(24, 40)
    session.run(None, {"x": short, "w": w})
    session.run(None, {"x": short, "w": w})
    assert cores._pools.current is None
    first = session.run(None, {"x": long, "w": w})[0]
    assert cores._pools.current is None
    np.testing.assert_array_equal(session.run(None, {"x": long, "w": w})[0], first)
    assert steps_handed_out() > 0


@SEVERAL
def test_session_of_one_thread_has_no_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_pools", cores._Pools())
    session, feeds = session_of(model(PRODUCT), 1), {"x": floats(4000, 24), "w": floats(24, 40)}
    for _ in range(3):
        session.run(None, feeds)
    assert cores._pools.current is None


@SEVERAL
def test_sessions_on_threads_of_their_own_share_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    share_everything(monkeypatch)
    text, feeds = CASES["attention"]
    expected = results(model(text), 1, feeds)[0]
    sessions = [session_of(model(text), 3) for _ in range(8)]

    def work(session: whorl.InferenceSession) -> bool:
        return all(np.array_equal(session.run(None, feeds)[0], expected) for _ in range(20))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, sessions))


@SEVERAL
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_child_of_a_fork_has_a_pool_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    share_everything(monkeypatch)
    text, feeds = CASES["product"]
    session = session_of(model(text), 2)
    expected = session.run(None, feeds)[0]
    assert steps_handed_out() > 0
    child = os.fork()
    if not child:
        is_fresh = cores._pools.current is None
        same = np.array_equal(session.run(None, feeds)[0], expected)
        os._exit(0 if is_fresh and same and steps_handed_out() > 0 else 1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(session.run(None, feeds)[0], expected)


@SEVERAL
def test_time_limit_ends_what_several_cores_are_at(monkeypatch: pytest.MonkeyPatch) -> None:
    share_everything(monkeypatch)
    options = whorl.SessionOptions()
    options.intra_op_num_threads, options.timeout = 2, 0.2
    session = whorl.InferenceSession(model(STEPS), options)
    with pytest.raises(whorl.TimeLimitError):
        session.run(None, {"n": np.array(10_000_000), "v0": floats(70000)})


@SEVERAL
def test_run_on_several_cores_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    share_everything(monkeypatch)
    session = session_of(model(STEPS), 2)
    session.run(None, {"n": np.array(2), "v0": floats(70000)})
    timer = threading.Timer(0.2, session.cancel)
    timer.start()
    with pytest.raises(whorl.CancelledError):
        session.run(None, {"n": np.array(10_000_000), "v0": floats(70000)})
    timer.join()


@SEVERAL
def test_failure_on_one_core_is_the_error_of_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    share_everything(monkeypatch)
    text = "main (float[n, 3] x, int64[n, 3] at) => (float[n, 3] y) { y = GatherElements <axis = 1> (x, at) }"
    at = np.zeros((500, 3), np.int64)
    at[400, 1] = 7
    with pytest.raises(whorl.RunError, match="7"):
        results(model(text), 2, {"x": floats(500, 3), "at": at})


@SEVERAL
@pytest.mark.parametrize("count", [6, 1 << 55, 1 << 62, (1 << 63) - 1])
def test_iteration_that_fails_on_several_cores_is_named(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    share_everything(monkeypatch)
    text, feeds = CASES["states"]
    messages = []
    for threads in (1, 2, 8):
        with pytest.raises(whorl.RunError) as raised:
            results(model(text), threads, {**feeds, "n": np.array(count)})
        messages.append(str(raised.value))
    assert messages == [STEP_OUTSIDE] * 3


@pytest.mark.parametrize(("text", "count"), [("max 100000\n", 3), ("150000 100000\n", 2), ("50000 100000\n", 1)])
def test_cores_are_counted_by_the_mask_and_the_quota(
    text: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpu.max").write_text(text)
    monkeypatch.setattr(cores, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert available_cores.__wrapped__() == count


@SEVERAL
def test_pool_grows_and_never_shrinks() -> None:
    own = Pool()
    for threads, expected in ((2, 2), (4, 4), (3, 4)):
        own.grow(threads)
        assert own.threads == expected


def affinity_of(pool: Pool, handle: ctypes.c_void_p) -> set[int]:
    mask = ctypes.create_string_buffer(128)
    assert pool.library.pthread_getaffinity_np(handle, ctypes.c_size_t(len(mask)), mask) == 0
    number = int.from_bytes(mask.raw, "little")
    return {core for core in range(8 * len(mask)) if number >> core & 1}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say on which core a thread is")
def test_threads_of_the_pool_keep_off_the_core_of_the_caller() -> None:
    """So that a thread that is woken need not wait for the one that woke it."""
    pool, allowed = Pool(), os.sched_getaffinity(0)
    pool.grow(3)
    for core in sorted(allowed)[:2]:
        pool.avoid_core(core)
        expected = allowed - {core} or allowed
        assert [affinity_of(pool, handle) for handle in pool.handles] == [expected, expected]
    pool.grow(4)
    pool.avoid_core(max(allowed))
    assert affinity_of(pool, pool.handles[-1]) == (allowed - {max(allowed)} or allowed)
    assert os.sched_getaffinity(0) == allowed


def test_program_of_one_thread_never_asks_the_pool() -> None:
    context = RunContext()
    context.set_threads(1)
    assert context.block[callers.LEAST_WORK] == ALONE
    context.set_threads(2)
    assert context.block[callers.LEAST_WORK] == (cores.LEAST_WORK if cores.is_supported() else ALONE)


def test_negative_number_of_threads_is_refused() -> None:
    options = whorl.SessionOptions()
    options.intra_op_num_threads = -1
    with pytest.raises(whorl.RunError, match="intra_op_num_threads is -1"):
        whorl.InferenceSession(model(PRODUCT), options)
