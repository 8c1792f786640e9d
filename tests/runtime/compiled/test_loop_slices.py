"""Native loops in a session: the same results, errors and limits as the interpreter."""

import threading

import numpy as np
import pytest
from onnx import parser
from runtime.native_sessions import ALONE

import whorl
from whorl.conformance.cases import load_cases
from whorl.conformance.runner import run
from whorl.runtime.interpreter.control import LoopKernel

COUNT = """
count (int64 n, float[3] x) => (float[3] y, float[k,3] seen) {
  y, seen = Loop (n, "", x) <body = step (int64 i, bool go, float[3] h) => (bool on, float[3] next, float[3] half) {
    on = Identity (go)
    next = Add (h, one)
    half = Mul (next, scale)
    one = Constant <value_float = 1.0> ()
    scale = Constant <value_floats = [0.5, 0.25, 2.0]> ()
  }>
}
"""
READ_ROW = """
main (int64 n, float[12] table) => (float[k] rows) {
  rows = Loop <body = rollout (int64 i, bool go) => (bool on, float row) {
    on = Identity (go)
    row = Gather (table, i)
  }> (n, "")
}
"""
COLLATZ = """
main (int64 x) => (int64 steps) {
  true = Constant <value = bool {1}> ()
  zero = Constant <value_int = 0> ()
  last, steps = Loop ("", true, x, zero) <body = step (int64 i, bool go, int64 v, int64 s)
      => (bool on, int64 w, int64 t) {
    one = Constant <value_int = 1> ()
    two = Constant <value_int = 2> ()
    three = Constant <value_int = 3> ()
    rest = Mod (v, two)
    odd = Equal (rest, one)
    w = If (odd) <then_branch = up () => (int64 a) { b = Mul (v, three)
                                                     a = Add (b, one) },
                  else_branch = down () => (int64 c) { c = Div (v, two) }>
    t = Add (s, one)
    on = Greater (w, one)
  }>
}
"""
FOREVER = """
main (float x) => (float y) {
  y = Loop ("", "", x) <body = step (int64 i, bool go, float h) => (bool on, float next) {
    on = Identity (go)
    next = Add (h, x)
  }>
}
"""


def model(text: str):
    return parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>{text}')


def session(text: str, **options) -> whorl.InferenceSession:
    chosen = whorl.SessionOptions()
    chosen.backend = "native"
    for name, value in options.items():
        setattr(chosen, name, value)
    return whorl.InferenceSession(model(text), chosen)


def interpreted(text: str) -> whorl.InferenceSession:
    return session(text, backend="interpreter")


def loop_kernels(made: whorl.InferenceSession):
    return [step.kernel for step in made.plan.steps if isinstance(step.kernel, LoopKernel)]


@pytest.mark.slow
def test_conformance_suite_passes_natively(monkeypatch):
    monkeypatch.setenv("WHORL_BACKEND", "native")
    failed = [f"{r.case}: {r.status} {r.message}" for r in run("whorl", timeout=60.0) if r.status != "pass"]
    assert failed == []
    assert len(load_cases()) >= 160


@pytest.mark.parametrize("trips", [-1, 0, 1, 2, 5000])
def test_loop_equals_the_interpreter(trips):
    feeds = {"n": np.array(trips), "x": np.arange(3, dtype=np.float32)}
    expected = interpreted(COUNT).run(None, feeds)
    made = session(COUNT)
    for e, f in zip(expected, made.run(None, feeds), strict=True):
        np.testing.assert_array_equal(f, e)
        assert f.dtype == e.dtype
    assert [verdict.reason for verdict in made.explain() if verdict.reason] == []


def test_loop_of_unknown_length_collects_beyond_its_first_memory():
    text = COUNT.replace('(n, "", x)', '("", true, x)').replace("on = Identity (go)", "on = Less (i, last)")
    text = text.replace("  y, seen", "  true = Constant <value = bool {1}> ()\n  last = Identity (n)\n  y, seen", 1)
    y, seen = session(text).run(None, {"n": np.array(4999), "x": np.zeros(3, np.float32)})
    assert y.tolist() == [5000.0] * 3
    assert seen.shape == (5000, 3)
    np.testing.assert_array_equal(seen[:, 2], 2.0 * np.arange(1, 5001, dtype=np.float32))


def test_collatz_counts_steps():
    assert session(COLLATZ).run(None, {"x": np.array(837799)})[0] == 524


def test_index_out_of_range_names_loop_iteration_and_node():
    made = session(READ_ROW)
    assert made.run(None, {"n": np.array(12), "table": np.arange(12, dtype=np.float32)})[0].shape == (12,)
    with pytest.raises(whorl.RunError) as caught:
        made.run(None, {"n": np.array(40), "table": np.arange(12, dtype=np.float32)})
    with pytest.raises(whorl.RunError) as other:
        interpreted(READ_ROW).run(None, {"n": np.array(40), "table": np.zeros(12, np.float32)})
    assert str(caught.value) == str(other.value)
    assert "(iteration 12): index 12 is outside [-12, 12) of axis 0" in str(caught.value)


def test_iterations_are_limited():
    with pytest.raises(whorl.IterationLimitError, match="more than 1000 iterations"):
        session(FOREVER, max_iterations=1000).run(None, {"x": np.float32(1)})


def test_endless_loop_is_stopped_by_a_timeout():
    made = session(FOREVER, timeout=0.3)
    with pytest.raises(whorl.TimeLimitError):
        made.run(None, {"x": np.float32(1)})


def test_endless_loop_is_cancelled_from_another_thread():
    made, ended = session(FOREVER), threading.Event()

    def cancel() -> None:
        """Until the run has ended: one that begins later is not stopped."""
        while not ended.wait(0.1):
            made.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(whorl.CancelledError):
        made.run(None, {"x": np.float32(1)})
    ended.set()
    thread.join()


def test_threads_share_a_session():
    made = session(COUNT)
    results = {}

    def work(k: int) -> None:
        results[k] = made.run(None, {"n": np.array(1000 + k), "x": np.full(3, k, np.float32)})

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, (y, seen) in results.items():
        assert y.tolist() == [1000.0 + 2 * k] * 3
        assert len(seen) == 1000 + k


def test_op_without_native_form_runs_from_inside():
    text = """
    main (int64 n, float[512,512] x) => (float[512,512] y, float[k] dets) {
      y, dets = Loop (n, "", x) <body = step (int64 i, bool go, float[512,512] h)
        => (bool on, float[512,512] next, float det) {
        on = Identity (go)
        det = Det (h)
        shift = Cast <to = 1> (i)
        next = Add (h, shift)
      }>
    }"""
    feeds = {"n": np.array(10), "x": np.eye(512, dtype=np.float32)}
    expected = interpreted(text).run(None, feeds)
    for e, f in zip(expected, session(text).run(None, feeds), strict=True):
        np.testing.assert_array_equal(f, e)


def test_backend_that_does_not_exist_is_refused():
    with pytest.raises(whorl.RunError, match="there is no backend 'fast'"):
        session(COUNT, backend="fast")


def test_loop_changes_over_to_native_code_on_the_way():
    made = session(COUNT, backend="auto")
    trips = 2_000_000
    y, seen = made.run(None, {"n": np.array(trips), "x": np.zeros(3, np.float32)})
    (kernel,) = loop_kernels(made)
    assert 500 <= kernel.runner.interpreted < trips
    assert y.tolist() == [trips] * 3
    np.testing.assert_array_equal(seen[:, 2], 2.0 * np.arange(1, trips + 1, dtype=np.float32))


def test_slice_whose_number_of_cuts_only_the_run_knows():
    text = """
    main (int64 n, float[6] x, bool[1] keep) => (float[6] total) {
      flat = Constant <value = int64[1] {-1}> ()
      three = Constant <value = int64[1] {3}> ()
      total = Loop (n, "", x) <body = step (int64 i, bool go, float[6] h) => (bool on, float[6] next) {
        on = Identity (go)
        places = NonZero (keep)
        starts = Reshape (places, flat)
        ends = Add (starts, three)
        part = Slice (h, starts, ends)
        next = Concat <axis = 0> (part, part)
      }>
    }"""
    feeds = {"n": np.array(20), "x": np.arange(6, dtype=np.float32), "keep": np.array([True])}
    assert session(text).run(None, feeds)[0].tolist() == [0, 1, 2, 0, 1, 2]


DOUBLING = """main (float[k] start, float[T] x) => (float[l] last) {
  last = Scan (start, x) <num_scan_inputs = 1, body = step (float[k] s, float e) => (float[m] t) {
    t = Concat <axis = 0> (s, s)
  }>
}"""


@pytest.mark.parametrize("more", ["", "around = Neg(x)"], ids=["alone", "in a program"])
def test_state_of_a_scan_that_grows_is_refused_at_every_length(more):
    made = session(
        DOUBLING.replace("last = Scan (start, x)", f"{more} last = Scan (start, {'around' if more else 'x'})")
    )
    for length in (2, 1, 3, 0, 2):
        feeds = {"start": np.arange(length, dtype=np.float32), "x": np.ones(3, np.float32)}
        if length == 0:
            assert made.run(None, feeds)[0].size == 0
            continue
        with pytest.raises(whorl.RunError, match="changes shape"):
            made.run(None, feeds)


TRANSPOSING = """main (int64 n, bool keeps, float[1, 1] x) => (float[a, b] y)
<float[2, 3] table = {1, 2, 3, 4, 5, 6}> {
  y = Loop (n, "", x) <body = b (int64 i, bool go, float[c, d] s) => (bool on, float[e, f] t) {
    on = Identity (go)
    turned = Transpose (table)
    t = If (keeps) <
      then_branch = kept () => (float[1, 1] k) { k = Constant <value = float[1, 1] {7}> () },
      else_branch = other () => (float[3, 2] o) { o = Identity (turned) }
    >
  }>
}"""


@pytest.mark.parametrize("limits", [{}, ALONE], ids=["in a program", "alone"])
def test_constant_that_a_body_transposes_is_read_in_its_new_order(limits):
    made = session(TRANSPOSING, **limits)
    feeds = {"n": np.array(2), "x": np.zeros((1, 1), np.float32)}
    assert made.run(None, feeds | {"keeps": np.array(False)})[0].tolist() == [[1, 4], [2, 5], [3, 6]]
    assert made.run(None, feeds | {"keeps": np.array(True)})[0].tolist() == [[7]]


LENGTHS = """
main (int64 n, float[k] x) => (float[m] y) {
  y = Loop (n, "", x) <body = step (int64 i, bool go, float[a] h) => (bool on, float[b] next) {
    on = Identity (go)
    next = Sin (h)
  }>
}
"""


def test_slices_are_short_again_for_longer_tensors():
    reported = []
    made = session(LENGTHS, progress=lambda loop, done, total: reported.append(done))
    for _ in range(2):
        made.run(None, {"n": np.array(100_000), "x": np.ones(2, np.float32)})
    assert len(reported) < 50
    reported.clear()
    made.run(None, {"n": np.array(40), "x": np.ones(1_000_000, np.float32)})
    assert reported[0] == 1 and reported[-1] == 40


def test_trip_count_that_no_memory_has_rows_for_ends_with_the_time():
    made = session(COUNT, timeout=0.3)
    feeds = {"x": np.ones(3, np.float32)}
    assert len(made.run(None, feeds | {"n": np.array(4)})[1]) == 4
    with pytest.raises((whorl.TimeLimitError, whorl.MemoryLimitError)):
        made.run(None, feeds | {"n": np.array(1 << 62)})


def test_number_of_iterations_that_divides_is_not_taken_for_a_length():
    text = COUNT.replace("(float[3] y, float[k,3] seen) {", "(float[3] y, float[k,3] seen, int64 q) { q = Mod (n, n)")
    made, oracle = session(text), interpreted(text)
    outcomes = []
    for each in (made, oracle):
        each.run(None, {"n": np.array(3), "x": np.zeros(3, np.float32)})
        try:
            outcomes.append([r.tolist() for r in each.run(None, {"n": np.array(0), "x": np.zeros(3, np.float32)})])
        except whorl.RunError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
