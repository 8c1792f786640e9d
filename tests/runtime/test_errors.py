"""What a failed run says, whole: which node in which region of which loop, in which iteration, and the fix."""

import numpy as np
import pytest
from onnx_text import ROLLOUT, model

import whorl

F32 = np.float32
pytestmark = pytest.mark.usefixtures("each_backend")


def message(proto, **feeds):
    """What the error of a run says."""
    session = whorl.InferenceSession(proto)
    with pytest.raises(whorl.RunError) as caught:
        session.run(None, feeds)
    return str(caught.value)


def test_op_in_a_loop_names_node_loop_and_iteration():
    text = message(ROLLOUT, count=np.array(50), table=np.zeros(12, F32))
    position = "Gather 'read_row' in body of Loop 'rollout' (iteration 12)"
    assert text == f"{position}: index 12 is outside [-12, 12) of axis 0"


def test_nested_loops_and_branches_are_all_named():
    proto = model("""
        main (int64 outer, float[3] table) => (float total) {
            keep_going = Constant<value = bool {1}> ()
            zero = Constant<value = float {0}> ()
            five = Constant<value = int64 {5}> ()
            [weeks] total = Loop (outer, keep_going, zero) <body = week (int64 w, bool go_on, float sum)
                => (bool go_on_out, float sum_out) {
                go_on_out = Identity(go_on)
                one = Constant<value = int64 {1}> ()
                is_late = GreaterOrEqual(w, one)
                [late] sum_out = If (is_late) <
                    then_branch = after () => (float added) {
                        [days] added = Loop (five, keep_going, sum) <body = day (int64 d, bool on, float s)
                            => (bool on_out, float s_out) {
                            on_out = Identity(on)
                            [price] p = Gather(table, d)
                            s_out = Add(s, p)
                        }>
                    },
                    else_branch = before () => (float same) { same = Identity(sum) }
                >
            }>
        }""")
    assert message(proto, outer=np.array(4), table=np.zeros(3, F32)) == (
        "Gather 'price' in body of Loop 'days' (iteration 3) in then_branch of If 'late' "
        "in body of Loop 'weeks' (iteration 1): index 3 is outside [-3, 3) of axis 0"
    )


def test_node_without_a_name_is_called_by_its_output():
    proto = model("main (float[a] x, int64 k) => (float y) { y = Gather(x, k) }")
    text = message(proto, x=np.zeros(2, F32), k=np.array(7))
    assert text == "Gather 'y': index 7 is outside [-2, 2) of axis 0"


def test_shapes_that_do_not_broadcast_name_the_values_and_their_types():
    proto = model("main (float[a] x, float[b] y) => (float[c] z) { [sum] z = Add(x, y) }")
    assert message(proto, x=np.zeros(2, F32), y=np.zeros(3, F32)) == (
        "Add 'sum': cannot broadcast [2] with [3]: lengths 2 and 3 do not broadcast (x: float32[2], y: float32[3])\n"
        "  fix: make them equal or one of them 1"
    )


def test_collected_value_that_changes_shape_names_loop_iteration_and_both_shapes():
    proto = model("""
        main (int64 count) => (int64[n, m] rows) {
            keep_going = Constant<value = bool {1}> ()
            [grow] rows = Loop (count, keep_going) <body = step (int64 i, bool go_on)
                => (bool go_on_out, int64[k] row) {
                go_on_out = Identity(go_on)
                zero = Constant<value = int64 {0}> ()
                one = Constant<value = int64 {1}> ()
                row = Range(zero, i, one)
            }>
        }""")
    assert message(proto, count=np.array(3)) == (
        "Loop 'grow' (iteration 1): collected value 0 is int64[1], int64[0] in the first iteration\n"
        "  fix: give elements of one shape, or carry a sequence"
    )


def test_error_of_an_inner_loop_itself_names_its_iteration_and_the_outer_one():
    proto = model("""
        main (int64 count) => (int64[m, k] rows) {
            keep_going = Constant<value = bool {1}> ()
            [outer] rows = Loop (count, keep_going) <body = step (int64 i, bool go_on)
                => (bool go_on_out, int64[k] last) {
                go_on_out = Identity(go_on)
                zero = Constant<value = int64 {0}> ()
                one = Constant<value = int64 {1}> ()
                none = Range(zero, zero, one)
                [inner] last, all = Loop (count, go_on, none) <body = step (int64 j, bool on, int64[h] held)
                    => (bool on_out, int64[h2] grown, int64[h3] seen) {
                    on_out = Identity(on)
                    axis = Constant<value = int64[1] {0}> ()
                    more = Unsqueeze(j, axis)
                    grown = Concat<axis = 0>(held, more)
                    seen = Identity(held)
                }>
            }>
        }""")
    assert message(proto, count=np.array(2)) == (
        "Loop 'inner' (iteration 1) in body of Loop 'outer' (iteration 0): "
        "collected value 0 is int64[1], int64[0] in the first iteration\n"
        "  fix: give elements of one shape, or carry a sequence"
    )


def test_trip_count_of_two_elements_is_refused_by_name_and_shape():
    proto = model("""
        main (int64[n] count) => (float last) {
            start = Constant<value = float {1}> ()
            [twice] last = Loop (count, "", start) <body = step (int64 i, bool on, float x)
                => (bool on_out, float x_out) {
                on_out = Identity(on)
                x_out = Neg(x)
            }>
        }""")
    text = message(proto, count=np.array([2, 3]))
    assert text == "Loop 'twice': the trip count has shape [2], expected one element"


def test_condition_of_two_elements_names_the_iteration():
    proto = model("""
        main (bool[n] flags) => (float last) {
            keep_going = Constant<value = bool {1}> ()
            start = Constant<value = float {1}> ()
            [twice] last = Loop ("", keep_going, start) <body = step (int64 i, bool on, float x)
                => (bool[n] on_out, float x_out) {
                on_out = Identity(flags)
                x_out = Neg(x)
            }>
        }""")
    text = message(proto, flags=np.array([True, False]))
    assert text == "Loop 'twice' (iteration 0): the body's condition has shape [2], expected one element"


def test_scan_of_two_lengths_shows_both():
    proto = model("""
        main (float[n] a, float[m] b) => (float[k] sums) {
            [zip] sums = Scan (a, b) <num_scan_inputs = 2, body = step (float x, float y) => (float sum) {
                sum = Add(x, y)
            }>
        }""")
    assert message(proto, a=np.zeros(4, F32), b=np.zeros(3, F32)) == (
        "Loop 'zip': the scanned inputs have different lengths: 4, 3\n  fix: scan values of one length"
    )


def test_state_of_a_scan_that_changes_shape_is_refused():
    proto = model("""
        main (float[n] start, float[m] steps) => (float[k] last) {
            [grow] last = Scan (start, steps) <num_scan_inputs = 1, body = step (float[h] held, float x)
                => (float[h2] grown) {
                axis = Constant<value = int64[1] {0}> ()
                more = Unsqueeze(x, axis)
                grown = Concat<axis = 0>(held, more)
            }>
        }""")
    assert message(proto, start=np.zeros(1, F32), steps=np.zeros(3, F32)) == (
        "Loop 'grow' (iteration 0): state 0 changes shape from [1] to [2], which a Scan may not\n"
        "  fix: carry it in a Loop"
    )
