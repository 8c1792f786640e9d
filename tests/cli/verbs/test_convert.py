"""`whorl convert` and `whorl.save`: other opsets, text, and models that keep their meaning."""

import numpy as np
import onnx
import pytest
from onnx_text import ROLLOUT, model

import whorl as w

F32 = np.float32
FEEDS = {"count": np.array(4), "table": np.arange(12, dtype=F32)}


def opset_of(path):
    proto = onnx.load(path)
    return {entry.domain: entry.version for entry in proto.opset_import}[""]


@pytest.mark.parametrize("opset", [13, 16, 21, 25])
def test_model_is_written_at_another_opset(whorl, saved, tmp_path, opset):
    out = tmp_path / "out.onnx"
    report = whorl("convert", saved(ROLLOUT), out, "--opset", opset)
    size = out.stat().st_size
    assert (report.code, report.out) == (0, f"wrote {out}: {len([*w.load(ROLLOUT).nodes()])} nodes, {size} bytes\n")
    assert opset_of(out) == opset
    onnx.checker.check_model(str(out), full_check=True)
    assert w.InferenceSession(out).run(None, FEEDS) == [6]


def test_opset_of_the_model_is_retained(whorl, saved, tmp_path):
    assert whorl("convert", saved(ROLLOUT), tmp_path / "out.onnx").code == 0
    assert opset_of(tmp_path / "out.onnx") == 21


def test_binary_and_text_are_turned_into_each_other(whorl, saved, tmp_path):
    text, binary = tmp_path / "model.onnxtxt", tmp_path / "again.onnx"
    assert whorl("convert", saved(ROLLOUT), text).code == 0
    assert "Loop" in text.read_text() and "opset_import" in text.read_text()
    assert whorl("convert", text, binary).code == 0
    assert w.InferenceSession(binary).run(None, FEEDS) == [6]


def test_what_an_opset_cannot_say_names_op_and_opset(whorl, saved, tmp_path):
    proto = model(
        "main (float[1, 1, h, w] x, float[1, 2, 2, 2] at) => (float[1, 1, 2, 2] y) { [look] y = GridSample(x, at) }"
    )
    report = whorl("convert", saved(proto), tmp_path / "out.onnx", "--opset", "13")
    assert report.code == 6 and not (tmp_path / "out.onnx").exists()
    reason = "GridSample came with version 16; the model imports ai.onnx 13\n  fix: choose a newer opset"
    assert report.err == f"whorl: GridSample 'look': {reason}\n"


@pytest.mark.parametrize("opset", [0, 5, 99])
def test_opset_that_cannot_be_written_is_refused(whorl, saved, tmp_path, opset):
    report = whorl("convert", saved(ROLLOUT), tmp_path / "out.onnx", "--opset", opset)
    assert report.code == 6 and str(opset) in report.err


def test_unknown_ending_is_refused(whorl, saved, tmp_path):
    report = whorl("convert", saved(ROLLOUT), tmp_path / "out.pb")
    fix = "end it in .onnx, .onnxtxt, .mlir, .xml, .json, .yaml or .yml"
    text = f"'{tmp_path}/out.pb' has no ending whorl can write\n  fix: {fix}"
    assert (report.code, report.err) == (6, f"whorl: {text}\n")


def test_json_is_one_document(whorl, saved, tmp_path):
    out = tmp_path / "out.onnx"
    report = whorl("convert", saved(ROLLOUT), out, "--json")
    assert report.document == {
        "output": str(out),
        "bytes": out.stat().st_size,
        "nodes": len([*w.load(ROLLOUT).nodes()]),
    }


def test_condition_of_a_loop_is_written_as_it_was_read(whorl, saved, tmp_path):
    proto = model("""
        main (float x) => (float y) {
            three = Constant<value = int64 {3}> ()
            y = Loop (three, "", x) <body = step (int64 i, bool on, float a) => (bool on_out, float b) {
                on_out = Constant<value = bool {0}> ()
                b = Add(a, a)
            }>
        }""")
    for choice, expected in (("specification", 8), ("honour", 2)):
        assert whorl("convert", saved(proto), tmp_path / "o.onnx", "--condition-when-omitted", choice).code == 0
        assert w.run(tmp_path / "o.onnx", {"x": np.array(1, F32)})["y"] == expected


def test_save_takes_whatever_load_takes(tmp_path, saved):
    path = saved(ROLLOUT)
    for source in (path, str(path), path.read_bytes(), ROLLOUT, w.load(path)):
        w.save(source, tmp_path / "copy.onnx", opset=15)
        assert opset_of(tmp_path / "copy.onnx") == 15
    w.save(ROLLOUT.graph, str(tmp_path / "graph.onnx"))
    assert w.run(tmp_path / "graph.onnx", FEEDS)["total"] == 6


def test_save_over_the_model_itself_keeps_weights_beside_it(tmp_path):
    weights = onnx.numpy_helper.from_array(np.arange(300, dtype=F32), "w")
    proto = model("main (float[300] x) => (float[300] y) { y = Add(x, w) }")
    proto.graph.initializer.append(weights)
    path = tmp_path / "model.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    w.save(path, path)
    assert w.run(path, {"x": np.zeros(300, F32)})["y"].tolist() == [*range(300)]


@pytest.mark.parametrize(
    ("name", "option", "reason"),
    [
        ("out.xml", ("--opset", "20"), "--opset applies to ONNX, not to OpenVINO IR"),
        ("out.onnx", ("--compress-to-fp16",), "--compress-to-fp16 applies to OpenVINO IR, not to ONNX"),
    ],
)
def test_option_that_the_format_written_does_not_have_is_refused(whorl, saved, tmp_path, name, option, reason):
    report = whorl("convert", saved(ROLLOUT), tmp_path / name, *option)
    assert (report.code, report.err) == (2, f"whorl: {reason}\n  fix: leave out {option[0]}\n")
    assert not (tmp_path / name).exists()
