"""Programs as users run them: the first run, the next one, and one at other lengths, natively and interpreted."""

import numpy as np
import pytest
from onnx_text import model

import whorl


def session(text, backend):
    options = whorl.SessionOptions()
    options.backend = backend
    return whorl.InferenceSession(model(text), options)


def outcome(run, feeds):
    """The outputs, or the class of the error."""
    try:
        return run.run(None, feeds)
    except whorl.WhorlError as error:
        return type(error)


def agree(text, runs):
    """Native code gives in every run what the interpreter gives, or fails as it fails."""
    native, oracle = session(text, "native"), session(text, "interpreter")
    for feeds in runs:
        actual, expected = outcome(native, feeds), outcome(oracle, feeds)
        if isinstance(expected, type):
            assert actual is expected, feeds
            continue
        assert not isinstance(actual, type), actual
        for x, y in zip(actual, expected, strict=True):
            assert x.dtype == y.dtype and x.shape == y.shape
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-7)


def masks(lengths, rest):
    for n in lengths:
        mask = np.zeros(n, bool)
        mask[[0, n - 2]] = True
        yield {"mask": mask, "x": np.arange(n, dtype=np.float32) * 10, **rest}


def test_scatter_nd_at_locations_only_the_run_counts_writes_every_element():
    text = """main (bool[n] mask, float[n] x, float[k] v) => (float[n] y) {
        i = NonZero(mask)
        u = Transpose <perm = [1, 0]> (i)
        y = ScatterND(x, u, v)
    }"""
    agree(text, [*masks([4, 4, 5, 9], {"v": np.float32([1, 2])}), *masks([4], {"v": np.float32([1, 2, 3])})])


def test_scatter_elements_at_locations_only_the_run_counts_writes_every_element():
    text = """main (bool[n] mask, float[n] x, float[k] v) => (float[n] y) {
        i = NonZero(mask)
        zero = Constant <value_ints = [0]> ()
        u = Squeeze(i, zero)
        y = ScatterElements <axis = 0> (x, u, v)
    }"""
    agree(text, masks([4, 4, 5, 9], {"v": np.float32([1, 2])}))


@pytest.mark.parametrize(("op", "positions"), [("ScatterND", "int64[1,1] {0}"), ("ScatterElements", "int64[1] {0}")])
def test_scatter_over_a_carried_value_leaves_what_was_read_before(op, positions):
    text = f"""main (float[2] x0) => (float[2] y, float[s,2] ys, float[2] z) {{
        M = Constant <value = int64 {{2}}> ()
        places = Constant <value = {positions}> ()
        minus = Constant <value = float[1] {{-1}}> ()
        two = Constant <value = float[1] {{2}}> ()
        y, z, ys = Loop(M, , x0, x0) <body = b (int64 i, bool c, float[2] x, float[2] w)
                => (bool c2, float[2] a, float[2] s, float[2] e) {{
            c2 = Identity(c)
            a = Add(x, two)
            s = {op}(x, places, minus)
            e = Identity(a)
        }}>
    }}"""
    agree(text, [{"x0": np.float32([2.5, -3])}] * 3)


def test_branch_that_is_not_taken_may_be_ill_typed():
    text = """main (float[a, b, c, d] x, bool u, float[1,8,3] w, float[1,8,2] r) => (y) {
        y = If(u) <then_branch = t () => (yt) { yt = Neg(x) },
                   else_branch = e () => (ye) { ye, h, c = LSTM <hidden_size = 2> (x, w, r) }>
    }"""
    rest = {"x": np.ones((1, 2, 1, 3), "f"), "w": np.ones((1, 8, 3), "f"), "r": np.ones((1, 8, 2), "f")}
    agree(text, [{"u": np.array(taken), **rest} for taken in (True, True, False, True)])


def test_column_cut_out_at_run_time_and_reshaped():
    text = """main (float[9,9] a, int64 i) => (float[9] w) {
        axis = Constant <value = int64[1] {1}> ()
        zero = Constant <value = int64[1] {0}> ()
        nine = Constant <value = int64[1] {9}> ()
        s = Unsqueeze(i, zero)
        e = Add(s, axis)
        column = Slice(a, s, e, axis)
        w = Reshape(column, nine)
    }"""
    a = np.arange(81, dtype=np.float32).reshape(9, 9)
    agree(text, [{"a": a, "i": np.array(i)} for i in (3, 8, 0, 9, -1)])


def test_column_cut_out_by_the_iteration_number_and_reshaped():
    text = """main (float[9,9] a) => (float[9] y, float[t,9] w) {
        axis = Constant <value = int64[1] {1}> ()
        zero = Constant <value = int64[1] {0}> ()
        nine = Constant <value = int64[1] {9}> ()
        n = Constant <value = int64 {9}> ()
        first = Constant <value = float {0}> ()
        x0 = Expand(first, nine)
        y, w = Loop(n, , x0) <body = b (int64 i, bool c, float[9] x) => (bool c2, float[9] x2, float[9] r) {
            c2 = Identity(c)
            s = Unsqueeze(i, zero)
            e = Add(s, axis)
            column = Slice(a, s, e, axis)
            r = Reshape(column, nine)
            x2 = Add(x, r)
        }>
    }"""
    agree(text, [{"a": np.arange(81, dtype=np.float32).reshape(9, 9)}] * 2)


def test_softmax_of_a_tensor_only_the_run_measures():
    text = "main (float[3,2] x) => (y) { n = NonZero(x)\n f = Cast <to = 1> (n)\n y = Softmax <axis = 0> (f) }"
    agree(text, [{"x": np.float32(x)} for x in (np.ones((3, 2)), np.eye(3, 2), np.zeros((3, 2)))])


def test_reshape_of_what_branches_of_two_lengths_give():
    text = """main (bool b, float[n] x) => (y) {
        ones = Constant <value = int64[2] {1, 1}> ()
        u = If(b) <then_branch = t () => (tx) { tx = Identity(x) },
                   else_branch = e () => (float[1] ex) { ex = Constant <value_floats = [-1.0]> () }>
        y = Reshape(u, ones)
    }"""
    agree(text, [{"b": np.array(b), "x": np.ones(n, "f")} for n in (0, 1, 3) for b in (False, True)])


def test_branch_with_lengths_only_an_input_tells_beside_a_constant_condition():
    text = """main (int64[2] s, float x) => (y) <bool t = {1}> {
        v = Expand(x, s)
        u = Not(t)
        y = If(u) <else_branch = taken () => (v2) { v2 = Identity(v) },
                   then_branch = other () => (c) { c = Constant <value = float[1,1] {1}> () }>
    }"""
    agree(text, [{"s": np.array(s), "x": np.float32(8)} for s in ([1, 1], [2, 3], [0, 2])])


def test_integers_that_a_program_was_made_for_may_become_many():
    text = """main (int64[k] s, int64 M, float[a] x) => (y, z) {
        z = Identity(s)
        y = Loop(M, , x) <body = b (int64 i, bool c, float[a] v) => (bool c2, float[a] w) {
            c2 = Identity(c)
            w = Loop(M, , v) <body = b2 (int64 i2, bool d, float[a] p) => (bool d2, float[a] p) { d2 = Identity(d) }>
        }>
    }"""
    rest = {"M": np.array(3), "x": np.ones(2, np.float32)}
    agree(text, [{"s": np.ones(k, np.int64), **rest} for k in (2, 20, 3) for _ in range(3)])


def test_lengths_of_zero_after_others():
    text = """main (double[n, m] x, int32[k] like) => (y, places) {
        count = Shape(like)
        y, places = TopK <largest = 0> (x, count)
    }"""
    runs = [np.zeros(shape) for shape in ((2, 5), (1, 5), (0, 5), (2, 0), (3, 7))]
    agree(text, [{"x": x, "like": np.zeros(x.shape[1], np.int32)} for x in runs])


@pytest.mark.parametrize("op", ["Expand", "Reshape"])
def test_shape_of_a_tensor_only_the_run_measures_must_fit(op):
    text = f"""main (bool[n] b, float[4] v) => (y) {{
        i = NonZero(b)
        zero = Constant <value = int64[1] {{0}}> ()
        u = Squeeze(i, zero)
        s = Shape(u)
        y = {op}(v, s)
    }}"""
    agree(text, [{"b": np.arange(8) < count, "v": np.ones(4, np.float32)} for count in (4, 3, 1, 0, 8, 4)])
