"""Limits stop a run with an error of their own; the session goes on, and earlier results stay what they were."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from onnx_text import FOREVER, ROLLOUT, model

import whorl

F32 = np.float32
pytestmark = pytest.mark.usefixtures("each_backend")
KIB = 1 << 10


def session(proto, **options):
    """A session; one that tells its progress does so after every iteration only as an interpreter."""
    chosen = whorl.SessionOptions()
    chosen.backend = "interpreter" if "progress" in options else None
    for name, value in options.items():
        setattr(chosen, name, value)
    return whorl.InferenceSession(proto, chosen)


def run_options(**options):
    chosen = whorl.RunOptions()
    for name, value in options.items():
        setattr(chosen, name, value)
    return chosen


def rollout(count):
    return {"count": np.array(count), "table": np.arange(12, dtype=F32)}


START = {"start": np.array(1, F32)}
ENDLESS = [
    (
        {"max_iterations": 3},
        whorl.IterationLimitError,
        "Loop 'forever' (iteration 3): the loop wants more than 3 iterations",
    ),
    ({"timeout": 0.05}, whorl.TimeLimitError, "the run took longer than 0.05 s"),
]


@pytest.mark.parametrize(("limit", "error", "text"), ENDLESS)
@pytest.mark.parametrize("where", ["session", "run"])
def test_endless_loop_is_stopped(limit, error, text, where):
    own, of_run = (limit, {}) if where == "session" else ({}, limit)
    with pytest.raises(error, match="Loop 'forever'") as caught:
        session(FOREVER, **own).run(None, START, run_options(**of_run))
    assert text in str(caught.value)
    assert str(caught.value).endswith(f"\n  fix: raise {next(iter(limit))}")


def test_iteration_limit_counts_one_execution_of_one_loop():
    limited = session(ROLLOUT, max_iterations=5)
    assert limited.run(None, rollout(5))[0] == 10
    with pytest.raises(whorl.IterationLimitError):
        limited.run(None, rollout(6))


def test_stopped_session_runs_again_and_earlier_results_stay():
    limited = session(ROLLOUT, max_iterations=5)
    (before,) = limited.run(None, rollout(4))
    for _ in range(3):
        with pytest.raises(whorl.IterationLimitError):
            limited.run(None, rollout(9))
    assert before == 6
    assert limited.run(None, rollout(4))[0] == 6


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("max_iterations", -1, "a whole number that is not negative, or None"),
        ("max_iterations", 2.5, "a whole number that is not negative, or None"),
        ("timeout", float("nan"), "a number of seconds that is not negative, or None"),
        ("timeout", "1", "a number of seconds that is not negative, or None"),
        ("max_memory", True, "a whole number of bytes that is not negative, or None"),
        ("progress", 5, "a function of (loop, done, total), or None"),
    ],
)
def test_limit_of_the_wrong_kind_is_refused(name, value, expected):
    with pytest.raises(whorl.RunError) as caught:
        session(ROLLOUT, **{name: value})
    assert str(caught.value) == f"{name} is {value!r}, expected {expected}"


# ---- cancelling --------------------------------------------------------------------------------------------------


class Endless:
    """A session that never ends by itself, and runs of it in threads that are known to be under way."""

    def __init__(self):
        self.running = set()
        self.session = session(FOREVER, timeout=60.0, progress=lambda *_: self.running.add(threading.get_ident()))

    def start(self, options=None):
        """A run in a thread; returns the thread and where its exception will be."""
        caught = []

        def target():
            try:
                self.session.run(None, START, options)
            except whorl.RunError as error:
                caught.append(error)

        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        while thread.ident not in self.running:
            time.sleep(0.001)
        return thread, caught


def error_of(run):
    """What ended a run, or will."""
    thread, caught = run
    thread.join(30)
    (error,) = caught
    return error


def test_cancel_from_another_thread_stops_every_run_under_way_and_no_later_one():
    endless = Endless()
    runs = [endless.start() for _ in range(3)]
    endless.session.cancel()
    for error in map(error_of, runs):
        assert type(error) is whorl.CancelledError
        assert "Loop 'forever' (iteration " in str(error) and "the run was cancelled" in str(error)
    with pytest.raises(whorl.TimeLimitError):
        endless.session.run(None, START, run_options(timeout=0.05))


def test_terminate_stops_the_runs_with_these_options_only():
    endless, mine = Endless(), run_options()
    stopped, other = endless.start(mine), endless.start(run_options())
    mine.terminate = True
    assert type(error_of(stopped)) is whorl.CancelledError
    assert other[0].is_alive() and not other[1]
    endless.session.cancel()
    assert type(error_of(other)) is whorl.CancelledError
    mine.terminate = False
    assert session(ROLLOUT).run(None, rollout(4), mine)[0] == 6


def test_leaving_the_context_cancels_what_still_runs():
    endless = Endless()
    with endless.session:
        run = endless.start()
    assert type(error_of(run)) is whorl.CancelledError


# ---- memory ------------------------------------------------------------------------------------------------------

HUGE = 1 << 40
ALLOCATIONS = {
    "ConstantOfShape": "y = ConstantOfShape(sizes)",
    "Expand": "z = Constant<value = float[1] {1}> () y = Expand(z, sizes)",
    "Tile": "z = Constant<value = float[1] {1}> () y = Tile(z, sizes)",
    "Range": "a = Constant<value = int64 {0}> () d = Constant<value = int64 {1}> () n = Squeeze(sizes) "
    "y = Range(a, n, d)",
    "Pad": "z = Constant<value = float[1] {1}> () k = Constant<value = int64[1] {0}> () p = Concat<axis = 0>(k, sizes) "
    "y = Pad(z, p)",
    "OneHot": "i = Constant<value = int64[1] {0}> () v = Constant<value = float[2] {0, 1}> () y = OneHot(i, sizes, v)",
    "RandomUniform": "y = RandomUniform<shape = [1099511627776]> ()",
    "SequenceAt": "z = ConstantOfShape(sizes) s = SequenceConstruct(z) k = Constant<value = int64 {0}> () "
    "y = SequenceAt(s, k)",
}


@pytest.mark.parametrize("op", ALLOCATIONS)
def test_huge_result_is_refused_before_it_is_allocated(op):
    kind = "int64" if op == "Range" else "float"
    proto = model(f"main (int64[1] sizes) => ({kind} y) {{ {ALLOCATIONS[op]} }}")
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    limited = session(proto, max_memory=64 << 20)
    with pytest.raises(whorl.MemoryLimitError, match=r"^\w+ '\w+': holding \d{13,} bytes passes the limit of 67108864"):
        limited.run(None, {"sizes": np.array([HUGE])})
    if op != "RandomUniform":
        limited.run(None, {"sizes": np.array([3])})


def test_memory_that_no_limit_forbids_but_no_one_has_is_an_error_too():
    proto = model("main (int64[1] sizes) => (float[n] y) { y = ConstantOfShape(sizes) }")
    with pytest.raises(whorl.MemoryLimitError, match="output 'y': no memory"):
        session(proto).run(None, {"sizes": np.array([1 << 60])})


CHAIN = model("""
    main (float[n] x, int64 count) => (float[n] y) {
        [chain] y = Loop (count, "", x) <body = step (int64 i, bool on, float[n] a) => (bool on_out, float[n] b) {
            on_out = Identity(on)
            t = Neg(a)
            u = Exp(t)
            v = Transpose(u)
            b = Reshape(v, shape)
        }>
        shape = Constant<value = int64[1] {-1}> ()
    }""")


def test_memory_is_passed_back_at_the_last_use():
    """Two live arrays at a time (and one on its way) take 3 KiB, however long the loop is."""
    x = np.zeros(256, F32)
    session(CHAIN, max_memory=4 * KIB).run(None, {"x": x, "count": np.array(500)})
    with pytest.raises(whorl.MemoryLimitError):
        session(CHAIN, max_memory=KIB - 1).run(None, {"x": x, "count": np.array(500)})


def test_feeds_and_constants_do_not_count_but_what_is_handed_out_does():
    proto = model("""
        main (float[n] x) => (float[k] first, float[n] same) {
            many = Constant<value = float[3] {1, 2, 3}> ()
            none = Constant<value = int64[1] {0}> ()
            one = Constant<value = int64[1] {1}> ()
            first = Slice(x, none, one)
            same = Identity(x)
        }""")
    limited, x = session(proto, max_memory=8), np.zeros(1000, F32)
    assert limited.run(["first"], {"x": x})[0].shape == (1,)
    with pytest.raises(whorl.MemoryLimitError) as caught:
        limited.run(["same"], {"x": x})
    text = "output 'same': holding 4000 bytes passes the limit of 8\n  fix: raise max_memory"
    assert str(caught.value) == text


COLLECT = model("""
    main (float[n] x, int64 count) => (float[count, n] rows) {
        [collect] rows = Loop (count, "") <body = step (int64 i, bool on) => (bool on_out, float[n] row) {
            on_out = Identity(on)
            row = Identity(x)
        }>
    }""")


def test_collected_values_count_although_the_elements_are_one_array():
    x = np.zeros(256, F32)
    session(COLLECT, max_memory=11 * KIB).run(None, {"x": x, "count": np.array(10)})
    with pytest.raises(
        whorl.MemoryLimitError, match=r"^Loop 'collect' \(iteration 11\): holding 11264 bytes passes the limit of 10240"
    ):
        session(COLLECT, max_memory=10 * KIB).run(None, {"x": x, "count": np.array(11)})


def test_strings_count_by_their_lengths():
    proto = model("""
        main (string[1] text, int64 count) => (string[1] all) {
            [double] all = Loop (count, "", text) <body = step (int64 i, bool on, string[1] a)
                => (bool on_out, string[1] b) {
                on_out = Identity(on)
                b = StringConcat(a, a)
            }>
        }""")
    with pytest.raises(whorl.MemoryLimitError, match=r"StringConcat 'b' in body of Loop 'double' \(iteration 1\d\)"):
        session(proto, max_memory=64 * KIB).run(None, {"text": np.array(["ab"]), "count": np.array(100)})


def test_items_of_a_sequence_count_once():
    proto = model("""
        main (float[n] x, int64 count) => (seq(float[n]) all) {
            none = SequenceEmpty()
            [fill] all = Loop (count, "", none) <body = step (int64 i, bool on, seq(float[n]) a)
                => (bool on_out, seq(float[n]) b) {
                on_out = Identity(on)
                row = Neg(x)
                b = SequenceInsert(a, row)
            }>
        }""")
    x = np.zeros(256, F32)
    (all,) = session(proto, max_memory=21 * KIB).run(None, {"x": x, "count": np.array(20)})
    assert len(all) == 20
    with pytest.raises(whorl.MemoryLimitError, match=r"body of Loop 'fill' \(iteration 20\)"):
        session(proto, max_memory=20 * KIB).run(None, {"x": x, "count": np.array(50)})


# ---- progress ----------------------------------------------------------------------------------------------------


def test_progress_tells_of_every_iteration_with_the_total_where_it_is_known():
    report = []
    session(ROLLOUT, progress=lambda *what: report.append(what)).run(None, rollout(3))
    assert report == [("Loop 'rollout'", 1, 3), ("Loop 'rollout'", 2, 3), ("Loop 'rollout'", 3, 3)]


def test_progress_of_a_loop_without_a_bound_has_no_total():
    report = []
    with pytest.raises(whorl.IterationLimitError):
        session(FOREVER, max_iterations=2, progress=lambda *what: report.append(what)).run(None, START)
    assert report == [("Loop 'forever'", 1, None), ("Loop 'forever'", 2, None)]


def test_exception_of_the_callback_ends_the_run_and_arrives_unchanged():
    class Enough(Exception):
        pass

    def stop_at_two(loop, done, total):
        if done == 2:
            raise Enough

    watched = session(ROLLOUT, progress=stop_at_two)
    with pytest.raises(Enough):
        watched.run(None, rollout(5))
    assert watched.run(None, rollout(1))[0] == 0


def test_progress_tells_of_outermost_loops_only():
    nest = model("""
        main (int64 count) => (float total) {
            zero = Constant<value = float {0}> ()
            [outer] total = Loop (count, "", zero) <body = step (int64 i, bool on, float s) => (bool on_out, float t) {
                on_out = Identity(on)
                [inner] t = Loop (count, "", s) <body = add (int64 j, bool go, float a) => (bool go_out, float b) {
                    go_out = Identity(go)
                    one = Constant<value = float {1}> ()
                    b = Add(a, one)
                }>
            }>
        }""")
    report = []
    (total,) = session(nest, progress=lambda loop, done, of: report.append((loop, done))).run(
        None, {"count": np.array(3)}
    )
    assert total == 9
    assert report == [("Loop 'outer'", k) for k in (1, 2, 3)]


def test_time_limit_ends_a_product_of_which_each_core_takes_rows():
    product = session(model("main (int64[n, k] a, int64[k, m] b) => (int64[n, m] y) { y = MatMul(a, b) }"))
    small, large = (np.ones((n, n), np.int64) for n in (10, 1000))
    product.run(None, {"a": small, "b": small})
    with pytest.raises(whorl.TimeLimitError):
        product.run(None, {"a": large, "b": large}, run_options(timeout=0.02))


def test_time_limit_has_inside_nests_of_which_one_iteration_takes_for_ever():
    inner = "r8 = Add(s8, one)"
    for d in range(7, -1, -1):
        inner = f"""r{d} = Loop (n, , s{d}) <body = b{d} (int64 i{d}, bool g{d}, float s{d + 1})
            => (bool h{d}, float r{d + 1}) {{ h{d} = Identity(g{d}) {inner} }}>"""
    source = model(f"""main (int64 n, float s0) => (float r0) {{ one = Constant<value = float {{1}}> () {inner} }}""")
    nest = session(source, timeout=0.5)
    feeds = {"n": np.int64(1000), "s0": np.float32(0)}
    with pytest.raises(whorl.TimeLimitError):
        nest.run(None, feeds)
    assert nest.run(None, feeds | {"n": np.int64(2)}, run_options(timeout=600.0)) == [256]


# ---- anywhere ----------------------------------------------------------------------------------------------------

SUM_OF_SINES = model("""
    main (int64 n) => (float y) {
        zero = Constant<value = int64 {0}> ()
        one = Constant<value = int64 {1}> ()
        r = Range(zero, n, one)
        c = Cast<to = 1>(r)
        s = Sin(c)
        y = ReduceSum<keepdims = 0>(s)
    }""")
PRODUCTS = model("main (float[n, n] x) => (float[n, n] y) { a = MatMul(x, x) b = MatMul(a, x) y = MatMul(b, x) }")
CONVOLUTION = model("main (float[n, c, h, w] x, float[m, c, a, b] f) => (float[n, m, p, q] y) { y = Conv(x, f) }")
DETERMINANTS = model("""
    main (float[n, n] x) => (float[n, n] y) {
        [endless] y = Loop ("", "", x) <body = step (int64 i, bool on, float[n, n] a) => (bool on_out, float[n, n] b) {
            on_out = Identity(on)
            d = Det(a)
            b = Add(a, d)
        }>
    }""")
LONG = {
    "fused reduction": (SUM_OF_SINES, lambda: {"n": np.array(10**13)}),
    "product": (PRODUCTS, lambda: {"x": np.zeros((6000, 6000), F32)}),
    "convolution": (
        CONVOLUTION,
        lambda: {"x": np.zeros((2, 512, 128, 128), F32), "f": np.zeros((512, 512, 5, 5), F32)},
    ),
    "callback": (DETERMINANTS, lambda: {"x": np.zeros((1500, 1500), F32)}),
}
GENEROUS = 2.0
"""Seconds of CPU after a limit; `bench/limits.py` measures how many milliseconds it is."""


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("limit", ["timeout", "cancel", "terminate"])
def test_limit_acts_inside_of_what_takes_long(name, limit, each_backend):
    proto, feeds = LONG[name]
    if name == "fused reduction" and each_backend == "interpreter":
        pytest.skip("the interpreter makes each tensor, and nobody has memory for this one")
    limited, options, passed = session(proto, timeout=0.3 if limit == "timeout" else None), run_options(), feeds()
    acts = {"cancel": limited.cancel, "terminate": lambda: setattr(options, "terminate", True)}
    timer = threading.Timer(0.3, acts.get(limit, lambda: None))
    timer.start()
    start = time.process_time()
    with pytest.raises(whorl.TimeLimitError if limit == "timeout" else whorl.CancelledError):
        limited.run(None, passed, options)
    assert time.process_time() - start < 0.3 + GENEROUS


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import whorl
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts in the background ignore it
session = whorl.InferenceSession(sys.argv[1])
feeds = {"n": np.array(10**13)} if "sines" in sys.argv[1] else {"x": np.zeros((6000, 6000), np.float32)}
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.process_time()
try:
    session.run(None, feeds)
except KeyboardInterrupt:
    print("interrupted", time.process_time() - start < 1 + 5.0)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "proto"), [("sines", SUM_OF_SINES), ("products", PRODUCTS)])
def test_interrupt_from_the_keyboard_is_raised_and_the_process_ends(name, proto, each_backend, tmp_path):
    if name == "sines" and each_backend == "interpreter":
        pytest.skip("the interpreter makes each tensor, and nobody has memory for this one")
    path = tmp_path / f"{name}.onnx"
    path.write_bytes(proto.SerializeToString())
    command = [sys.executable, "-c", INTERRUPTED, str(path)]
    environment = os.environ | {"WHORL_BACKEND": each_backend}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert (done.stdout, done.stderr) == ("interrupted True\n", "")


def test_run_that_cannot_end_in_time_is_refused_before_it_starts(each_backend):
    if each_backend != "native":
        pytest.skip("only native code never makes the tensor")
    proto = model("""
        main (float x) => (float y) {
            n = Constant<value = int64[1] {1000000000000000}> ()
            e = Expand(x, n)
            s = Sin(e)
            y = ReduceSum<keepdims = 0>(s)
        }""")
    limited = session(proto, timeout=60.0, intra_op_num_threads=1)
    with pytest.raises(whorl.TimeLimitError) as caught:
        limited.run(None, {"x": np.array(1, F32)})
    assert str(caught.value) == (
        "Expand 'e': it takes 2e+04 s at least, and the run may take 60.0 s\n  fix: raise timeout"
    )


def test_iterations_of_loops_inside_count_for_themselves():
    proto = model("""
        main (float x, int64 outer, int64 inner) => (float y) {
            [around] y = Loop (outer, "", x) <body = step (int64 i, bool on, float a) => (bool on_out, float b) {
                on_out = Identity(on)
                [inside] b = Loop (inner, "", a) <body = deep (int64 j, bool go, float c) => (bool go_out, float d) {
                    go_out = Identity(go)
                    d = Sin(c)
                }>
            }>
        }""")
    limited, feeds = session(proto, max_iterations=10), {"x": np.array(1, F32), "outer": np.array(9)}
    limited.run(None, feeds | {"inner": np.array(10)})
    with pytest.raises(whorl.IterationLimitError) as caught:
        limited.run(None, feeds | {"inner": np.array(11)})
    assert str(caught.value) == (
        "Loop 'inside' (iteration 10) in body of Loop 'around' (iteration 0): the loop wants more than 10 iterations\n"
        "  fix: raise max_iterations"
    )


def test_collected_rows_are_refused_as_they_grow():
    proto = model("""
        main (float[1000] x) => (float[m, 1000] rows) {
            [collect] rows = Loop ("", "") <body = step (int64 i, bool on) => (bool on_out, float[1000] row) {
                on_out = Identity(on)
                row = Identity(x)
            }>
        }""")
    with pytest.raises(whorl.MemoryLimitError, match=r"^Loop 'collect' \(iteration 263\): holding 1052000 bytes"):
        session(proto, max_memory=1 << 20).run(None, {"x": np.zeros(1000, F32)})
