"""`whorl check`: problems as text and JSON, and which of them fail."""

import numpy as np
import onnx
from onnx import numpy_helper
from onnx_text import FOREVER, ROLLOUT, model

ODD = model("""
    main (int64 n, float x) => (float y) {
        y = Loop (n, "", x) <body = b (int64 i, bool on, float x) => (bool on_out, float c) {
            c = Exp(x)
            on_out = Less(c, x)
        }>
    }""")


def test_check_of_a_model_without_problems(whorl, saved):
    report = whorl("check", saved(ROLLOUT), "--strict")
    assert (report.code, report.out) == (0, "nothing to complain about\n")
    report = whorl("check", saved(ROLLOUT), "--json")
    assert (report.code, report.document) == (0, {"problems": []})


def test_check_prints_problems_with_their_fixes(whorl, saved):
    report = whorl("check", saved(ODD))
    assert report.code == 0
    assert report.out == (
        "warning [shadowed-name] body of Loop 'y': 'x' hides a value of the same name outside; "
        "engines disagree on which is meant\n"
        "  fix: rename what is inside\n"
        "warning [condition-ignored] Loop 'y': it has no condition input, so what its body answers is ignored; "
        "onnxruntime and OpenVINO stop there\n"
        "  fix: give it a condition input, or answer a constant true\n"
    )


def test_check_strict_fails_for_warnings_and_always_for_errors(whorl, saved):
    assert whorl("check", saved(ODD), "--strict").code == 1
    assert whorl("check", saved(FOREVER)).code == 1


def test_check_json_is_one_document(whorl, saved):
    problems = whorl("check", saved(FOREVER), "--json").document["problems"]
    assert problems == [
        {
            "code": "endless",
            "severity": "error",
            "where": "Loop 'forever'",
            "message": "nothing ends it: no bound, and no condition that can become false",
            "fix": "give it a trip count or a condition",
        }
    ]


def test_check_reads_text_models(whorl, tmp_path):
    path = tmp_path / "model.onnxtxt"
    path.write_text(onnx.printer.to_text(ROLLOUT))
    assert whorl("check", path).out == "nothing to complain about\n"


def test_weights_beside_the_model_are_not_needed_to_show_and_check_it(whorl, tmp_path):
    proto = model("main (float[n, 64] x) => (float[n, 64] y) { y = MatMul(x, w) }")
    proto.graph.initializer.append(numpy_helper.from_array(np.zeros((64, 64), np.float32), "w"))
    path = tmp_path / "m.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="m.data", size_threshold=0)
    shown, checked, text = whorl("show", path), whorl("check", path), whorl("show", "--text", path)
    (tmp_path / "m.data").unlink()
    assert (whorl("show", path), whorl("check", path)) == (shown, checked)
    assert whorl("show", "--text", path).code == text.code == 0
    report = whorl("run", path, "--random", 0)
    assert report.code == 3
    assert (
        report.err
        == "whorl: initializer 'w' lies in 'm.data', which is missing\n  fix: put the file beside the model\n"
    )
