"""Direct calls: runs of one shape that came often are machine code from the feeds to the list of outputs."""

from __future__ import annotations

import contextlib
import gc
import json
import signal
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import DOUBLED, F32, SUM, session

import whorl
from whorl.codegen import direct_call as code
from whorl.runtime.buffer_pool import LARGE
from whorl.runtime.compiled import call_results, cores, direct_call, launch
from whorl.runtime.compiled.fast_path import MOST_CALLS, FastPath

RUNS = 4
ONE_THREAD: dict[str, Any] = {"intra_op_num_threads": 1}
FEEDS = {"x": np.arange(3, dtype=F32), "y": np.ones(3, F32)}


@pytest.fixture(autouse=True)
def known_objects() -> None:
    if code.interface() is None:
        pytest.skip(
            "direct calls read the objects of CPython and NumPy in memory, and do not know those of these versions"
        )


def floats(values: list[float]) -> np.ndarray:
    return np.array(values, F32)


def often(made: whorl.InferenceSession, feeds: dict[str, Any]) -> list[Any]:
    """What the last of some runs gives; the runs are direct calls at the end."""
    for _ in range(RUNS):
        results = made.run(None, feeds)
    assert calls(made) is not None
    return results


def calls(made: whorl.InferenceSession) -> Any:
    path = made._fast_path
    return path.calls[0] if path is not None and path.calls else None


def forbid_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FastPath, "run", lambda *_: pytest.fail("the long way was taken"))


def test_call_gives_new_arrays_and_runs_no_python(monkeypatch) -> None:
    made = session(SUM)
    often(made, FEEDS)
    forbid_the_long_way(monkeypatch)
    (first,), (second,) = (made.run(None, {"x": floats([1, 2, n]), "y": floats([1, 1, 1])}) for n in (3, 4))
    assert (first.tolist(), second.tolist()) == ([2, 6, 12], [2, 6, 20])
    assert first.flags.owndata
    assert made.run(["z"], FEEDS)[0].tolist() == [0, 2, 6]


def test_other_feeds_go_the_long_way_and_leave_the_call() -> None:
    made = session(SUM)
    often(made, FEEDS)
    others = [
        {"x": floats([1, 2]), "y": floats([3, 4])},
        {"x": [0, 1, 2], "y": floats([1, 1, 1])},
        {"x": np.arange(6, dtype=F32)[::2], "y": floats([1, 1, 1])},
        {"x": np.arange(3, dtype=F32).view(type("Own", (np.ndarray,), {})), "y": floats([1, 1, 1])},
    ]
    results = [made.run(None, feeds)[0].tolist() for feeds in others]
    assert results == [[4, 12], [0, 2, 6], [0, 6, 20], [0, 2, 6]]
    for feeds, message in [
        ({"x": FEEDS["x"]}, "missing inputs: 'y'"),
        (FEEDS | {"y": np.ones(3)}, "input 'y' is float64"),
        (FEEDS | {"w": np.ones(3, F32)}, "has no input 'w'"),
        ({"x": FEEDS["x"], 1: FEEDS["y"]}, "has no input 1"),
        (FEEDS | {"y": np.ones(4, F32)}, "4"),
    ]:
        with pytest.raises(whorl.RunError, match=message):
            made.run(None, feeds)
    assert calls(made)(FEEDS)[0].tolist() == [0, 2, 6]


def sums(length: int) -> dict[str, Any]:
    return {"x": np.arange(length, dtype=F32), "y": np.ones(length, F32)}


def test_shapes_that_come_in_turns_have_a_call_each(monkeypatch) -> None:
    made, lengths = session(SUM), range(3, 3 + MOST_CALLS)
    for _ in range(RUNS):
        for length in lengths:
            made.run(None, sums(length))
    forbid_the_long_way(monkeypatch)
    for length in lengths:
        assert made.run(None, sums(length))[0].tolist() == [n * (n + 1) for n in range(length)]


def test_shape_that_comes_often_later_takes_the_oldest_call_over() -> None:
    made, lengths = session(SUM), range(3, 4 + MOST_CALLS)
    for length in [*lengths, lengths[0]]:
        often(made, sums(length))
        assert calls(made)(sums(length))[0].tolist() == [n * (n + 1) for n in range(length)]
        assert calls(made)(sums(length + 1)) is None
    assert made._fast_path is not None and len(made._fast_path.calls) == MOST_CALLS


KINDS = model("""main (double[n] a, int8[n] b, bool c, uint64[n, 0] d, float16[n] h)
    => (float16[n] h2, double[n] r, int8[n] s, bool t, uint64[n, 0] e, int64[2] sizes) {
    r = Add(a, a) s = Neg(b) t = Not(c) e = Mul(d, d) h2 = Add(h, h) sizes = Shape(d)
}""")


def test_outputs_of_all_types_ranks_and_orders() -> None:
    feeds = {
        "a": np.array([1.5, -2]),
        "b": np.array([1, -128], np.int8),
        "c": np.array(False),
        "d": np.zeros((2, 0), np.uint64),
        "h": np.array([0.5, 2], np.float16),
    }
    made = session(KINDS)
    expected, results = session(KINDS, "interpreter").run(None, feeds), often(made, feeds)
    for own, other in zip(results, expected, strict=True):
        np.testing.assert_array_equal(own, other)
        assert (own.dtype, own.shape) == (other.dtype, other.shape)
    assert calls(made)(feeds) is not None


def test_feed_that_no_node_reads_and_output_that_is_a_feed(monkeypatch) -> None:
    made = session(model("main (float[n] u, float[n] x) => (float[n] v, float[n] y) { v = Identity(x) y = Neg(x) }"))
    feeds = {"u": floats([7, 7]), "x": floats([1, 2])}
    often(made, feeds)
    forbid_the_long_way(monkeypatch)
    same, negative = made.run(None, feeds)
    assert (same.tolist(), negative.tolist()) == ([1, 2], [-1, -2])
    assert not np.shares_memory(same, feeds["x"])


COUNTED = model("""main (int64 n, float[3] x) => (float[3] y, float[t, 3] ys) {
    y, ys = Loop (n, "", x) <body = b (int64 i, bool go, float[3] h) => (bool on, float[3] next, float[3] row) {
        on = Identity(go)
        next = Add(h, h)
        row = Identity(next)
    }>
}""")


def test_number_that_outputs_have_their_lengths_from_is_compared() -> None:
    made, x = session(COUNTED), np.ones(3, F32)
    often(made, {"n": np.array(2), "x": x})
    for n in (2, 5, 0, 2, 3, 3, 3, 2):
        y, rows = made.run(None, {"n": np.array(n), "x": x})
        assert (y.tolist(), rows.tolist()) == ([2**n] * 3, [[2 ** (k + 1)] * 3 for k in range(n)])


REPEATED = model("""main (float[n] x, int64[1] r, int64 i) => (float last, float[m] y, float[n] z, float[k] w) {
    y = Tile(x, r)
    zero = Constant<value = float {0.0}> ()
    flags = Greater(y, zero)
    w = Compress(y, flags)
    z = Neg(x)
    last = Gather(x, i)
}""")


def repeated(count: int, *values: float, at: int = 0) -> dict[str, np.ndarray]:
    return {"x": floats([*values]), "r": np.array([count]), "i": np.array(at)}


def test_outputs_whose_lengths_the_run_tells() -> None:
    made = session(REPEATED)
    often(made, repeated(2, 1, -2))
    for count in (3, 0, 1, 100, LARGE, 2):
        last, y, z, w = calls(made)(repeated(count, 3, -4, at=1)) or []
        assert (last.tolist(), z.tolist()) == (-4, [-3, 4])
        np.testing.assert_array_equal(y, floats([3, -4] * count))
        np.testing.assert_array_equal(w, floats([3] * count))


def test_much_memory_goes_back_after_the_run(monkeypatch) -> None:
    monkeypatch.setattr(call_results, "SPARE_BYTES", 1 << 20)
    monkeypatch.setattr(launch, "SPARE_BYTES", 1 << 20)
    made = session(REPEATED)
    often(made, repeated(2, 1, -2))
    memory = next(each for each in calls(made).__self__.alive.objects if isinstance(each, launch.RunMemory))
    calls(made)(repeated(1 << 10, 3, -4))
    assert 0 < memory.buffers.size < 1 << 20
    _, y, _, _ = calls(made)(repeated(1 << 19, 3, -4)) or []
    np.testing.assert_array_equal(y, floats([3, -4] * (1 << 19)))
    assert memory.buffers.size == 0


def test_failure_gives_the_memory_of_outputs_back() -> None:
    made = session(REPEATED)
    often(made, repeated(2, 1, -2))
    memory = next(each for each in calls(made).__self__.alive.objects if isinstance(each, launch.RunMemory))
    assert memory.buffers.size
    assert calls(made)(repeated(2, 3, -4, at=2)) is None
    assert memory.buffers.size == 0
    with pytest.raises(whorl.RunError, match="Gather"):
        made.run(None, repeated(2, 3, -4, at=2))
    assert made.run(["y"], repeated(2, 3, -4))[0].tolist() == [3, -4, 3, -4]


def test_no_memory_for_outputs_goes_the_long_way(monkeypatch) -> None:
    made = session(REPEATED)
    often(made, repeated(2, 1, -2))
    memory = next(each for each in calls(made).__self__.alive.objects if isinstance(each, launch.RunMemory))

    def fail() -> None:
        raise MemoryError

    monkeypatch.setattr(memory, "take_outputs", fail)
    assert calls(made)(repeated(LARGE, 3, -4)) is None
    np.testing.assert_array_equal(made.run(["y"], repeated(LARGE, 3, -4))[0], floats([3, -4] * LARGE))


SUMS = model("""main (float[m, n] x, int64[1] r) => (float[m, n] y) {
    y = Loop (r, "", x) <body = b (int64 i, bool go, float[m, n] h) => (bool on, float[m, n] next) {
        on = Identity(go)
        s = Sin(h)
        next = Mul(s, s)
    }>
}""")


@pytest.mark.skipif(cores.cores_of(0) < 2, reason="there is one core")
def test_work_for_several_cores_ends_calls() -> None:
    made = session(SUMS)
    x = np.ones((100, 100), F32)
    feeds = [{"x": x, "r": np.array([n])} for n in (0, 1000)]
    often(made, feeds[0])
    call = calls(made)
    (once,) = call(feeds[1])
    assert call(feeds[1]) is None
    np.testing.assert_array_equal(made.run(None, feeds[1])[0], once)


SQUARES = model("""main (seq(float[K, K]) s) => (seq(float[K, K]) r) {
    r = SequenceMap (s) <body = b (float[K, K] v) => (float[K, K] w) { w = MatMul(v, v) }>
}""")


@pytest.mark.skipif(cores.cores_of(0) < 2, reason="there is one core")
def test_lists_with_work_for_several_cores_go_the_long_way_and_smaller_ones_do_not() -> None:
    made = session(SQUARES)
    small, large = ({"s": [np.ones((n, n), F32) for n in sizes]} for sizes in ((2, 3), (300, 301)))
    often(made, small)
    for _ in range(3):
        (r,) = made.run(None, large)
        assert [x[0, 0] for x in r] == [300, 301]
    assert calls(made)(large) is None
    assert [x[0, 0] for x in calls(made)(small)[0]] == [2, 3]


def test_large_outputs_lie_in_memory_used_before() -> None:
    count = LARGE // 4
    made, feeds = session(SUM, **ONE_THREAD), {"x": np.arange(count, dtype=F32), "y": np.ones(count, F32)}
    (z,) = often(made, feeds)
    address = z.ctypes.data
    del z
    (z,) = calls(made)(feeds)
    assert z.ctypes.data == address
    np.testing.assert_array_equal(z, (feeds["x"] + 1) * feeds["x"])


def test_feeds_and_outputs_are_referred_to_no_longer_than_needed() -> None:
    made, feeds = session(SUM), {"x": np.arange(3, dtype=F32), "y": np.ones(3, F32)}
    often(made, feeds)
    before = [sys.getrefcount(x) for x in (feeds["x"], feeds["x"].dtype, None, np.ndarray)]
    for _ in range(1000):
        (z,) = made.run(None, feeds)
    for _ in range(1000):
        assert calls(made)({"x": feeds["x"]}) is None
    assert sys.getrefcount(z) == 2
    assert [abs(n - m) < 100 for n, m in zip(
        before, [sys.getrefcount(x) for x in (feeds["x"], feeds["x"].dtype, None, np.ndarray)], strict=True
    )] == [True] * 4  # fmt: skip


def test_session_and_its_memory_go_together() -> None:
    made = session(SUM)
    often(made, FEEDS)
    path = made._fast_path
    assert path is not None
    call, launches = path.calls[0], [weakref.ref(entry.launch) for entry in path.launches.values()]
    del made, path
    gc.collect()
    assert call is not None
    assert call(FEEDS) is not None
    del call
    gc.collect()
    assert [launch() for launch in launches] == [None]


GATHERED = model("main (float[n] x, int64 i) => (float y) { y = Gather(x, i) }")


MAPPED = model("""main (seq(float[K]) s, float[n] x) => (seq(float[K]) r, float[n] y) {
    r = SequenceMap (s) <body = b (float[K] v) => (float[K] w) { w = Add(v, v) }>
    y = Neg(x)
}""")


def mapped(*lengths: int) -> dict[str, Any]:
    return {"s": [np.arange(n, dtype=F32) for n in lengths], "x": floats([3])}


def doubled(feeds: dict[str, Any]) -> list[Any]:
    return [[(2 * x).tolist() for x in feeds["s"]], (-feeds["x"]).tolist()]


def plain(results: list[Any]) -> list[Any]:
    return [[x.tolist() for x in each] if isinstance(each, list) else each.tolist() for each in results]


def test_lists_of_any_sizes_are_fed_to_one_call(monkeypatch) -> None:
    made = session(MAPPED)
    often(made, mapped(1, 2))
    call = calls(made)
    for lengths in ((5, 3), (2, 2), (0, 0, 4), [*range(200)], [1] * 7, (30000, 1)):
        feeds = mapped(*lengths)
        for _ in range(3):
            assert plain(made.run(None, feeds)) == doubled(feeds)
        assert calls(made) is call
        with monkeypatch.context() as patch:
            patch.setattr(FastPath, "run", lambda *_: pytest.fail("the long way was taken"))
            assert plain(made.run(None, feeds)) == doubled(feeds)


def test_lists_that_have_other_programs_go_the_long_way() -> None:
    made = session(MAPPED)
    often(made, mapped(1, 2))
    for lengths in ((), (7,), (0, 1), (0, 0), [3] * 9, (3000, 3000)):
        feeds = mapped(*lengths)
        assert calls(made)(feeds) is None
        assert plain(made.run(None, feeds)) == doubled(feeds)


@pytest.mark.parametrize("element", ["float[K]", "float[]", "float[2, L]", "string[K]"])
def test_empty_lists_are_fed_to_a_call_of_their_own(element: str, monkeypatch) -> None:
    made = session(
        model(f"""main (seq({element}) s, seq({element}) t) => (seq({element}) r, seq({element}) q, int64 n) {{
            r = SequenceMap(s) <body = b ({element} v) => ({element} w) {{ w = Concat<axis = 0>(v, v) }}>
            q = SequenceMap(t) <body = c ({element} x) => ({element} y) {{ y = Identity(x) }}>
            n = SequenceLength(t)
        }}""")
    )
    x = np.full(
        (2, 3) if "," in element else 4, "a" if "string" in element else 1, object if "string" in element else F32
    )
    feeds = [{"s": s, "t": t} for s in ([], [x, x]) for t in ([], [x, x])]
    for _ in range(RUNS):
        for each in feeds:
            made.run(None, each)
    assert len(made._fast_path.calls) == len(feeds)
    forbid_the_long_way(monkeypatch)
    for each in (*feeds, feeds[0]):
        r, q, n = made.run(None, each)
        assert plain([r, q]) == [[np.concatenate([x, x]).tolist()] * len(each["s"]), [x.tolist()] * len(each["t"])]
        assert type(r) is list and n == len(each["t"])


def test_empty_lists_are_referred_to_no_longer_than_needed() -> None:
    made, feeds = session(MAPPED), mapped()
    first = often(made, feeds)
    objects = [feeds["s"], feeds["x"], feeds["x"].dtype, list, None]
    before = [sys.getrefcount(x) for x in objects]
    for _ in range(1000):
        (r, _) = made.run(None, feeds)
        assert r == [] and r is not first[0] and r is not feeds["s"]
        assert calls(made)({"s": [], "x": [1.0]}) is None
        assert calls(made)(mapped(1)) is None
    assert all(abs(n - m) < 100 for n, m in zip(before, [sys.getrefcount(x) for x in objects], strict=True))


def test_rows_are_fed_to_a_call_of_their_shape() -> None:
    made = session(MAPPED)
    feeds = mapped(*[3] * 9)
    often(made, feeds)
    call = calls(made)
    for lengths in ([3] * 8, [3] * 10, [4] * 9, [3] * 8 + [4], (3, 3)):
        assert call(mapped(*lengths)) is None
    assert plain(call(feeds)) == doubled(feeds)


def outcome(made: whorl.InferenceSession, feeds: dict[str, Any]) -> Any:
    """The results as lists, or the text of the error."""
    try:
        return plain(made.run(None, feeds))
    except whorl.RunError as error:
        return str(error)


def test_other_lists_have_the_results_and_errors_of_a_first_run() -> None:
    made, x, y = session(MAPPED), floats([1, 2]), floats([3])
    often(made, {"s": [x, y], "x": y})
    errors = 0
    own = type("Own", (list,), {})([x, y])
    strided = [np.arange(6, dtype=F32)[::2], y]
    wrong = [None, [x, None], [x, x.astype(np.float64)], [x, x.reshape(1, 2)], x, [x, "text"], {0: x}, 5]
    for s in ((x, y), own, strided, [x, x.astype(">f4")], [[1.0, 2.0], y], *wrong):
        feeds = {"s": s, "x": y}
        assert calls(made)(feeds) is None
        expected = outcome(session(MAPPED, "interpreter"), feeds)
        assert outcome(made, feeds) == expected
        errors += isinstance(expected, str)
    assert errors == len(wrong)
    assert plain(calls(made)({"s": [x, y], "x": y})) == doubled({"s": [x, y], "x": y})


def test_lists_that_are_too_large_are_no_calls(monkeypatch) -> None:
    monkeypatch.setattr(direct_call, "MOST_FED", 1 << 10)
    made = session(MAPPED)
    for lengths in ((1, 300), [1] * 80 + [2], [32] * 9):
        feeds = mapped(*lengths)
        for _ in range(RUNS):
            assert plain(made.run(None, feeds)) == doubled(feeds)
        assert calls(made) is None
        made = session(MAPPED)
    often(made, mapped(1, 2))
    for _ in range(3):
        assert calls(made)(mapped(1, 1000)) is None


def test_lists_and_their_arrays_are_referred_to_no_longer_than_needed() -> None:
    made, feeds = session(MAPPED), mapped(1, 2)
    often(made, feeds)
    objects = [feeds["s"], feeds["s"][0], feeds["s"][0].dtype, np.ndarray, list, None]
    before = [sys.getrefcount(x) for x in objects]
    for n in range(1000):
        made.run(None, feeds)
        assert calls(made)({"s": feeds["s"]}) is None
        assert calls(made)({"s": [feeds["s"][0]] * 2, "x": [n]}) is None
    assert all(abs(n - m) < 100 for n, m in zip(before, [sys.getrefcount(x) for x in objects], strict=True))


PICKED = model("main (seq(float[K]) s, int64 i) => (float[K] y) { x = SequenceAt(s, i) y = Neg(x) }")


def test_failure_over_lists_names_its_node_and_leaves_the_call() -> None:
    made, s = session(PICKED), [floats([1, 2]), floats([3])]
    often(made, {"s": s, "i": np.array(1)})
    assert calls(made)({"s": s, "i": np.array(2)}) is None
    with pytest.raises(whorl.RunError, match="SequenceAt"):
        made.run(None, {"s": s, "i": np.array(2)})
    assert calls(made)({"s": s, "i": np.array(-2)})[0].tolist() == [-1, -2]


def test_threads_share_a_session_over_lists() -> None:
    made = session(MAPPED, **ONE_THREAD)
    often(made, mapped(1, 2))

    def run(start: int) -> bool:
        feeds = [mapped(start, k, 1 + k * (k % 3) * 100) for k in range(20)]
        return all(plain(made.run(None, each)) == doubled(each) for each in feeds for _ in range(5))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(16)))


def test_failure_after_many_runs_names_its_node() -> None:
    made, x = session(GATHERED), floats([1, 2, 3])
    assert often(made, {"x": x, "i": np.array(2)})[0] == 3
    with pytest.raises(whorl.RunError, match=r"index 3 .*Gather|Gather.* 3"):
        made.run(None, {"x": x, "i": np.array(3)})
    assert made.run(None, {"x": x, "i": np.array(-1)})[0] == 3


def test_threads_share_a_session() -> None:
    made = session(DOUBLED, **ONE_THREAD)
    often(made, {"n": np.array(3), "x": np.ones(3, F32)})

    def run(start: int) -> bool:
        x = np.arange(start, start + 3, dtype=F32)
        return all(
            made.run(None, {"n": np.array(n), "x": x})[0].tolist() == (x * 2**n).tolist() for n in [*range(40)] * 20
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(16)))


def test_threads_that_make_the_first_calls_at_once() -> None:
    sessions = [session(SUM) for _ in range(4)]
    sessions[0].run(None, FEEDS)
    code._definition.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        assert [z.tolist() for (z,) in pool.map(often, sessions, [FEEDS] * 4)] == [[0, 2, 6]] * 4
    code._definition.cache_clear()
    gc.collect()
    assert [made.run(None, FEEDS)[0].tolist() for made in sessions] == [[0, 2, 6]] * 4


ENDLESS = model("""main (bool go, float[2] x) => (float[2] y) {
    y = Loop ("", go, x) <body = b (int64 i, bool on, float[2] h) => (bool again, float[2] next) {
        again = Identity(on)
        next = Neg(h)
    }>
}""")
STILL = {"go": np.array(False), "x": np.ones(2, F32)}


def endless() -> whorl.InferenceSession:
    """A session that runs for ever where `go` is true, by a direct call."""
    made = session(ENDLESS, **ONE_THREAD)
    often(made, STILL)
    return made


def test_cancelling_ends_a_call_and_not_the_runs_after_it() -> None:
    made = endless()
    timer = threading.Timer(0.1, made.cancel)
    timer.start()
    with pytest.raises(whorl.CancelledError):
        made.run(None, STILL | {"go": np.array(True)})
    assert often(made, STILL)[0].tolist() == [1, 1]


def test_cancelling_while_a_call_is_made_leaves_no_call_that_is_cancelled(monkeypatch) -> None:
    made, make = session(ENDLESS, **ONE_THREAD), direct_call.direct_call

    def make_late(*arguments: Any) -> Any:
        call = make(*arguments)
        made.cancel()
        return call

    monkeypatch.setattr(direct_call, "direct_call", make_late)
    for _ in range(RUNS):
        assert made.run(None, STILL)[0].tolist() == [1, 1]
        assert calls(made) is None


def test_limits_of_a_run_go_the_long_way() -> None:
    made, options = endless(), whorl.RunOptions()
    options.timeout = 0.05
    with pytest.raises(whorl.TimeLimitError):
        made.run(None, STILL | {"go": np.array(True)}, options)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers that raise signals")
def test_signal_handler_raises_through_a_call() -> None:
    class Late(Exception):
        pass

    def handler(*_: object) -> None:
        raise Late

    made, before = endless(), signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Late):
            made.run(None, STILL | {"go": np.array(True)})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert made.run(None, STILL)[0].tolist() == [1, 1]


def test_other_threads_run_during_a_call() -> None:
    made, counted, is_over = endless(), [], threading.Event()

    def count() -> None:
        while not is_over.wait(0.001):
            counted.append(1)

    thread = threading.Thread(target=count)
    thread.start()
    timer = threading.Timer(0.2, made.cancel)
    timer.start()
    with contextlib.suppress(whorl.CancelledError):
        made.run(None, STILL | {"go": np.array(True)})
    is_over.set()
    thread.join()
    assert len(counted) > 3


def test_keys_that_raise_are_the_callers_error() -> None:
    class Key(str):
        def __eq__(self, other: object) -> bool:
            raise ZeroDivisionError

        __hash__ = str.__hash__

    made = session(SUM)
    often(made, FEEDS)
    with pytest.raises(ZeroDivisionError):
        made.run(None, {Key("x"): FEEDS["x"], "y": FEEDS["y"]})
    assert made.run(None, FEEDS)[0].tolist() == [0, 2, 6]


def test_profile_records_every_run(tmp_path) -> None:
    made = session(DOUBLED, enable_profiling=True, profile_file_prefix=str(tmp_path / "runs"))
    feeds = {"n": np.array(2), "x": np.ones(3, F32)}
    for _ in range(RUNS):
        made.run(None, feeds)
    assert calls(made) is None
    events = json.loads(Path(made.end_profiling()).read_text())
    assert sum(event["name"] == "slice" for event in events) >= RUNS
