"""Launches: inputs in any layout, memory of each run and thread."""

import threading

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import F32, SUM, session

import whorl
from whorl.runtime.compiled.launch import OWN_BYTES, BoundLaunch


def test_inputs_need_not_be_contiguous():
    x = np.arange(12, dtype=F32).reshape(3, 4)
    made = session(SUM)
    for y in (x[0], x[:, 1], x[::-1, 2], np.ones(3, F32)[:3]):
        (z,) = made.run(None, {"x": x[: len(y), 3] if len(y) == 3 else x[1], "y": y})
        e = x[: len(y), 3] if len(y) == 3 else x[1]
        np.testing.assert_array_equal(z, (e + y) * e)


def test_unaligned_input_is_read_right():
    bytes_ = np.zeros(17, np.uint8)
    x = bytes_[1:].view(F32)
    x[:] = [1, 2, 3, 4]
    assert not x.flags.aligned
    (z,) = session(SUM).run(None, {"x": x, "y": np.ones(4, F32)})
    assert z.tolist() == [2, 6, 12, 20]


def test_threads_have_their_own_memory():
    proto = model("main (float[64, 64] x) => (float[64, 64] y) { a = MatMul(x, x) b = Softmax(a) y = MatMul(b, a) }")
    made, results = session(proto), {}
    inputs = [np.random.default_rng(k).normal(size=(64, 64)).astype(F32) for k in range(4)]
    expected = [made.run(None, {"x": x})[0] for x in inputs]

    def work(k: int) -> None:
        results[k] = [made.run(None, {"x": inputs[k]})[0] for _ in range(50)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        assert all(np.array_equal(y, expected[k]) for y in results[k])


TOTALS = model("""main (float[n] x) => (int64[1, m] y, float[n] z) <int64 axis = {0}> {
    a = CumSum(x, axis)
    b = CumSum <reverse = 1> (a, axis)
    z = Sub(a, b)
    y = NonZero(x)
}""")


def test_shapes_that_came_twice_and_need_little_memory_have_their_own_and_others_share() -> None:
    made, launches = session(TOTALS), dict[int, BoundLaunch]()
    for n in (2, 3, OWN_BYTES, 2 * OWN_BYTES, 2, OWN_BYTES, 3, 4):
        x = np.zeros(n, F32)
        x[-2:] = 1, 2
        y, z = made.run(None, {"x": x})
        assert y.tolist() == [[n - 2, n - 1]]
        assert z.tolist() == [*[-4] * (n - 2), -3, 0]
        bound = made._fast_path.launches[((n,),)].launch if made._fast_path else None
        assert isinstance(bound, BoundLaunch)
        launches[n] = bound
    assert {n: len(bound.spare) for n, bound in launches.items()} == {2: 1, 3: 1, OWN_BYTES: 0, 2 * OWN_BYTES: 0, 4: 0}
    (shared,) = {bound.launch for bound in launches.values()}
    assert [memory.is_large for memory in shared.spare] == [True]


def test_results_of_earlier_runs_stay_what_they_were():
    made = session(SUM)
    first = made.run(None, {"x": np.ones(3, F32), "y": np.ones(3, F32)})[0]
    second = made.run(None, {"x": np.zeros(3, F32), "y": np.ones(3, F32)})[0]
    assert (first.tolist(), second.tolist()) == ([2, 2, 2], [0, 0, 0])


def test_memory_limit_has():
    made = session(SUM, max_memory=4096)
    assert made.run(None, {"x": np.ones(100, F32), "y": np.ones(100, F32)})[0].shape == (100,)
    with pytest.raises(whorl.MemoryLimitError):
        made.run(None, {"x": np.ones(2000, F32), "y": np.ones(2000, F32)})


def test_short_run_is_not_polled():
    made = session(SUM)
    for length in (3, 1 << 20):
        made.run(None, {"x": np.ones(length, F32), "y": np.ones(length, F32)})
    assert made._fast_path is not None
    assert [entry.launch.needs_help for entry in made._fast_path.launches.values()] == [False, True]
