"""Carried values whose lengths change, run natively: the same results and errors as the interpreter."""

import numpy as np
import pytest
from onnx import parser
from runtime.native_sessions import ignore_progress

import whorl
from whorl.runtime.compiled.refusals import Refusal
from whorl.runtime.interpreter.control import LoopKernel

APPENDED = """
main (int64 n, float[k,3] x, float[1,3] row) => (float[m,3] y) {
  y = Loop (n, "", x) <body = b (int64 i, bool go, float[a,3] h) => (bool on, float[c,3] next) {
    on = Identity (go)
    f = Cast <to = 1> (i)
    r = Mul (row, f)
    next = Concat <axis = 0> (h, r, row)
  }>
}
"""
PREPENDED = APPENDED.replace("(h, r, row)", "(r, h)")
SECOND_AXIS = """
main (int64 n, float[1,k] x, float[1,1] e) => (float[1,m] y, float[t] sums) {
  y, sums = Loop (n, "", x) <body = b (int64 i, bool go, float[1,a] h)
      => (bool on, float[1,c] next, float s) {
    on = Identity (go)
    last = Concat <axis = 1> (h, e)
    t = ReduceSum <keepdims = 0> (last)
    s = Identity (t)
    next = Identity (last)
  }>
}
"""
TRANSPOSED = """
main (int64 n, float[2,k] x, float[2,1] e) => (float[2,m] y) {
  y = Loop (n, "", x) <body = b (int64 i, bool go, float[2,a] h) => (bool on, float[2,c] next) {
    on = Identity (go)
    next = Concat <axis = 1> (h, e)
  }>
}
"""
CROSSED = """
main (int64 n, float[k] x, float[j] z, float[1] e) => (float[m] y, float[o] w) {
  y, w = Loop (n, "", x, z) <body = b (int64 i, bool go, float[a] h, float[d] g)
      => (bool on, float[c] hn, float[f] gn) {
    on = Identity (go)
    hn = Concat <axis = 0> (g, e)
    gn = Identity (h)
  }>
}
"""
REMAINING_OLD = """
main (int64 n, float[k] x, float[1] e) => (float[m] y, float[o] w) {
  y, w = Loop (n, "", x, x) <body = b (int64 i, bool go, float[a] h, float[d] g)
      => (bool on, float[c] hn, float[f] gn) {
    on = Identity (go)
    hn = Concat <axis = 0> (h, e)
    gn = Identity (h)
  }>
}
"""
ATTENTION = """
main (int64 n, float[k,4] cache, float[1,4] q) => (float[m,4] y, float[t,4] seen) {
  y, last, seen = Loop (n, "", cache, q) <body = b (int64 i, bool go, float[a,4] h, float[1,4] x)
      => (bool on, float[c,4] next, float[1,4] out, float[4] row) {
    on = Identity (go)
    next = Concat <axis = 0> (h, x)
    turned = Transpose <perm = [1, 0]> (next)
    scores = MatMul (x, turned)
    weights = Softmax <axis = 1> (scores)
    out = MatMul (weights, next)
    flat = Constant <value_ints = [4]> ()
    row = Reshape (out, flat)
  }>
}
"""
SEQUENCE = """
main (int64 n, float[2] x) => (float[m] y, int64 count, float[2] third) {
  empty = SequenceEmpty ()
  grown = Loop (n, "", empty) <body = b (int64 i, bool go, seq(float) s) => (bool on, seq(float) t) {
    on = Identity (go)
    f = Cast <to = 1> (i)
    e = Add (x, f)
    t = SequenceInsert (s, e)
  }>
  y = ConcatFromSequence <axis = 0> (grown)
  count = SequenceLength (grown)
  two = Constant <value_int = 2> ()
  third = SequenceAt (grown, two)
}
"""
READ_SEQUENCE = """
main (int64 n, float[1,2] x) => (float[m,2] y, float[t,2] firsts) {
  s0 = SequenceConstruct (x)
  grown, firsts = Loop (n, "", s0) <body = b (int64 i, bool go, seq(float) s)
      => (bool on, seq(float) t, float[2] first) {
    on = Identity (go)
    e = SequenceAt (s, i)
    more = Add (e, e)
    t = SequenceInsert (s, more)
    all = ConcatFromSequence <axis = 0> (t)
    first = ReduceSum <keepdims = 0> (all, zero)
    zero = Constant <value_ints = [0]> ()
  }>
  y = ConcatFromSequence <axis = 0> (grown)
}
""".replace(
    "    first = ReduceSum <keepdims = 0> (all, zero)\n    zero = Constant <value_ints = [0]> ()",
    "    zero = Constant <value_ints = [0]> ()\n    first = ReduceSum <keepdims = 0> (all, zero)",
)
UPDATED = """
main (int64 n, float[8] x) => (float[8] y, float[t] before) {
  y, before = Loop (n, "", x) <body = b (int64 i, bool go, float[8] h) => (bool on, float[8] next, float old) {
    on = Identity (go)
    eight = Constant <value_int = 8> ()
    one = Constant <value_floats = [1.5]> ()
    shape = Constant <value_ints = [1, 1]> ()
    place = Mod (i, eight)
    old = Gather (h, place)
    more = Add (old, one)
    where = Reshape (place, shape)
    next = ScatterND (h, where, more)
  }>
}
"""


SHRINKING = """
main (int64 n, float[k] x) => (float[m] y) {
  true = Constant <value = bool {1}> ()
  y = Loop (n, true, x) <body = b (int64 i, bool go, float[a] h) => (bool on, float[c] next) {
    one = Constant <value_ints = [1]> ()
    zero = Constant <value_ints = [0]> ()
    far = Constant <value_ints = [100000]> ()
    four = Constant <value_int = 4> ()
    next = Slice (h, one, far, zero)
    left = Size (next)
    on = Greater (left, four)
  }>
}
"""
SIEVE = """
main (int64 limit) => (int64[m] primes) {
  two = Constant <value_int = 2> ()
  one = Constant <value_int = 1> ()
  true = Constant <value = bool {1}> ()
  numbers = Range (two, limit, one)
  empty = Constant <value = int64[0] {}> ()
  rest, primes = Loop ("", true, numbers, empty) <body = b (int64 i, bool go, int64[a] left, int64[d] found)
      => (bool on, int64[c] next, int64[e] more) {
    zero = Constant <value_ints = [0]> ()
    first = Gather (left, zero)
    remainder = Mod (left, first)
    none = Constant <value_int = 0> ()
    same = Equal (remainder, none)
    keep = Not (same)
    next = Compress (left, keep)
    more = Concat <axis = 0> (found, first)
    size = Size (next)
    on = Greater (size, none)
  }>
}
"""


def growing(text):
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{text}').SerializeToString()


def run_both(text, feeds):
    """What the interpreter and native code give; no loop may lack native code."""
    expected = whorl.InferenceSession(growing(text), options("interpreter")).run(None, feeds)
    session = whorl.InferenceSession(growing(text), options("native"))
    actual = session.run(None, feeds)
    reasons = [
        attempt
        for step in session.plan.steps
        if isinstance(step.kernel, LoopKernel)
        for attempt in step.kernel.runner.attempts
        if isinstance(attempt, Refusal)
    ]
    assert not reasons
    return expected, actual


def options(backend):
    made = whorl.SessionOptions()
    made.backend = backend
    return made


def check(text, **feeds):
    expected, actual = run_both(text, {name: np.asarray(value) for name, value in feeds.items()})
    for e, f in zip(expected, actual, strict=True):
        assert f.dtype == e.dtype
        np.testing.assert_allclose(f, e, rtol=1e-6, atol=0)


F = np.float32
TRIPS = [17, 100, 3000]


@pytest.mark.parametrize("start", [0, 1, 5])
@pytest.mark.parametrize("trips", TRIPS)
@pytest.mark.parametrize("text", [APPENDED, PREPENDED])
def test_rows_are_put_before_or_behind(text, trips, start):
    check(text, n=trips, x=np.arange(3 * start, dtype=F).reshape(start, 3), row=np.array([[1, 2, 3]], F))


@pytest.mark.parametrize("trips", TRIPS)
def test_columns_are_put_behind_one_row(trips):
    check(SECOND_AXIS, n=trips, x=np.zeros((1, 0), F), e=np.ones((1, 1), F))


@pytest.mark.parametrize("trips", TRIPS[:2])
def test_columns_are_put_behind_two_rows(trips):
    check(TRANSPOSED, n=trips, x=np.array([[1], [2]], F), e=np.array([[3], [4]], F))


@pytest.mark.parametrize("text", [CROSSED, REMAINING_OLD])
@pytest.mark.parametrize("trips", [16, 17, 100])
def test_growing_values_change_locations(text, trips):
    feeds = {"n": trips, "x": np.arange(3, dtype=F), "e": np.array([9], F)}
    if text is CROSSED:
        feeds["z"] = np.arange(7, dtype=F)
    check(text, **feeds)


@pytest.mark.parametrize("trips", TRIPS[:2])
def test_attention_reads_a_cache_that_grows(trips):
    rng = np.random.default_rng(0)
    check(ATTENTION, n=trips, cache=np.zeros((0, 4), F), q=rng.standard_normal((1, 4)).astype(F))


@pytest.mark.parametrize("trips", TRIPS)
def test_sequence_grows_from_nothing(trips):
    check(SEQUENCE, n=trips, x=np.array([0.5, -2], F))


def test_sequence_is_read_while_it_grows():
    check(READ_SEQUENCE, n=40, x=np.array([[1, -1]], F))


@pytest.mark.parametrize("trips", TRIPS)
def test_element_read_before_it_is_overwritten_inplace(trips):
    check(UPDATED, n=trips, x=np.arange(8, dtype=F))


def test_value_shrinks_until_the_loop_stops():
    check(SHRINKING, n=1000, x=np.arange(40, dtype=F))


def test_ops_without_native_form_are_called_with_the_lengths_they_meet():
    check(SIEVE, limit=200)


def test_one_program_serves_every_first_length():
    chosen = options("native")
    chosen.progress = ignore_progress
    session = whorl.InferenceSession(growing(APPENDED), chosen)
    for start in (0, 2, 9):
        feeds = {"n": np.array(5000), "x": np.zeros((start, 3), F), "row": np.ones((1, 3), F)}
        (actual,) = session.run(None, feeds)
        assert actual.shape == (start + 10000, 3)
    (kernel,) = (step.kernel for step in session.plan.steps if isinstance(step.kernel, LoopKernel))
    assert len(kernel.runner.attempts) == 1


def test_length_that_must_fit_is_an_error_with_its_iteration():
    text = """
    main (int64 n, float[k] x, float[1] e, float[20] z) => (float[m] y, float s) {
      y, s = Loop (n, "", x, zero) <body = b (int64 i, bool go, float[a] h, float t)
      => (bool on, float[c] next, float u) {
        on = Identity (go)
        next = Concat <axis = 0> (h, e)
        joined = Add (next, z)
        u = ReduceSum <keepdims = 0> (joined)
      }>
    }
    """.replace("y, s = Loop", "zero = Constant <value_float = 0.0> ()\n      y, s = Loop")
    feeds = {"n": np.array(100), "x": np.zeros(0, F), "e": np.ones(1, F), "z": np.ones(20, F)}
    errors = []
    for backend in ("interpreter", "native"):
        with pytest.raises(whorl.RunError) as caught:
            whorl.InferenceSession(growing(text), options(backend)).run(None, feeds)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert "iteration 1" in errors[0]


def test_lengths_that_vary_are_left_open_after_some_programs():
    text = """
    main (float[b,3] h0, float[t,b,3] x, float[b,1] scale) => (float[b,3] h, float[t,b,3] hs) {
      h, hs = Scan <num_scan_inputs = 1, body = step (float[b,3] h, float[b,3] x) => (float[b,3] next, float[b,3] y) {
        a = Add (h, x)
        s = Mul (a, scale)
        next = Tanh (s)
        y = Identity (next)
      }> (h0, x)
    }
    """
    native, oracle = (whorl.InferenceSession(growing(text), options(b)) for b in ("native", "interpreter"))
    rng = np.random.default_rng(0)
    for size in range(1, 30):
        shapes = {"h0": (size, 3), "x": (20 + size, size, 3), "scale": (size, 1)}
        feeds = {name: rng.uniform(-0.5, 0.5, shape).astype(F) for name, shape in shapes.items()}
        for e, f in zip(oracle.run(None, feeds), native.run(None, feeds), strict=True):
            np.testing.assert_allclose(f, e, rtol=1e-5, atol=1e-6)
    kernels = [step.kernel for step in native.plan.steps if isinstance(step.kernel, LoopKernel)]
    assert all(len(kernel.runner.attempts) < 12 for kernel in kernels)
    assert not [a for kernel in kernels for a in kernel.runner.attempts if isinstance(a, Refusal)]
