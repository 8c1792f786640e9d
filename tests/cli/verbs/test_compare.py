"""`whorl compare`: equal, different, crashed, hung and unsupported, each engine in a process of its own."""

import numpy as np
import onnx
import pytest
from onnx_text import ROLLOUT, model

F32 = np.float32
FEEDS = ("--input", "count=4", "--input", f"table={[0.5] * 12}")
SUMS = model("main (float[n] x) => (float[n] twice, float[n] squared) { twice = Add(x, x) squared = Mul(x, x) }")


@pytest.mark.slow
def test_real_engines_agree_on_a_loop(whorl, saved):
    report = whorl("compare", saved(ROLLOUT), "--against", "onnxruntime,openvino,reference,whorl", *FEEDS)
    assert (report.code, report.err) == (0, "")
    assert report.out.splitlines() == [
        f"{engine}: total: equal" for engine in ("onnxruntime", "openvino", "reference", "whorl")
    ]


def test_inputs_not_passed_are_random_and_the_same_for_all(whorl, saved):
    report = whorl("compare", saved(SUMS), "--dim", "n=5", "--random", "3", "--json")
    outputs = {"twice": "", "squared": ""}
    assert (report.code, report.document) == (0, {"onnxruntime": {"status": "equal", "outputs": outputs}})


def test_known_disagreement_is_reported(whorl, saved):
    """onnxruntime stops a loop without a condition input where its body says so; the specification ignores it."""
    proto = model("""
        main (float x) => (float y) {
            three = Constant<value = int64 {3}> ()
            y = Loop (three, "", x) <body = step (int64 i, bool on, float a) => (bool on_out, float b) {
                on_out = Constant<value = bool {0}> ()
                b = Add(a, a)
            }>
        }""")
    report = whorl("compare", saved(proto), "--input", "x=1")
    assert (report.code, report.out) == (
        1,
        "onnxruntime: y: 1 of 1 elements differ, first at []: 2.0 instead of 8.0\n",
    )
    assert whorl("compare", saved(proto), "--input", "x=1", "--condition-when-omitted", "honour").code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "line"),
    [
        ("conformance.broken_engines:crashes", "crash: the process ended with code -6"),
        pytest.param("conformance.broken_engines:hangs", "timeout: no answer in time", marks=pytest.mark.slow),
        ("conformance.broken_engines:lacks", "unsupported: NotImplementedError: no loops here"),
        ("conformance.broken_engines:refuses", "error: ValueError: not this one"),
        ("cli.engines:one_short", "different: 1 outputs instead of 2"),
    ],
)
def test_engine_that_gives_no_outputs_is_reported(whorl, saved, engine, line):
    patience = 5 if engine.endswith("hangs") else 60
    engines = f"{engine},onnxruntime"
    report = whorl("compare", saved(SUMS), "--against", engines, "--input", "x=[1]", "--timeout", patience)
    first, *others = report.out.splitlines()
    assert report.code == 1 and first.startswith(f"{engine}: {line}")
    assert others == ["onnxruntime: twice: equal", "onnxruntime: squared: equal"]


def test_small_differences_are_within_the_tolerance_or_shown(whorl, saved):
    arguments = ["compare", saved(SUMS), "--against", "cli.engines:off_by_a_bit", "--input", "x=[0.1, 0]"]
    assert whorl(*arguments).code == 0
    report = whorl(*arguments, "--rtol", "0", "--atol", "0")
    assert report.code == 1
    assert report.out.splitlines()[0] == (
        "cli.engines:off_by_a_bit: twice: 2 of 2 elements differ, first at [0]: 0.20000002 instead of 0.2"
    )


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
@pytest.mark.parametrize("verb", ["compare", "bench", "conformance"])
def test_engine_that_is_not_installed_is_named_with_what_installs_it(whorl, saved, tmp_path, monkeypatch, verb, engine):
    (tmp_path / f"{engine}.py").write_text(
        f"raise ModuleNotFoundError(\"No module named '{engine}'\", name={engine!r})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    passed = ["--backend", engine] if verb == "conformance" else [saved(SUMS), "--random", 0, "--against", engine]
    report = whorl(verb, *passed)
    assert report.code != 0
    assert report.err == (
        f"whorl: the backend {engine!r} cannot be loaded: No module named {engine!r}\n  fix: pip install {engine}\n"
    )


def test_other_type_is_a_difference(whorl, saved):
    report = whorl("compare", saved(SUMS), "--against", "cli.engines:of_another_type", "--input", "x=[1]", "--json")
    problem = "float64[1] instead of float32[1]"
    assert report.document == {
        "cli.engines:of_another_type": {"status": "different", "outputs": {"twice": problem, "squared": problem}}
    }


def test_engine_that_cannot_be_loaded_is_an_error(whorl, saved):
    report = whorl("compare", saved(SUMS), "--against", "no_such_module:load", "--input", "x=[1]")
    assert report.code == 4 and "No module named 'no_such_module'" in report.err


def test_text_models_and_weights_beside_the_model_reach_the_engines(whorl, tmp_path):
    proto = model("main (float[300] x) => (float[300] y) { y = Add(x, w) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.arange(300, dtype=F32), "w"))
    path, text = tmp_path / "model.onnx", tmp_path / "model.onnxtxt"
    text.write_text(onnx.printer.to_text(proto))
    onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    for file in (path, text):
        report = whorl("compare", file, "--against", "onnxruntime,reference")
        assert (report.code, report.out) == (0, "onnxruntime: y: equal\nreference: y: equal\n")
