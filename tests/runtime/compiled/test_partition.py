"""Partition: what becomes native, what is left to the interpreter, and failures."""

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import DOUBLED, F32, both, launches, session, subgraph

import whorl

BANDS = model("""main (float[n] x, int64 size) => (float[k, 2] y, float[n] z) {
    a = Neg(x)
    twice = Add(size, size)
    bands = Constant<value_int = 2> () rate = Constant<value_int = 16000> ()
    low = Constant<value_float = 0.0> () high = Constant<value_float = 8000.0> ()
    u = MelWeightMatrix(bands, twice, rate, low, high)
    y = Abs(u)
    z = Exp(a)
}""")
ROW = model("main (float[n, 2] x, int64 i) => (float[2] y) { a = Neg(x) [read] b = Gather(a, i) y = Abs(b) }")


def test_op_without_a_native_form_splits_the_subgraph():
    made = both(BANDS, {"x": np.arange(5000, dtype=F32) % 100, "size": np.array(5000)})
    assert [verdict.how for verdict in made.explain()] == ["native", "interpreted", "native"]


def test_failure_names_the_node_as_the_interpreter_does():
    feeds = {"x": np.zeros((3, 2), F32), "i": np.array(3)}
    made = session(ROW)
    assert made.run(None, feeds | {"i": np.array(2)})[0].shape == (2,)
    messages = []
    for each in (made, session(ROW, "interpreter")):
        with pytest.raises(whorl.RunError) as caught:
            each.run(None, feeds)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert "Gather 'read'" in messages[0]
    assert made.run(None, feeds | {"i": np.array(-1)})[0].shape == (2,)


@pytest.mark.parametrize("trips", [0, 1, 5, 60])
def test_short_loop_is_part_of_its_subgraph(trips):
    made = session(DOUBLED)
    (y,) = made.run(None, {"n": np.array(trips), "x": np.ones(3, F32)})
    assert y.tolist() == [2.0**trips] * 3
    assert launches(made) == 1


def test_long_loop_is_part_of_its_subgraph():
    proto = model("""main (int64 n, int64 x) => (int64 y) {
        y = Loop (n, "", x) <body = b (int64 i, bool go, int64 h) => (bool on, int64 next) {
            on = Identity(go)
            next = Sub(i, h)
        }>
    }""")
    made = session(proto)
    trips = (1 << 24) + 1
    for _ in range(3):
        assert made.run(None, {"n": np.array(trips), "x": np.array(7)})[0] == trips // 2 - 7
    assert not subgraph(made).parts
    assert launches(made) == 1
    assert made.run(None, {"n": np.array(2), "x": np.array(7)})[0] == 8


WHILE = model("""main (int64 least, int64 x) => (int64 y) {
    most = Constant <value = int64 {9223372036854775807}> ()
    first = Greater(x, least)
    y = Loop (most, first, x) <body = b (int64 i, bool go, int64 h) => (bool on, int64 next) {
        one = Constant <value = int64 {1}> ()
        next = Sub(h, one)
        on = Greater(next, least)
    }>
}""")


@pytest.mark.parametrize("trips", [0, 1, 60])
def test_loop_that_its_condition_ends_is_part_of_its_subgraph(trips):
    made = session(WHILE)
    for _ in range(2):
        assert made.run(None, {"least": np.array(2), "x": np.array(2 + trips)})[0] == 2
    assert launches(made) == 1
    assert not subgraph(made).parts


def test_loop_that_its_condition_does_not_end_for_long_is_part_of_its_subgraph():
    made, trips = session(WHILE), (1 << 24) + 1
    for _ in range(3):
        assert made.run(None, {"least": np.array(2), "x": np.array(2 + trips)})[0] == 2
    assert not subgraph(made).parts
    assert launches(made) == 1


GROWING = model(
    """main (int64 n, float[a, 2] x) => (float[b, 2] y) {
    y = Loop (n, "", x) <body = b (int64 i, bool go, float[c, 2] h) => (bool on, float[d, 2] next) {
        on = Identity(go)
        zero = Constant <value = int64 {0}> ()
        first = Gather(h, zero)
        most = ReduceMax <keepdims = 0> (h)
        moved = Add(first, most)
        row = Reshape <allowzero = 0> (moved, shape)
        next = Concat <axis = 0> (h, row)
    }>
}""".replace("y = Loop", "shape = Constant <value = int64[2] {1, 2}> () y = Loop")
)


@pytest.mark.parametrize("trips", [0, 3, 2000])
def test_loop_over_what_it_grows_is_part_of_its_subgraph(trips):
    made, oracle = session(GROWING), session(GROWING, "interpreter")
    feeds = {"n": np.array(trips), "x": np.ones((2, 2), F32)}
    for each in (made.run(None, feeds)[0], made.run(None, feeds)[0]):
        np.testing.assert_array_equal(each, oracle.run(None, feeds)[0])
    assert not subgraph(made).parts
    assert launches(made) == 1


def test_endless_loop_of_a_subgraph_ends_with_the_time():
    made = session(WHILE, timeout=0.2)
    assert made.run(None, {"least": np.array(2), "x": np.array(5)})[0] == 2
    with pytest.raises(whorl.TimeLimitError):
        made.run(None, {"least": np.array(-(1 << 62)), "x": np.array(1 << 62)})
    assert launches(made) == 1


def test_iterations_are_counted_where_they_are_limited():
    made = session(DOUBLED, max_iterations=4)
    assert made.run(None, {"n": np.array(4), "x": np.ones(3, F32)})[0].tolist() == [16.0] * 3
    with pytest.raises(whorl.IterationLimitError, match="more than 4 iterations"):
        made.run(None, {"n": np.array(5), "x": np.ones(3, F32)})
