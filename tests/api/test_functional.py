"""`whorl.loop` and `whorl.scan` on arrays: the examples of the ONNX documents, both kinds of bodies, errors."""

import numpy as np
import onnx
import pytest

import whorl

F32 = np.float32


def graph(text):
    return onnx.parser.parse_graph(text)


DOCUMENTED = """
    body_net (int64 i, bool keepgoing_in, int32 b_in) => (bool keepgoing_out, int32 b_out, int32 user_defined_val) {
        a = Constant<value = int32 {3}> ()
        my_local = Add(a, b_in)
        b_out = Sub(a, b_in)
        keepgoing_out = Greater(my_local, b_out)
        user_defined_val = Add(b_in, b_in)
    }"""
"""The body of the example in the document of Loop."""


def documented(i, keepgoing_in, b_in):
    a = np.int32(3)
    b_out = a - b_in
    return a + b_in > b_out, b_out, b_in + b_in


def both(text, function):
    return pytest.mark.parametrize("body", [graph(text), function], ids=["graph", "function"])


@both(DOCUMENTED, documented)
def test_example_of_the_document_stops_by_its_condition(body):
    b, values = whorl.loop(10, True, np.int32(6), body=body)
    assert (b.dtype, b, values.dtype, values.tolist()) == (np.int32, 6, np.int32, [12, -6])


MODES = {
    "endless": ("", "", None),
    "while": ("", True, [1, 2, 4, 8, 16]),
    "do while": ("", 1, [1, 2, 4, 8, 16]),
    "for": (3, "", [1, 2, 4]),
    "for, condition ignored": (7, None, [1, 2, 4, 8, 16, 32, 64]),
    "both, the count ends it": (3, True, [1, 2, 4]),
    "both, the condition ends it": (99, True, [1, 2, 4, 8, 16]),
    "never, by the count": (0, True, []),
    "never, by a negative count": (-5, "", []),
    "never, by the condition": ("", False, []),
}
DOUBLING = """
    body (int64 i, bool on, double x) => (bool more, double doubled, double seen) {
        ten = Constant<value = double {10}> ()
        more = Less(x, ten)
        doubled = Add(x, x)
        seen = Identity(x)
    }"""


@pytest.mark.parametrize("mode", MODES)
@both(DOUBLING, lambda i, on, x: (x < 10, x + x, x))
def test_operating_modes_of_the_document(body, mode):
    M, cond, expected = MODES[mode]
    if expected is None:
        with pytest.raises(
            whorl.IterationLimitError, match=r"^Loop 'loop' \(iteration 20\): the loop wants more than 20"
        ):
            whorl.loop(M, cond, 1.0, body=body, max_iterations=20)
        return
    last, *seen = whorl.loop(M, cond, 1.0, body=body)
    assert last.dtype == np.float64 and last == 2.0 ** len(expected)
    if callable(body) and not expected:
        assert seen == []
    else:
        assert seen[0].dtype == np.float64 and seen[0].tolist() == expected


RNN = """
    rnn_cell (float[n, h] H_tminus1, float[n, k] X_t) => (float[n, h] Ht, float[n, h] Accumulate)
    <float[2, 3] Wi = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, float[2, 2] Ri = {0.5, 0, 0, 0.5}, float[2] Wbi = {1, -1},
     float[2] Rbi = {0.5, 0.5}> {
        WiT = Transpose(Wi)
        RiT = Transpose(Ri)
        t1 = MatMul(X_t, WiT)
        t2 = MatMul(H_tminus1, RiT)
        t3 = Add(t1, t2)
        t4 = Add(t3, Wbi)
        t5 = Add(t4, Rbi)
        Ht = Tanh(t5)
        Accumulate = Identity(Ht)
    }"""
"""The body of the example in the document of Scan."""


def rnn_cell(h, x):
    wi, ri = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], F32), np.array([[0.5, 0], [0, 0.5]], F32)
    h = np.tanh(x @ wi.T + h @ ri.T + np.array([1, -1], F32) + F32(0.5))
    return h, h


@both(RNN, rnn_cell)
@pytest.mark.parametrize("length", [1, 2, 7])
def test_rnn_of_the_document(body, length):
    x = np.linspace(-1, 1, length * 4 * 3, dtype=F32).reshape(length, 4, 3)
    last, all = whorl.scan(np.zeros((4, 2), F32), x, body=body, num_scan_inputs=1)
    h, expected = np.zeros((4, 2), F32), []
    for row in x:
        h = rnn_cell(h, row)[0]
        expected.append(h)
    np.testing.assert_allclose(last, h, rtol=1e-5)
    np.testing.assert_allclose(all, np.stack(expected), rtol=1e-5)


def test_rnn_of_length_zero_keeps_its_state_and_collects_nothing():
    start = np.ones((4, 2), F32)
    last, all = whorl.scan(start, np.zeros((0, 4, 3), F32), body=graph(RNN), num_scan_inputs=1)
    assert np.array_equal(last, start) and all.shape == (0, 4, 2) and all.dtype == F32


# ---- axes and directions -----------------------------------------------------------------------------------------

RUNNING = (
    "body (float[n] sum, float[n] x) => (float[n] total, float[n] seen) { total = Add(sum, x) seen = Identity(total) }"
)


def running(sum, x):
    return sum + x, sum + x


@both(RUNNING, running)
@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("backwards", [0, 1])
@pytest.mark.parametrize("out", [(0, 0), (1, 0), (-1, 0), (0, 1), (-2, 1)])
def test_axes_and_directions_of_a_scan(body, axis, backwards, out):
    x = np.arange(12, dtype=F32).reshape(3, 4)
    rows = np.moveaxis(x, axis, 0)[:: -1 if backwards else 1]
    sums = np.cumsum(rows, axis=0, dtype=F32)
    out_axis, prepend = out
    expected = np.stack(sums[:: -1 if prepend else 1], axis=out_axis)
    last, all = whorl.scan(
        np.zeros(rows.shape[1], F32),
        x,
        body=body,
        num_scan_inputs=1,
        scan_input_axes=[axis],
        scan_input_directions=[backwards],
        scan_output_axes=[out_axis],
        scan_output_directions=[prepend],
    )
    assert np.array_equal(last, sums[-1]) and np.array_equal(all, expected)


@both("body (float a, float b) => (float sum) { sum = Add(a, b) }", lambda a, b: a + b)
def test_scan_without_states_zips(body):
    (sums,) = whorl.scan(np.arange(3, dtype=F32), np.ones(3, F32), body=body, num_scan_inputs=2)
    assert sums.tolist() == [1, 2, 3]


# ---- what goes in and comes out ----------------------------------------------------------------------------------


def test_bodies_in_every_form(tmp_path):
    body = graph(DOUBLING)
    proto = onnx.helper.make_model(body, opset_imports=[onnx.helper.make_opsetid("", 15)], ir_version=8)
    path, text = tmp_path / "body.onnx", tmp_path / "body.onnxtxt"
    onnx.save(proto, path)
    whorl.save(proto, text)
    for form in (body, proto, proto.SerializeToString(), str(path), path, text, whorl.load(proto)):
        last, seen = whorl.loop(2, None, 1.0, body=form)
        assert last == 4 and seen.tolist() == [1, 2]


def test_same_body_serves_many_calls():
    body = whorl.load(graph(DOUBLING))
    assert [whorl.loop(n, None, 1.0, body=body)[0] for n in (3, 0, 5)] == [8, 1, 32]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "uint64", "complex64"])
def test_function_keeps_the_element_type_it_is_passed(dtype):
    (last,) = whorl.loop(2, "", np.ones(3, dtype), body=lambda i, on, x: (on, x + x))
    assert last.dtype == dtype and last.tolist() == [4, 4, 4]


def test_python_scalars_take_the_type_a_graph_declares():
    body = graph("body (int64 i, bool on, float x, int32 k) => (bool on2, float y, int32 m) "
                 "{ on2 = Identity(on) y = Add(x, x) m = Add(k, k) }")  # fmt: skip
    x, k = whorl.loop(np.array([1]), np.array([[True]]), 1.5, 3, body=body)
    assert (x.dtype, x, k.dtype, k) == (F32, 3, np.int32, 6)


@pytest.mark.parametrize("count", [3, np.int32(3), np.array(3, np.uint8), np.array([[3]]), [3]])
def test_trip_counts_of_every_form(count):
    assert whorl.loop(count, None, 1.0, body=graph(DOUBLING))[0] == 8


def test_iteration_number_and_condition_reach_the_function_as_arrays():
    seen = []
    whorl.loop(2, True, body=lambda i, on: (seen.append((i.dtype, i.shape, int(i), on.dtype, bool(on))), True)[1])
    assert seen == [(np.int64, (), 0, np.bool_, True), (np.int64, (), 1, np.bool_, True)]


def test_iteration_number_has_the_rank_that_the_body_declares():
    body = graph(
        "body (int64[1] i, bool[1] on) => (bool[1] on2, int64[1] seen) { on2 = Identity(on) seen = Identity(i) }"
    )
    assert whorl.loop(2, True, body=body)[0].tolist() == [[0], [1]]


def test_sequences_strings_and_none_are_carried():
    items, text, nothing = whorl.loop(
        2, True, [np.zeros(1)], "a", None, body=lambda i, on, xs, t, o: (on, [*xs, np.ones(i)], t.item() + "b", o)
    )
    assert [item.tolist() for item in items] == [[0], [], [1]] and text.item() == "abb" and nothing is None
    body = graph("body (int64 i, bool on, seq(int64) xs) => (bool on2, seq(int64) ys) "
                 "{ on2 = Identity(on) ys = SequenceInsert(xs, i) }")  # fmt: skip
    (numbers,) = whorl.loop(3, True, [], body=body)
    assert [item.item() for item in numbers] == [0, 1, 2] and numbers[0].dtype == np.int64


def test_input_of_a_body_with_a_default_is_a_constant():
    body = graph("body (int64 i, bool on, float x, float step) => (bool on2, float y) <float step = {0.5}> "
                 "{ on2 = Identity(on) y = Add(x, step) }")  # fmt: skip
    assert whorl.loop(4, True, 1.0, body=body) == [3]


def test_function_may_do_what_it_wants_with_its_arrays():
    start, buffer = np.zeros(2), np.zeros(2)

    def body(i, on, x):
        x += 1
        buffer[:] = i
        return on, x, buffer

    last, all = whorl.loop(3, True, start, body=body)
    assert last.tolist() == [3, 3] and all.tolist() == [[0, 0], [1, 1], [2, 2]] and start.tolist() == [0, 0]


def test_results_are_the_callers_own():
    start = np.zeros(2, F32)
    body = graph("body (int64 i, bool on, float[2] a, float[2] b) => (bool on2, float[2] c, float[2] d) "
                 "{ on2 = Identity(on) c = Identity(b) d = Identity(a) }")  # fmt: skip
    for count in (0, 1, 2):
        first, second = whorl.loop(count, True, start, start, body=body)
        first[...] = 1
        assert not second.any() and not start.any()


# ---- errors ------------------------------------------------------------------------------------------------------


def refusal(call, error=whorl.RunError):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_failing_node_of_a_graph_is_named_with_its_iteration():
    body = graph("body (int64 i, bool on) => (bool on2, float x) { on2 = Identity(on) "
                 "table = Constant<value = float[2] {1, 2}> () [look] x = Gather(table, i) }")  # fmt: skip
    text = refusal(lambda: whorl.loop(5, True, body=body))
    assert text == "Gather 'look' in body of Loop 'loop' (iteration 2): index 2 is outside [-2, 2) of axis 0"


def test_exception_of_a_function_is_its_own_with_a_note():
    with pytest.raises(ZeroDivisionError) as caught:
        whorl.loop(9, True, body=lambda i, on: (on, 1 // (3 - int(i))))
    assert caught.value.__notes__ == ["in iteration 3 of whorl.loop"]


def test_failing_loop_inside_a_function_is_located_in_the_outer_one():
    def outer(i, on):
        return on, whorl.loop(3, True, np.int64(0), body=lambda j, go, x: (go, x if i < 1 or j < 2 else float(x)))[0]

    assert refusal(lambda: whorl.loop(5, True, body=outer)) == (
        "Loop 'loop' (iteration 2) in body of Loop 'loop' (iteration 1): "
        "state 0 is int64[] before the body and float64[] after it\n  fix: keep its element type"
    )


def test_time_limit_stops_a_function():
    text = refusal(lambda: whorl.loop("", "", body=lambda i, on: (on,), timeout=0.05), whorl.TimeLimitError)
    assert text.startswith("Loop 'loop' (iteration ") and "the run took longer than 0.05 s" in text


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: whorl.loop([2, 3], True, 1.0, body=graph(DOUBLING)),
         "Loop 'loop': the trip count is int64[2], expected one element\n"
         "  fix: pass a scalar or a tensor of one element"),
        (lambda: whorl.loop([2, 3], True, 1.0, body=lambda i, on, x: (on, x)),
         "Loop 'loop': the trip count has shape [2], expected one element"),
        (lambda: whorl.loop(2.0, True, body=graph(DOUBLING)),
         "the trip count is float64[], expected int64[*]\n  fix: convert it, for example with .astype('int64')"),
        (lambda: whorl.loop(2, 2, body=graph(DOUBLING)),
         "the condition is int64[], expected bool[*]\n  fix: convert it, for example with .astype('bool')"),
        (lambda: whorl.loop(2, True, F32(1), body=graph(DOUBLING)),
         "input 'x' of the body is float32[], expected float64[*]\n"
         "  fix: convert it, for example with .astype('float64')"),
        (lambda: whorl.loop(2, True, 1.0, 2.0, body=graph(DOUBLING)),
         "the body takes 3 inputs and gives 3 outputs, expected 4 inputs and at least 3 outputs"),
        (lambda: whorl.loop(2, True, 1.0, body=lambda i, on, x: on),
         "Loop 'loop' (iteration 0): the body gave 1 values, expected 2\n  fix: return a tuple of them"),
        (lambda: whorl.loop(3, True, body=lambda i, on: (on, np.zeros(i))),
         "Loop 'loop' (iteration 1): collected value 0 is float64[1], float64[0] in the first iteration\n"
         "  fix: give elements of one shape, or carry a sequence"),
        (lambda: whorl.scan(np.zeros(2), np.zeros(3), body=running, num_scan_inputs=2),
         "Loop 'scan': the scanned inputs have different lengths: 2, 3\n  fix: scan values of one length"),
        (lambda: whorl.scan(np.zeros(2), body=running, num_scan_inputs=2),
         "num_scan_inputs is 2, with 1 arrays given"),
        (lambda: whorl.scan(0.0, np.zeros(2), body=running, num_scan_inputs=1, scan_input_axes=[0, 1]),
         "scan_input_axes has 2 entries, expected 1"),
        (lambda: whorl.scan(0.0, np.zeros(2), body=running, num_scan_inputs=1, scan_output_directions=[2]),
         "Loop 'scan' (iteration 0): scan_output_directions is [2], expected 0 (forward) or 1 (reverse)"),
        (lambda: whorl.scan(0.0, np.zeros(2), body=running, num_scan_inputs=1, scan_input_axes=[1]),
         "Loop 'scan': scanned input 0 has shape [2] and no axis 1"),
        (lambda: whorl.scan(0.0, np.zeros(2), body=lambda s, x: (np.zeros(2), x), num_scan_inputs=1),
         "Loop 'scan' (iteration 0): state 0 changes shape from [] to [2], which a Scan may not\n"
         "  fix: carry it in a Loop"),
    ],
)  # fmt: skip
def test_wrong_use_is_refused(call, text):
    assert refusal(call) == text
