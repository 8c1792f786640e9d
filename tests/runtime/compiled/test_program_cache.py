"""The program cache of a subgraph: what is compiled, compiled again, or left to the interpreter."""

import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import F32, SUM, both, launches, session, subgraph

import whorl
from whorl.runtime.compiled.program_cache import MOST_BOUND, MOST_PROGRAMS
from whorl.runtime.compiled.refusals import Refusal

RESHAPED = model("main (float[a, b] x, int64[k] shape) => (y) { n = Neg(x) y = Reshape(n, shape) }")


@pytest.mark.parametrize("length", [0, 1, 7, 1000])
def test_straight_line_is_one_program(length):
    made = both(SUM, {"x": np.arange(length, dtype=F32), "y": np.ones(length, F32)})
    assert launches(made) == 1


def test_one_program_serves_every_length():
    made = session(SUM)
    for length in (2, 7, 300, 3, 1, 0):
        (z,) = made.run(None, {"x": np.full(length, 3, F32), "y": np.ones(length, F32)})
        assert z.tolist() == [12.0] * length
    assert launches(made) == 1


BROADCAST = model("main (float[n] x, float[m] y) => (z) { z = Add(x, y) }")


def test_one_that_broadcasts_has_a_program_of_its_own():
    made = session(BROADCAST)
    for n, m in ((3, 3), (1, 4), (5, 5), (1, 1), (1, 9), (6, 1)):
        (z,) = made.run(None, {"x": np.arange(n, dtype=F32), "y": np.ones(m, F32)})
        assert z.tolist() == (np.arange(n) + np.ones(m)).tolist()
    assert launches(made) == 3


MEANS = model("""main (float[n, 4] x) => (y) {
    axes = Constant <value_ints = [0]> ()
    y = ReduceMean <keepdims = 0> (x, axes)
}""")


def test_mean_of_no_rows_equals_the_interpreter():
    made, oracle = session(MEANS), session(MEANS, "interpreter")
    for n in (3, 0, 1, 5):
        x = np.arange(4 * n, dtype=F32).reshape(n, 4)
        np.testing.assert_array_equal(made.run(None, {"x": x})[0], oracle.run(None, {"x": x})[0])


def test_cache_forgets_the_oldest_programs_beyond_a_limit():
    made = session(RESHAPED)
    for length in range(2, 2 * MOST_BOUND):
        made.run(None, {"x": np.ones((2, length), F32), "shape": np.array([length, 2])})
    assert launches(made) <= MOST_PROGRAMS
    assert len(subgraph(made).cache.recent) <= MOST_BOUND


def test_lengths_that_contradict_their_names_are_errors_as_ever():
    made = session(SUM)
    both(SUM, {"x": np.ones(4, F32), "y": np.ones(1, F32)})
    for x, y in ((4, 3), (4, 1), (3, 4)):
        feeds = {"x": np.ones(x, F32), "y": np.ones(y, F32)}
        if y == 1:
            assert made.run(None, feeds)[0].shape == (4,)
            continue
        with pytest.raises(whorl.WhorlError):
            made.run(None, feeds)


def test_shape_that_an_input_has_is_part_of_the_signature():
    made = session(RESHAPED)
    for shape in ([2, 6], [6, 2], [12], [2, 6], [-1, 4]):
        (y,) = made.run(None, {"x": np.ones((3, 4), F32), "shape": np.array(shape)})
        assert y.shape == np.ones(12).reshape(shape).shape
    assert 1 <= launches(made) <= 4


def test_shapes_that_grow_in_an_interpreted_body_compile_nothing():
    proto = model("""main (int64 n, float[k] x) => (float[m] y, seq(float[d]) all) {
        none = SequenceEmpty()
        y, all = Loop (n, "", x, none) <body = b (int64 i, bool go, float[a] h, seq(float[e]) s)
            => (bool on, float[c] next, seq(float[f]) t) {
            on = Identity(go)
            twice = Concat<axis = 0>(h, h)
            next = Neg(twice)
            size = Size(next)
            u = HannWindow(size)
            t = SequenceInsert(s, u)
        }>
    }""")
    made = session(proto)
    y, everything = made.run(None, {"n": np.array(8), "x": np.ones(1, F32)})
    assert y.shape == (256,)
    assert len(everything) == 8


def test_pickled_session_compiles_again():
    made = pickle.loads(pickle.dumps(both(SUM, {"x": np.ones(3, F32), "y": np.ones(3, F32)})))
    assert made.run(None, {"x": np.ones(3, F32), "y": np.ones(3, F32)})[0].tolist() == [2, 2, 2]
    assert launches(made) == 1


def test_auto_interprets_until_the_code_is_there():
    made, feeds = session(SUM, "auto"), {"x": np.ones(3, F32), "y": np.ones(3, F32)}
    for _ in range(6000):
        assert made.run(None, feeds)[0].tolist() == [2, 2, 2]
        if launches(made):
            break
        time.sleep(0.01)
    assert launches(made)
    assert made.run(None, feeds)[0].tolist() == [2, 2, 2]


STEPS = model("""main (float[batch, steps, 4] x, float[batch, 4] h0) => (float[batch, 4] h, float[k, batch, 4] all) {
    rows = Transpose <perm = [1, 0, 2]> (x)
    h, all = Scan <num_scan_inputs = 1, body = b (float[batch, 4] s, float[batch, 4] row)
      => (float[batch, 4] next, float[batch, 4] out) {
        next = Add (s, row)
        out = Identity (next)
    }> (h0, rows)
}""")


def test_loop_over_a_length_of_an_input_is_part_of_the_one_program():
    made = session(STEPS)
    for batch, steps in ((2, 3), (5, 40), (3, 3)):
        x = np.random.default_rng(steps).normal(size=(batch, steps, 4)).astype(F32)
        h, everything = made.run(None, {"x": x, "h0": np.zeros((batch, 4), F32)})
        np.testing.assert_allclose(everything, np.cumsum(x, 1).transpose(1, 0, 2), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(h, everything[-1])
    assert launches(made) == 1


POOLED = model("""main (float[n, 2, 8] x) => (float[n, 2, 8] y, int64[n, 2, 8] i) {
    z = Neg (x)
    y, i = MaxPool <kernel_shape = [1]> (z)
}""")


def test_length_of_one_is_literal_where_an_op_does_not_take_names():
    made = session(POOLED)
    for n in (3, 1):
        y, i = made.run(None, {"x": np.ones((n, 2, 8), F32)})
        assert y.tolist() == (-np.ones((n, 2, 8))).tolist()
        assert i.ravel().tolist() == [*range(16 * n)]
    programs = [p for p in subgraph(made).cache.programs.values() if not isinstance(p, Refusal)]
    assert [p.has_calls for p in programs] == [True, False]


ROWS = model("""main (int64 n, float[2] x) => (float[2] y, float[k, 2] seen) {
    one = Constant <value = int64 {1}> ()
    trips = Sub (n, one)
    y, seen = Loop (trips, "", x) <body = b (int64 i, bool go, float[2] h) => (bool on, float[2] next, float[2] out) {
        on = Identity (go)
        next = Add (h, h)
        out = Neg (next)
    }>
}""")


def test_rows_that_a_trip_count_tells_are_collected_where_the_caller_gets_them():
    made, oracle = session(ROWS), session(ROWS, "interpreter")
    for n in (5, 9, 2, 1, 0, -3, 1, 40, 5):
        feeds = {"n": np.array(n), "x": np.array([1, 2], F32)}
        for e, f in zip(oracle.run(None, feeds), made.run(None, feeds), strict=True):
            np.testing.assert_array_equal(f, e)
            assert f.shape == e.shape
    assert subgraph(made).cache.keyed == (0,)
    programs = [p for p in subgraph(made).cache.programs.values() if not isinstance(p, Refusal)]
    assert [program.graph.grown for program in programs if program.graph.names] == [{}]
    assert len(programs) <= 3


def test_trip_count_of_a_loop_that_may_stop_is_no_length():
    text = """main (int64 n, bool go, float[2] x) => (float[k, 2] seen) {
        y, seen = Loop (n, go, x) <body = b (int64 i, bool g, float[2] h) => (bool on, float[2] next, float[2] out) {
            limit = Constant <value = int64 {3}> ()
            on = Less (i, limit)
            next = Add (h, h)
            out = Neg (next)
        }>
    }"""
    made = session(model(text))
    for n, rows in ((2, 2), (9, 4), (0, 0)):
        (seen,) = made.run(None, {"n": np.array(n), "go": np.array(True), "x": np.ones(2, F32)})
        assert seen.shape == (rows, 2)
    assert subgraph(made).cache.keyed == ()


def test_trip_count_is_no_length_of_any_name():
    text = """main (int64 n, float[{name}] x) => (float[{name}] y, float[k, {name}] seen) {{
        y, seen = Loop (n, "", x) <
            body = b (int64 i, bool go, float[{name}] h) => (bool on, float[{name}] next, float[{name}] out) {{
                on = Identity (go)
                next = Add (h, h)
                out = Neg (next)
            }}>
    }}"""
    for name in ("n0", "q"):
        made = session(model(text.format(name=name)))
        for n, length in ((3, 5), (5, 3), (2, 2), (0, 4)):
            y, seen = made.run(None, {"n": np.array(n), "x": np.ones(length, F32)})
            assert (y.shape, seen.shape) == ((length,), (n, length))


# ---- callers side by side ----------------------------------------------------------------------------------------

FUNCTIONS = model("main (float[n] x) => (y) { e = Exp(x) s = Sigmoid(x) t = Tanh(x) u = Add(e, s) y = Mul(u, t) }")
"""The interpreter rounds these functions otherwise than native code."""


def beside_first_run(made, feeds):
    """The bytes of four runs, of which the first is held up in the middle of compiling until the others have begun."""
    cache, begun = subgraph(made).cache, threading.Barrier(4)
    attempt = cache._attempt

    def late(request, specialised):
        begun.wait(60)
        return attempt(request, specialised)

    def work(number):
        if number:
            while not cache.pending:
                time.sleep(0.001)
            begun.wait(60)
        return made.run(None, feeds)[0].tobytes()

    cache._attempt = late
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(work, range(4)))


def test_callers_beside_a_first_run_have_its_bits():
    made, feeds = session(FUNCTIONS), {"x": np.random.default_rng(1).normal(size=999).astype(F32)}
    (alone,) = session(FUNCTIONS).run(None, feeds)
    assert beside_first_run(made, feeds) == [alone.tobytes()] * 4
    assert launches(made) == 1


def test_limit_of_a_caller_that_waits_for_another_one_is_heard():
    made, feeds = session(FUNCTIONS), {"x": np.ones(9, F32)}
    cache, may_go_on = subgraph(made).cache, threading.Event()
    attempt = cache._attempt

    def late(request, specialised):
        may_go_on.wait(60)
        return attempt(request, specialised)

    cache._attempt = late
    first = threading.Thread(target=made.run, args=(None, feeds))
    first.start()
    while not cache.pending:
        time.sleep(0.001)
    options = whorl.RunOptions()
    options.timeout = 0.05
    with pytest.raises(whorl.TimeLimitError):
        made.run(None, feeds, options)
    may_go_on.set()
    first.join()
    assert launches(made) == 1


def test_failure_to_make_a_program_is_tried_again(monkeypatch):
    made, feeds = session(FUNCTIONS), {"x": np.ones(9, F32)}
    cache = subgraph(made).cache
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_attempt", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            made.run(None, feeds)
    assert not cache.pending
    made.run(None, feeds)
    assert launches(made) == 1
