"""Prepared sessions: a second session on the same bytes runs without a module, and gives what a whole one gives."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx_text import model

import whorl
from whorl.codegen import cache
from whorl.codegen.target import _linked, _recent
from whorl.runtime.compiled import fast_path, prepared
from whorl.runtime.compiled.program_cache import ProgramCache

F32 = np.float32
PERCEPTRON = """main (float[n, 4] x) => (float[n, 3] y) {
  w = Constant <value = float[4, 3] {1, -1, 0.5, 2, 0.25, -0.5, 1, 1, -2, 0.5, -1, 1}> ()
  product = MatMul (x, w)
  y = Softmax <axis = -1> (product)
}"""
FACTORIAL = """main (int64 n, float start) => (float y) {
  yes = Constant <value = bool {1}> ()
  y = Loop (n, yes, start) <body = step (int64 i, bool go_on, float x) => (bool still, float next) {
    still = Identity (go_on)
    one = Constant <value_float = 1.0> ()
    k = Cast <to = 1> (i)
    factor = Add (k, one)
    next = Mul (x, factor)
  }>
}"""
GROWING = """main (float[n] x) => (float[m] y) {
  zero = Constant <value_float = 0.0> ()
  positive = Greater (x, zero)
  y = Compress <axis = 0> (x, positive)
}"""

LISTS = """main (float[n, 4] x) => (seq(float[]) parts, seq(float[]) pair, seq(float[]) mapped) {
  z = Neg (x)
  pair = SequenceConstruct (z, x)
  parts = SplitToSequence <keepdims = 0> (x)
  two = Constant <value = int64 {2}> ()
  uneven = SplitToSequence (x, two)
  mapped = SequenceMap (uneven) <body = f (float[?, 4] e) => (float[?, 4] o) { o = Mul (e, e) }>
}"""


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is prepared before a test, nor is there any code but what the test compiles."""
    folder = tmp_path / "cache"
    _recent.clear()
    _linked.clear()
    monkeypatch.setenv("WHORL_CACHE", str(folder))
    return folder


def bytes_of(text: str) -> bytes:
    return model(text).SerializeToString()


def is_asleep(session: whorl.InferenceSession) -> bool:
    """Whether a session has loaded no module so far."""
    return session._whole is None


def rows(count: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(count).normal(size=(count, 4)).astype(F32)}


def test_second_session_runs_other_lengths_without_loading_the_model() -> None:
    source = bytes_of(PERCEPTRON)
    first = whorl.InferenceSession(source)
    first.run(None, rows(5))
    second = whorl.InferenceSession(source)
    for count in (5, 2, 64, 1, 0, 5):
        np.testing.assert_array_equal(second.run(None, rows(count))[0], first.run(None, rows(count))[0])
        assert second.run(["y"], rows(count))[0].shape == (count, 3)
    assert is_asleep(second)


def test_second_session_gives_lists() -> None:
    source = bytes_of(LISTS)
    whorl.InferenceSession(source).run(None, rows(5))
    second = whorl.InferenceSession(source)
    for count in (5, 2, 7):
        x = rows(count)["x"]
        parts, pair, mapped = second.run(None, {"x": x})
        halves = [x[k : k + 2] ** 2 for k in range(0, count, 2)]
        for actual, expected in ((parts, [*x]), (pair, [-x, x]), (mapped, halves)):
            assert [part.tolist() for part in actual] == [part.tolist() for part in expected]
    assert is_asleep(second)


def test_loop_runs_the_number_of_times_of_its_input() -> None:
    source = bytes_of(FACTORIAL)
    whorl.InferenceSession(source).run(None, {"n": np.array(3), "start": F32(1)})
    second = whorl.InferenceSession(source)
    for n, expected in ((4, 24), (0, 1), (6, 720)):
        assert second.run(None, {"n": np.array(n), "start": np.array(1, F32)})[0] == expected
    assert is_asleep(second)


def test_loop_that_takes_long_is_served_by_what_is_prepared() -> None:
    source = bytes_of(FACTORIAL)
    whorl.InferenceSession(source).run(None, {"n": np.array(3), "start": np.array(1, F32)})
    second = whorl.InferenceSession(source)
    assert second.run(None, {"n": np.array(1 << 24), "start": np.array(0, F32)})[0] == 0
    assert is_asleep(second)


def test_feeds_that_do_not_fit_have_the_errors_of_a_whole_session() -> None:
    source = bytes_of(PERCEPTRON)
    whorl.InferenceSession(source).run(None, rows(5))
    for feeds, message in (
        ({}, "missing inputs: 'x'"),
        ({"x": np.zeros((2, 5), F32)}, "input 'x'"),
        ({"x": np.zeros((2, 4))}, "input 'x' is float64"),
        (rows(2) | {"z": np.zeros(1)}, "has no input 'z'"),
    ):
        with pytest.raises(whorl.RunError, match=message):
            whorl.InferenceSession(source).run(None, feeds)
    with pytest.raises(whorl.RunError, match="the model has no output 'z'"):
        whorl.InferenceSession(source).run(["z"], rows(2))


def shown_by(session: whorl.InferenceSession) -> list[object]:
    arguments = session.get_inputs(), session.get_overridable_initializers(), session.get_outputs()
    return [*arguments, session.get_modelmeta()]


def test_second_session_shows_inputs_outputs_and_metadata_without_loading_the_model() -> None:
    proto = model(PERCEPTRON)
    proto.producer_name, proto.model_version = "some tool", 7
    onnx.helper.set_model_props(proto, {"author": "Ürsula"})
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    source = proto.SerializeToString()
    first = whorl.InferenceSession(source)
    first.run(None, rows(5))
    second = whorl.InferenceSession(source)
    assert shown_by(second) == shown_by(first)
    assert [(i.name, i.shape, i.type) for i in second.get_inputs()] == [("x", ["n", 4], "tensor(float)")]
    assert second.get_modelmeta().custom_metadata_map == {"author": "Ürsula"}
    assert is_asleep(second)
    second.run(None, rows(3))
    assert shown_by(second) == shown_by(whorl.InferenceSession(proto))


def test_what_a_session_shows_may_be_changed() -> None:
    source = bytes_of(PERCEPTRON)
    for _ in range(2):
        session = whorl.InferenceSession(source)
        shown = shown_by(session)
        session.get_inputs()[0].shape.append(9)
        session.get_outputs().clear()
        session.get_modelmeta().custom_metadata_map["author"] = "nobody"
        assert shown_by(session) == shown
        session.run(None, rows(5))


def test_verdicts_of_a_second_session_are_the_ones_of_the_model() -> None:
    source = bytes_of(PERCEPTRON)
    whorl.InferenceSession(source).run(None, rows(5))
    second = whorl.InferenceSession(source)
    second.run(None, rows(3))
    assert [verdict.how for verdict in second.explain()] == ["native"]


def test_whole_session_learns_on_after_it_has_slept() -> None:
    source = bytes_of(PERCEPTRON)
    whorl.InferenceSession(source).run(None, rows(5))
    second = whorl.InferenceSession(source)
    before = second.run(None, rows(3))[0]
    assert second.module.output_names == ["y"]
    assert not is_asleep(second)
    np.testing.assert_array_equal(second.run(None, rows(3))[0], before)
    assert [verdict.how for verdict in second.explain()] == ["native"]


def test_session_whose_module_was_loaded_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    source = bytes_of(PERCEPTRON)
    whorl.InferenceSession(source).run(None, rows(5))
    monkeypatch.setattr(ProgramCache, "find", lambda *_: pytest.fail("the long way was taken"))
    second = whorl.InferenceSession(source)
    assert second.module.output_names == ["y"]
    assert second.run(None, rows(7))[0].shape == (7, 3)
    assert [verdict.how for verdict in second.explain()] == ["native"]


def test_session_survives_that_its_file_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(bytes_of(PERCEPTRON))
    expected = whorl.InferenceSession(path).run(None, rows(5))[0]
    second = whorl.InferenceSession(path)
    path.write_bytes(bytes_of(PERCEPTRON.replace("Softmax <axis = -1>", "Neg")))
    np.testing.assert_array_equal(second.run(None, rows(5))[0], expected)
    assert second.module.output_names == ["y"]
    np.testing.assert_array_equal(second.run(None, rows(5))[0], expected)
    assert (whorl.InferenceSession(path).run(None, rows(5))[0] != expected).any()


def test_options_that_change_what_a_model_means_have_entries_of_their_own() -> None:
    text = """main (float[3] x) => (float y) {
      n = Constant <value = int64 {5}> ()
      zero = Constant <value_float = 0.0> ()
      y = Loop (n, , zero) <body = step (int64 i, bool go_on, float sum) => (bool still, float next) {
        still = Constant <value = bool {0}> ()
        first = Constant <value = int64 {0}> ()
        a = Gather (x, first)
        next = Add (sum, a)
      }>
    }"""
    feeds, results = {"x": np.ones(3, F32)}, list[float]()
    for condition in ("specification", "honour") * 2:
        options = whorl.SessionOptions()
        options.condition_when_omitted = condition
        results.append(float(whorl.InferenceSession(bytes_of(text), options).run(None, feeds)[0]))
    assert results == [5, 1, 5, 1]


@pytest.mark.parametrize("name", ["timeout", "max_memory", "enable_profiling", "optimized_model_filepath", "backend"])
def test_session_with_limits_or_records_is_a_whole_one(name: str, tmp_path: Path) -> None:
    source = bytes_of(PERCEPTRON)
    whorl.InferenceSession(source).run(None, rows(5))
    options = whorl.SessionOptions()
    file = str(tmp_path / "optimised.onnx")
    values = {"enable_profiling": True, "optimized_model_filepath": file, "backend": "interpreter"}
    setattr(options, name, values.get(name, 1000))
    assert not is_asleep(whorl.InferenceSession(source, options))


def test_output_of_which_only_the_run_knows_the_length() -> None:
    source = bytes_of(GROWING)
    whorl.InferenceSession(source).run(None, {"x": np.array([1, -1, 2], F32)})
    second = whorl.InferenceSession(source)
    for x in ([3, -2, 5, 0], [-1, -2], [7, 8, 9]):
        assert second.run(None, {"x": np.array(x, F32)})[0].tolist() == [number for number in x if number > 0]


def test_input_of_any_rank_has_a_program_for_each_rank() -> None:
    proto = model("main (float[n] x) => (float[n] z) { y = Neg (x) e = Exp (y) z = Abs (e) }")
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.ClearField("shape")
    source = proto.SerializeToString()
    first = whorl.InferenceSession(source)
    for shape in ((3,), (2, 2)):
        first.run(None, {"x": np.zeros(shape, F32)})
    second = whorl.InferenceSession(source)
    for shape in ((5,), (2, 7)):
        assert second.run(None, {"x": np.zeros(shape, F32)})[0].tolist() == np.ones(shape).tolist()
    assert is_asleep(second)
    assert second.run(None, {"x": np.zeros((1, 2, 3), F32)})[0].shape == (1, 2, 3)


def test_program_with_an_op_that_has_no_native_form_is_not_stored(empty_cache: Path) -> None:
    source = bytes_of("main (int64 n) => (string[m] y) { e = Neg (n) size = Abs (e) y = Cast<to = 8> (size) }")
    whorl.InferenceSession(source).run(None, {"n": np.array(4)})
    second = whorl.InferenceSession(source)
    assert second.run(None, {"n": np.array(3)})[0].tolist() == "3"
    assert not is_asleep(second)


def test_damaged_entries_are_ignored(empty_cache: Path) -> None:
    source = bytes_of(PERCEPTRON)
    expected = whorl.InferenceSession(source).run(None, rows(5))[0]
    stored = {path: path.read_bytes() for path in empty_cache.iterdir()}
    for path, data in stored.items():
        for damaged in (b"", data[:-1], data[:40] + bytes([data[40] ^ 1]) + data[41:]):
            path.write_bytes(damaged)
            np.testing.assert_array_equal(whorl.InferenceSession(source).run(None, rows(5))[0], expected)
        path.write_bytes(data)
    assert is_asleep(whorl.InferenceSession(source))


def test_entry_whose_machine_code_is_gone_is_ignored(empty_cache: Path) -> None:
    source = bytes_of(PERCEPTRON)
    expected = whorl.InferenceSession(source).run(None, rows(5))[0]
    _linked.clear()
    for path in empty_cache.iterdir():
        if b"\x7fELF" in path.read_bytes():
            path.unlink()
    second = whorl.InferenceSession(source)
    np.testing.assert_array_equal(second.run(None, rows(5))[0], expected)
    assert not is_asleep(second)


def test_other_files_of_this_package_have_other_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    source = bytes_of(PERCEPTRON)
    whorl.InferenceSession(source).run(None, rows(5))
    monkeypatch.setattr(prepared, "package_fingerprint", lambda: "another version")
    assert not is_asleep(whorl.InferenceSession(source))


def test_nothing_is_stored_without_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHORL_CACHE", "")
    source = bytes_of(PERCEPTRON)
    for _ in range(2):
        session = whorl.InferenceSession(source)
        assert not is_asleep(session)
        assert session.run(None, rows(2))[0].shape == (2, 3)


def test_large_weights_come_back_bit_for_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    proto = model("main (float[n, 300] x) => (float[n, 200] y) { y = MatMul (x, w) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(rng.normal(size=(300, 200)).astype(F32), "w"))
    path = tmp_path / "wide.onnx"
    onnx.save(proto, path)
    x = rng.normal(size=(7, 300)).astype(F32)
    expected = whorl.InferenceSession(path).run(None, {"x": x})[0]
    second = whorl.InferenceSession(str(path))
    np.testing.assert_array_equal(second.run(None, {"x": x})[0], expected)
    assert is_asleep(second)


NETWORKS = {
    "product": "main (float[n, 80] x) => (float[n, 90] y) { y = MatMul (x, w) }",
    "turned": """main (float[n, 80] x) => (float[n, 90] y) {
      t = Transpose <perm = [1, 0]> (v)
      y = MatMul (x, t)
    }""",
    "gemm": "main (float[n, 80] x) => (float[n, 90] y) { y = Gemm <transB = 1> (x, v, b) }",
    "halves": """main (float[n, 80] x) => (float[n, 90] y) {
      wide = Cast <to = 1> (h)
      y = MatMul (x, wide)
    }""",
    "rows": """main (float[n, 80] x) => (float[n, 90] y) {
      zero = Constant <value_int = 0> ()
      k = Cast <to = 7> (x)
      three = Constant <value_int = 3> ()
      at = Mod (k, three)
      first = Gather <axis = 1> (at, zero)
      y = Gather <axis = 0> (v80, first)
    }""",
    "filters": """main (float[n, 80] x) => (float[n, 9, 80] y) {
      one = Constant <value_ints = [1]> ()
      deep = Unsqueeze (x, one)
      z = Conv (deep, f)
      y = Relu (z)
    }""",
    "scaled": """main (float[n, 80] x) => (float[n, 9, 80] y) {
      one = Constant <value_ints = [1]> ()
      deep = Unsqueeze (x, one)
      z = Conv (deep, f)
      y = Mul (z, s)
    }""",
    "loop": """main (float[n, 80] x) => (float[n, 80] y) {
      three = Constant <value_int = 3> ()
      yes = Constant <value = bool {1}> ()
      y = Loop (three, yes, x) <body = step (int64 i, bool go_on, float[n, 80] h) => (bool still, float[n, 80] z) {
        still = Identity (go_on)
        p = MatMul (h, q)
        z = Tanh (p)
      }>
    }""",
}
"""Models whose weights, by name, are those of `beside`."""


def beside(tmp_path: Path, text: str, seed: int = 0) -> Path:
    """A model in a file, with large weights in another one."""
    rng, proto = np.random.default_rng(seed), model(text)
    shapes = {"w": (80, 90), "v": (90, 80), "b": (90,), "v80": (80, 90), "f": (9, 1, 1200), "s": (9, 1), "q": (80, 80)}
    weights = {name: rng.normal(size=shape).astype(F32) for name, shape in shapes.items()}
    weights["f"] = weights["f"][..., :1]
    weights["h"] = weights["w"].astype(np.float16)
    for name in {name for node in proto.graph.node for name in node.input} & set(weights):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(weights[name], name))
    if "q)" in text:
        proto.graph.initializer.append(onnx.numpy_helper.from_array(weights["q"], "q"))
    path = tmp_path / "model.onnx"
    (tmp_path / "weights.bin").unlink(missing_ok=True)
    onnx.save(proto, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    return path


def few(count: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(count).normal(size=(count, 80)).astype(F32)}


@pytest.mark.parametrize("name", NETWORKS)
def test_weights_beside_a_model_are_read_where_they_are(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = beside(tmp_path, NETWORKS[name])
    monkeypatch.setattr(prepared, "LARGEST", 1 << 12)
    expected = {n: whorl.InferenceSession(path).run(None, few(n))[0] for n in (3, 7, 1)}
    second = whorl.InferenceSession(path)
    for n, y in expected.items():
        np.testing.assert_array_equal(second.run(None, few(n))[0], y)
    assert is_asleep(second)


def test_programs_of_several_patterns_lay_weights_out_once(tmp_path: Path) -> None:
    text = """main (float[n, 80] x, float[k, 90] c) => (float[m, 90] y) {
      p = MatMul (x, w)
      y = Add (p, c)
    }"""
    path, feeds = beside(tmp_path, text), [few(3) | {"c": np.ones((k, 90), F32)} for k in (1, 3)]
    first = whorl.InferenceSession(path)
    expected = [first.run(None, each)[0] for each in feeds]
    second = whorl.InferenceSession(path)
    for each, y in zip(feeds, expected, strict=True):
        np.testing.assert_array_equal(second.run(None, each)[0], y)
    programs = list(second._prepared.programs.values())
    assert is_asleep(second) and len(programs) == 2
    one, other = (max(launch.graph.arrays, key=lambda array: array.nbytes) for launch in programs)
    assert one is other


def test_other_weights_beside_the_same_model_are_seen(tmp_path: Path) -> None:
    path = beside(tmp_path, NETWORKS["product"])
    before = whorl.InferenceSession(path).run(None, few(3))[0]
    data = path.read_bytes()
    beside(tmp_path, NETWORKS["product"], seed=1)
    assert path.read_bytes() == data
    after = whorl.InferenceSession(path).run(None, few(3))[0]
    weights = np.fromfile(tmp_path / "weights.bin", F32).reshape(80, 90)
    np.testing.assert_allclose(after, few(3)["x"] @ weights, rtol=1e-3, atol=1e-4)
    assert not np.allclose(before, after)


def test_small_weights_beside_a_model_are_read_again_too(tmp_path: Path) -> None:
    text = "main (float[n, 2] x) => (float[n, 2] y) { y = Mul (x, c) }"
    results = []
    for factor in (2, 3, 2):
        proto = model(text)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.full(2, factor, F32), "c"))
        (tmp_path / "weights.bin").unlink(missing_ok=True)
        onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
        results += [whorl.InferenceSession(tmp_path / "m.onnx").run(None, {"x": np.ones((1, 2), F32)})[0].tolist()]
    assert results == [[[2, 2]], [[3, 3]], [[2, 2]]]


@pytest.mark.parametrize("change", ["touched", "gone"])
def test_session_that_sleeps_while_its_weights_change_says_so_when_it_needs_the_model(
    tmp_path: Path, change: str
) -> None:
    path = beside(tmp_path, NETWORKS["product"])
    expected = whorl.InferenceSession(path).run(None, few(3))[0]
    asleep = whorl.InferenceSession(path)
    np.testing.assert_array_equal(asleep.run(None, few(3))[0], expected)
    if change == "gone":
        (tmp_path / "weights.bin").unlink()
    else:
        os.utime(tmp_path / "weights.bin", (1, 1))
    np.testing.assert_array_equal(asleep.run(None, few(3))[0], expected)
    with pytest.raises(whorl.LoadError, match=r"the model or its weights have changed"):
        asleep.explain()


def test_session_that_sleeps_finds_its_model_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = beside(tmp_path, NETWORKS["product"])
    monkeypatch.chdir(tmp_path)
    whorl.InferenceSession(path.name).run(None, few(3))
    asleep = whorl.InferenceSession(path.name)
    monkeypatch.chdir("/")
    assert is_asleep(asleep)
    assert asleep.module.output_names == ["y"]
    assert not is_asleep(asleep)


def test_weights_that_are_gone_are_missed_at_once(tmp_path: Path) -> None:
    path = beside(tmp_path, NETWORKS["product"])
    whorl.InferenceSession(path).run(None, few(3))
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(whorl.LoadError, match=r"'weights\.bin', which is missing"):
        whorl.InferenceSession(path)


def test_weights_that_change_between_a_session_and_its_first_run_are_refused(tmp_path: Path) -> None:
    path = beside(tmp_path, NETWORKS["product"])
    whorl.InferenceSession(path).run(None, few(3))
    second = whorl.InferenceSession(path)
    os.utime(tmp_path / "weights.bin", (1, 1))
    with pytest.raises(whorl.LoadError, match=r"the model or its weights have changed"):
        second.run(None, few(3))
    assert whorl.InferenceSession(path).run(None, few(3))[0].shape == (3, 90)


COLLECTED = """main (int64 n, float x) => (float y, float[k] seen) {
  y, seen = Loop (n, "", x) <body = step (int64 i, bool go_on, float h) => (bool still, float next, float out) {
    still = Identity (go_on)
    next = Add (h, h)
    out = Neg (next)
  }>
}"""


def test_second_session_collects_other_numbers_of_rows_without_loading_the_model() -> None:
    source, feeds = bytes_of(COLLECTED), {"x": np.array(1, F32)}
    whorl.InferenceSession(source).run(None, feeds | {"n": np.array(3)})
    second = whorl.InferenceSession(source)
    for n in (3, 6, 2, 6):
        y, seen = second.run(None, feeds | {"n": np.array(n)})
        assert (y.item(), seen.tolist()) == (2.0**n, [-(2.0**k) for k in range(1, n + 1)])
    assert is_asleep(second)


def test_weights_that_take_too_much_are_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "LARGEST", 16)
    source = bytes_of(PERCEPTRON)
    whorl.InferenceSession(source).run(None, rows(5))
    assert not is_asleep(whorl.InferenceSession(source))


def test_sleeping_session_can_be_pickled_and_forked() -> None:
    source = bytes_of(PERCEPTRON)
    expected = whorl.InferenceSession(source).run(None, rows(5))[0]
    second = whorl.InferenceSession(source)
    copy = pickle.loads(pickle.dumps(whorl.InferenceSession(source)))
    np.testing.assert_array_equal(copy.run(None, rows(5))[0], expected)
    if not hasattr(os, "fork"):
        return
    child = os.fork()
    if child == 0:
        same = np.array_equal(second.run(None, rows(5))[0], expected) and second.module.output_names == ["y"]
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_threads_share_a_session_that_sleeps_and_one_of_them_wakes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_path, "MOST_BOUND", 2)
    source = bytes_of(PERCEPTRON)
    first = whorl.InferenceSession(source)
    expected = {count: first.run(None, rows(count))[0] for count in range(2, 10)}
    second, wrong = whorl.InferenceSession(source), list[int]()

    def work(start: int) -> None:
        for step in range(60):
            count = 2 + (start + step) % 8
            if start == 0 and step == 30:
                second.explain()
            if not np.array_equal(second.run(None, rows(count))[0], expected[count]):
                wrong.append(count)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert not wrong
    assert not is_asleep(second)


def test_model_that_cannot_be_loaded_says_so_each_time(tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"\x08\x0a broken")
    for _ in range(2):
        with pytest.raises(whorl.LoadError, match=r"broken\.onnx"):
            whorl.InferenceSession(path)


def test_entries_are_trimmed_as_object_code_is(empty_cache: Path) -> None:
    source = bytes_of(PERCEPTRON)
    whorl.InferenceSession(source).run(None, rows(5))
    assert cache.trim(0) > 0
    assert not list(empty_cache.iterdir())
    assert not is_asleep(whorl.InferenceSession(source))
