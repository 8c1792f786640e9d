"""`embed`: which regions go into the library, which stay and why, what is written."""

import platform
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import onnx
import pytest
from compilers import C
from embed.running import embedded_session, plain_session
from onnx_text import model

import whorl

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")

TWO = """
    main (float[n] x, float[3] start, int64 count) => (float[m, 3] seen, float[n] y, float[3] last) {
        [first] last, seen = Loop (count, "", start) <
            body = step (int64 i, bool go, float[3] h) => (bool on, float[3] a, float[3] b) {
                on = Identity(go)
                a = Add(h, start)
                b = Identity(a)
            }>
        [second] y = Loop (count, "", x) <body = again (int64 i, bool go, float[n] h) => (bool on, float[n] a) {
            on = Identity(go)
            a = Mul(h, weights)
        }>
    }"""


def two(count: int = 1) -> onnx.ModelProto:
    proto = model(TWO)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.full(count, 0.5, np.float32), "weights"))
    return proto


def feeds(count: int, n: int = 4) -> dict[str, np.ndarray]:
    return {"x": np.arange(n, dtype=np.float32), "start": np.ones(3, np.float32), "count": np.array(count)}


def assert_equal(actual, expected) -> None:
    for a, e in zip(actual, expected, strict=True):
        assert a.shape == e.shape and a.dtype == e.dtype
        np.testing.assert_array_equal(a, e)


def test_loops_become_ops_that_give_the_same_at_all_lengths(tmp_path):
    session, made = embedded_session(two(), tmp_path)
    assert [(region.title, region.reason) for region in made.regions] == [("Loop 'first'", ""), ("Loop 'second'", "")]
    nodes = onnx.load(made.model).graph.node
    assert [node.domain for node in nodes] == ["ai.whorl", "ai.whorl"]
    plain = plain_session(two().SerializeToString())
    for count, n in ((0, 4), (1, 1), (5, 0), (1000, 7), (2, 100)):
        assert_equal(session.run(None, feeds(count, n)), plain.run(None, feeds(count, n)))


def test_weights_of_one_region_lie_in_the_library_alone(tmp_path):
    _, made = embedded_session(two(), tmp_path)
    assert not onnx.load(made.model).graph.initializer
    shared = two(300)
    shared.graph.node.append(onnx.helper.make_node("Neg", ["weights"], ["w"]))
    session, made = embedded_session(shared, tmp_path)
    assert [tensor.name for tensor in onnx.load(made.model).graph.initializer] == ["weights"]
    assert_equal(session.run(None, feeds(3, 300)), plain_session(shared.SerializeToString()).run(None, feeds(3, 300)))


def test_weights_lie_in_the_model_where_the_caller_says_so(tmp_path):
    session, made = embedded_session(two(300), tmp_path, weights="model")
    assert [tensor.name for tensor in onnx.load(made.model).graph.initializer] == ["weights"]
    assert_equal(session.run(None, feeds(3, 300)), plain_session(two(300).SerializeToString()).run(None, feeds(3, 300)))
    with pytest.raises(whorl.CompileError) as caught:
        whorl.embed(two(), tmp_path / "m.onnx", weights="both")
    assert str(caught.value) == "weights is 'both'\n  fix: use 'library' or 'model'"


def test_only_and_keep_choose_by_name(tmp_path):
    for options in ({"only": ["first"]}, {"keep": ["second"]}):
        session, made = embedded_session(two(), tmp_path, **options)
        assert [region.reason for region in made.regions] == ["", "was to stay"]
        assert session.run(["y"], feeds(1))[0].tolist() == [0, 0.5, 1, 1.5]
    with pytest.raises(whorl.CompileError) as caught:
        whorl.embed(two(), tmp_path / "m.onnx", only=["third"])
    assert str(caught.value) == "no outermost loop or branch is named 'third'\n  fix: choose from first, second"


def test_regions_without_a_native_form_stay_with_the_reason(tmp_path):
    text = """main (float[n] x, bool b) => (seq(float[n]) s, string[1] t, float d) {
        s = If (b) <
            then_branch = yes () => (seq(float[n]) u) { u = SequenceConstruct(x) },
            else_branch = no () => (seq(float[n]) v) { v = SequenceConstruct(x, x) }>
        a = Constant<value = string[1] {"a"}> ()
        t = If (b) <
            then_branch = yes () => (string[1] f) { f = Identity(a) },
            else_branch = no () => (string[1] g) { g = Identity(a) }>
        d = If (b) <
            then_branch = yes () => (float i) { i = ReduceSum<keepdims = 0>(x) },
            else_branch = no () => (float k) { r = RandomNormalLike(x) k = ReduceSum<keepdims = 0>(r) }>
    }"""
    session, made = embedded_session(model(text), tmp_path)
    assert made.library == "" and [region.reason for region in made.regions] == [
        "'s' is seq(float32[n]), and libraries take only tensors",
        "'a' has elements of type string, which libraries do not take",
        "the model cannot be compiled ahead of time: RandomNormalLike is not pure and has no native form",
    ]
    assert session.run(["d"], {"x": np.ones(3, np.float32), "b": np.array(True)})[0] == 3


@pytest.mark.parametrize("folder", ["named", "current"])
def test_model_that_is_embedded_again_runs_beside_the_old_one(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    text = """main (float[4] x, int64 n) => (float[4] y) {
        y = Loop (n, "", x) <body = step (int64 i, bool go, float[4] h) => (bool on, float[4] a) {
            on = Identity(go)
            a = OP(h, x)
        }>
    }"""
    path = tmp_path / "again.onnx" if folder == "named" else Path("again.onnx")
    sessions, feeds = [], {"x": np.full(4, 3, np.float32), "n": np.array(2)}
    for op, expected in (("Add", 9), ("Sub", -3), ("Mul", 27)):
        made = whorl.embed(model(text.replace("OP", op)), path)
        options = onnxruntime.SessionOptions()
        options.register_custom_ops_library(made.library)
        sessions.append((onnxruntime.InferenceSession(made.model, options), expected))
        assert Path(made.library).resolve().parent == tmp_path.resolve()
        assert [session.run(None, feeds)[0][0] for session, _ in sessions] == [value for _, value in sessions]


def test_model_with_foreign_ops_around_loops_is_embedded(tmp_path):
    proto = model("""main (float[3, 4] x, int64 n) => (int32[2, t] y) {
        z = Gelu(x)
        y = Loop (n, "", z) <body = step (int64 i, bool go, int32[2, t] h) => (bool on, int32[2, t] a) {
            on = Identity(go)
            a = Add(h, z)
        }>
    }""")
    proto.graph.node[0].domain, proto.graph.node[0].op_type = "com.microsoft", "DynamicTimeWarping"
    proto.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))
    proto.graph.value_info.append(onnx.helper.make_tensor_value_info("z", 6, [2, "t"]))
    with pytest.raises(whorl.UnsupportedError):
        whorl.load(proto)
    session, made = embedded_session(proto, tmp_path)
    assert made.library
    f = {"x": np.float32([[2, 1, 0, 1], [0, 4, 1, 3], [1, 0, 8, 0]]), "n": np.array(5)}
    assert_equal(session.run(None, f), plain_session(proto.SerializeToString()).run(None, f))


def test_lengths_that_disagree_give_the_text_of_a_status(tmp_path):
    text = """main (float[n] x, float[m] y, int64 k) => (float[n] z) {
        [add] z = Loop (k, "", x) <body = step (int64 i, bool go, float[n] h) => (bool on, float[n] a) {
            on = Identity(go)
            a = Add(h, y)
        }>
    }"""
    session, _ = embedded_session(model(text), tmp_path)
    good = {"x": np.ones(3, np.float32), "y": np.ones(3, np.float32), "k": np.array(2)}
    assert session.run(None, good)[0].tolist() == [3, 3, 3]
    with pytest.raises(
        Exception, match=r"Status Message: Loop 'add': Add 'a' in body of Loop 'add' \(iteration 0\): "
    ) as caught:
        session.run(None, good | {"y": np.ones(2, np.float32)})
    assert "the lengths are others than this program can take" in str(caught.value)
    assert session.run(None, good)[0].tolist() == [3, 3, 3]


def test_lengths_of_one_broadcast_as_without(tmp_path):
    text = """main (float[n, c] x, float[m, d] y, int64 k) => (float[p, q] z) {
        z = Loop (k, "", x) <body = step (int64 i, bool go, float[e, f] h) => (bool on, float[e2, f2] a) {
            on = Identity(go)
            s = Mul(x, y)
            t = Add(x, y)
            a = Sub(s, t)
        }>
    }"""
    session, made = embedded_session(model(text), tmp_path)
    assert made.library
    plain, rng = plain_session(model(text).SerializeToString()), np.random.default_rng(0)
    for a, b in (((2, 3), (2, 3)), ((1, 3), (4, 3)), ((2, 3), (2, 1)), ((2, 3), (1, 3)), ((5, 1), (5, 4))):
        feeds = {"x": rng.random(a, np.float32), "y": rng.random(b, np.float32), "k": np.array(3)}
        assert_equal(session.run(None, feeds), plain.run(None, feeds))


@pytest.mark.parametrize("shape", ["", "[1]"])
def test_rows_are_collected_for_any_trip_count(tmp_path, shape):
    text = f"""main (int64{shape} n, float[m] x, float[q, 2] y) => (float[k, 2] sums, int64[k] rest, int64{shape} s) {{
        tens = Constant<value = int64 {{10}}> ()
        [l] last, rows, rest = Loop (n, "", x) <
            body = step (int64 i, bool go, float[m] h) => (bool on, float[m] next, float[m] row, int64 left) {{
                on = Identity(go)
                next = Add(h, x)
                row = Neg(h)
                axes = Constant<value = int64[1] {{0}}> ()
                scalar = ReduceSum<keepdims = 0>(n, axes)
                left = Mod(tens, {"scalar" if shape else "n"})
            }}>
        sums = Add(rows, y)
        s = Add(n, tens)
    }}"""
    text = text if shape else text.replace("scalar = ReduceSum<keepdims = 0>(n, axes)", "")
    session, made = embedded_session(model(text), tmp_path)
    assert made.library and made.regions[0].nodes > 1
    plain, x = plain_session(model(text).SerializeToString()), np.float32([1, 2])
    for n, q in ((3, 3), (3, 1), (1, 4), (1, 1), (0, 0), (-2, 0), (-(1 << 62), 0), (1000, 1000)):
        feeds = {"n": np.full((1,) if shape else (), n), "x": x, "y": np.ones((q, 2), np.float32)}
        results = session.run(None, feeds)
        if n > 0:
            assert_equal(results, plain.run(None, feeds))
        else:
            assert [y.shape for y in results[:2]] == [(0, 2), (0,)] and results[2] == n + 10
    for n in (1 << 44, 1 << 58, (1 << 63) - 1):
        with pytest.raises(Exception, match="Loop 'l': memory was refused"):
            session.run(None, feeds | {"n": np.full((1,) if shape else (), n)})


def test_loop_that_may_stop_collects_until_it_does(tmp_path):
    text = """main (int64 n, bool go, float[2] x) => (float[k, 2] rows) {
        last, rows = Loop (n, go, x) <
            body = step (int64 i, bool g, float[2] h) => (bool on, float[2] next, float[2] row) {
                limit = Constant<value = int64 {3}> ()
                on = Less(i, limit)
                next = Add(h, h)
                row = Neg(next)
            }>
    }"""
    session, made = embedded_session(model(text), tmp_path)
    assert made.library
    for n, count in ((2, 2), (1 << 62, 4), (0, 0)):
        feeds = {"n": np.array(n), "go": np.array(True), "x": np.float32([1, 2])}
        assert session.run(None, feeds)[0].tolist() == [[-2.0 * 2**k, -4.0 * 2**k] for k in range(count)]


def test_threads_run_one_session_at_once(tmp_path):
    session, _ = embedded_session(two(), tmp_path)
    plain = plain_session(two().SerializeToString())
    expected = [plain.run(None, feeds(k, 50 + k)) for k in range(8)]
    failures: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for k in range(200):
                number = (first + k) % 8
                assert_equal(session.run(None, feeds(number, 50 + number)), expected[number])
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_other_ending_is_refused(tmp_path):
    with pytest.raises(whorl.CompileError) as caught:
        whorl.embed(two(), tmp_path / "m.xml")
    assert str(caught.value) == "'m.xml' is no name of an ONNX model\n  fix: end it in .onnx"


def test_what_is_no_onnx_model_is_refused_and_nothing_is_written(tmp_path):
    (tmp_path / "empty.onnx").touch()
    with pytest.raises(whorl.LoadError, match="the model has no graph"):
        whorl.embed(tmp_path / "empty.onnx", tmp_path / "out.onnx")
    whorl.save(two(), tmp_path / "model.xml")
    with pytest.raises(whorl.LoadError) as caught:
        whorl.embed(tmp_path / "model.xml", tmp_path / "out.onnx")
    assert str(caught.value) == "the model is OpenVINO IR, not ONNX\n  fix: whorl convert MODEL model.onnx"
    assert not (tmp_path / "out.onnx").exists()


def test_objects_for_a_target_are_linked_by_its_compiler(tmp_path):
    machine = platform.machine()
    made = whorl.embed(two(), tmp_path / "out.onnx", target=f"{machine}-linux-gnu")
    objects = sorted(Path(made.library).iterdir())
    assert made.library == str(tmp_path / "out.whorl") and len(objects) == 4
    if not sys.platform.startswith("linux"):
        return
    subprocess.run([*C, "-shared", "-o", str(tmp_path / "out.so"), *map(str, objects), "-lm"], check=True)
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(str(tmp_path / "out.so"))
    plain = plain_session(two().SerializeToString())
    assert_equal(onnxruntime.InferenceSession(made.model, options).run(None, feeds(5)), plain.run(None, feeds(5)))


@pytest.mark.parametrize(("target", "number"), [("aarch64-linux-gnu", 183), ("riscv64-linux-gnu", 243)])
def test_objects_are_for_the_target(tmp_path, target, number):
    (tmp_path / "out.whorl").mkdir()
    (tmp_path / "out.whorl" / "old.o").write_bytes(b"")
    made = whorl.embed(two(), tmp_path / "out.onnx", target=target)
    files = list(Path(made.library).iterdir())
    assert {int.from_bytes(file.read_bytes()[18:20], "little") for file in files} == {number}
    assert "registration.o" in {file.name for file in files}


def test_cpu_alone_gives_a_library(tmp_path):
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("the CPU is one of x86-64")
    session, _ = embedded_session(two(), tmp_path, cpu="x86-64-v2")
    assert_equal(session.run(None, feeds(5)), plain_session(two().SerializeToString()).run(None, feeds(5)))


def test_other_machines_are_not_measured(tmp_path):
    with pytest.raises(whorl.CompileError) as caught:
        whorl.embed(two(), tmp_path / "out.onnx", target="aarch64-linux-gnu", inputs=feeds(5))
    assert str(caught.value) == (
        "what another machine takes cannot be measured here\n  fix: leave out the inputs, or the target"
    )
