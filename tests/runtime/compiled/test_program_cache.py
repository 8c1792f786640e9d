"""Segments in a session: what becomes native, what is compiled again, what is left to the interpreter, and failures."""

import pickle
import threading
import time

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.runtime.compiled.launch import Launch
from whorl.runtime.compiled.partition import CompiledSubgraph
from whorl.runtime.compiled.program_cache import MOST_SIGNATURES

F32 = np.float32
SUM = model("main (float[n] x, float[n] y) => (float[n] z) { s = Add(x, y) z = Mul(s, x) }")
RESHAPED = model("main (float[a, b] x, int64[k] shape) => (y) { n = Neg(x) y = Reshape(n, shape) }")
UNIQUE = model("""main (float[n] x) => (float[k] y, float[n] z) {
    a = Neg(x)
    u = Unique(a)
    y = Abs(u)
    z = Exp(a)
}""")
ROW = model("main (float[n, 2] x, int64 i) => (float[2] y) { a = Neg(x) [read] b = Gather(a, i) y = Abs(b) }")
DOUBLED = model("""main (int64 n, float[3] x) => (float[3] y) {
    [double] y = Loop (n, "", x) <body = b (int64 i, bool go, float[3] h) => (bool on, float[3] next) {
        on = Identity(go)
        next = Add(h, h)
    }>
}""")


def session(proto, backend="native", **limits) -> whorl.InferenceSession:
    options = whorl.SessionOptions()
    options.backend = backend
    for name, value in limits.items():
        setattr(options, name, value)
    return whorl.InferenceSession(proto, options)


def both(proto, feeds) -> whorl.InferenceSession:
    """A native session that has given, twice, what the interpreter gives."""
    made = session(proto)
    for _ in range(2):
        for e, f in zip(session(proto, "interpreter").run(None, feeds), made.run(None, feeds), strict=True):
            np.testing.assert_allclose(f, e, rtol=1e-6)
            assert (f.dtype, f.shape) == (e.dtype, e.shape)
    return made


def subgraph(made: whorl.InferenceSession) -> CompiledSubgraph:
    (part,) = made.plan.parts
    assert isinstance(part, CompiledSubgraph)
    return part


def launches(made: whorl.InferenceSession) -> int:
    return sum(isinstance(found, Launch) for found in subgraph(made).cache.programs.values())


@pytest.mark.parametrize("length", [0, 1, 7, 1000])
def test_straight_line_is_one_program(length):
    made = both(SUM, {"x": np.arange(length, dtype=F32), "y": np.ones(length, F32)})
    assert launches(made) == 1


def test_each_shape_has_its_program_up_to_a_limit():
    made = session(SUM)
    for length in range(2 * MOST_SIGNATURES):
        (z,) = made.run(None, {"x": np.full(length, 3, F32), "y": np.ones(length, F32)})
        assert z.tolist() == [12.0] * length
    assert launches(made) == MOST_SIGNATURES


def test_shape_that_an_input_holds_is_part_of_the_signature():
    made = session(RESHAPED)
    for shape in ([2, 6], [6, 2], [12], [2, 6], [-1, 4]):
        (y,) = made.run(None, {"x": np.ones((3, 4), F32), "shape": np.array(shape)})
        assert y.shape == np.ones(12).reshape(shape).shape
    assert 1 <= launches(made) <= 4


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


def test_op_without_a_native_form_splits_the_subgraph():
    made = both(UNIQUE, {"x": np.arange(5000, dtype=F32) % 100})
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


def test_long_loop_runs_on_its_own():
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
    assert subgraph(made).parts
    assert not made._fast_path.launches
    assert made.run(None, {"n": np.array(2), "x": np.array(7)})[0] == 8


def test_iterations_are_counted_where_they_are_limited():
    made = session(DOUBLED, max_iterations=4)
    assert made.run(None, {"n": np.array(4), "x": np.ones(3, F32)})[0].tolist() == [16.0] * 3
    with pytest.raises(whorl.IterationLimitError, match="more than 4 iterations"):
        made.run(None, {"n": np.array(5), "x": np.ones(3, F32)})


def test_shapes_that_grow_in_an_interpreted_body_compile_nothing():
    proto = model("""main (int64 n, float[k] x) => (float[m] y, seq(float[d]) all) {
        none = SequenceEmpty()
        y, all = Loop (n, "", x, none) <body = b (int64 i, bool go, float[a] h, seq(float[e]) s)
            => (bool on, float[c] next, seq(float[f]) t) {
            on = Identity(go)
            twice = Concat<axis = 0>(h, h)
            next = Neg(twice)
            u = Unique(next)
            t = SequenceInsert(s, u)
        }>
    }""")
    made = session(proto)
    y, everything = made.run(None, {"n": np.array(8), "x": np.ones(1, F32)})
    assert y.shape == (256,)
    assert len(everything) == 8


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


def test_results_of_earlier_runs_stay_what_they_were():
    made = session(SUM)
    first = made.run(None, {"x": np.ones(3, F32), "y": np.ones(3, F32)})[0]
    second = made.run(None, {"x": np.zeros(3, F32), "y": np.ones(3, F32)})[0]
    assert (first.tolist(), second.tolist()) == ([2, 2, 2], [0, 0, 0])


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


def test_feed_of_another_form_is_checked_after_a_direct_run():
    made, feeds = session(SUM), {"x": np.ones(3, F32), "y": np.ones(3, F32)}
    for _ in range(3):
        made.run(None, feeds)
    with pytest.raises(whorl.RunError, match="input 'y' is float64"):
        made.run(None, feeds | {"y": np.ones(3)})
    with pytest.raises(whorl.RunError, match="has no input 'z'"):
        made.run(None, feeds | {"z": np.ones(3, F32)})
    with pytest.raises(whorl.RunError, match="missing inputs: 'y'"):
        made.run(None, {"x": np.ones(3, F32)})
    assert made.run(["z"], {"x": [1, 1, 1], "y": np.ones(3, F32)})[0].tolist() == [2, 2, 2]


def test_memory_limit_holds():
    made = session(SUM, max_memory=4096)
    assert made.run(None, {"x": np.ones(100, F32), "y": np.ones(100, F32)})[0].shape == (100,)
    with pytest.raises(whorl.MemoryLimitError):
        made.run(None, {"x": np.ones(2000, F32), "y": np.ones(2000, F32)})


def test_objects_with_dlpack_are_read_without_a_copy():
    class Exported:
        def __init__(self, array: np.ndarray) -> None:
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    (z,) = session(SUM).run(None, {"x": Exported(np.ones(3, F32)), "y": np.ones(3, F32)})
    assert z.tolist() == [2, 2, 2]
    assert np.from_dlpack(z).tolist() == [2, 2, 2]


def test_without_a_compiler_everything_is_interpreted(monkeypatch):
    monkeypatch.setattr("whorl.runtime.compiled.compiler.is_available", lambda: False)
    monkeypatch.setattr("whorl.runtime.compiled.loop_programs.is_available", lambda: False)
    made = session(DOUBLED)
    assert made.run(None, {"n": np.array(5), "x": np.ones(3, F32)})[0].tolist() == [32.0] * 3
    assert not any(isinstance(part, CompiledSubgraph) for part in made.plan.parts)
