"""docs/openvino.md has the codes of the reader; docs/openvino-ops.md is what its generator makes of measurements."""

import importlib.util
from pathlib import Path

from formats.openvino.backend_models import Outcome

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("make_openvino", DOCS / "make_openvino.py")
assert spec is not None and spec.loader is not None
generator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generator)


def test_page_has_the_codes_of_the_reader() -> None:
    text = (DOCS / "openvino.md").read_text(encoding="utf-8")
    assert generator.with_codes(text) == text, "run `python docs/make_openvino.py`"


def test_page_of_models_explains_by_op_what_does_not_agree() -> None:
    refused = "SaveError: Det 'y' in body of Loop: OpenVINO has no form for Det\n  fix: none"
    outcomes = [
        Outcome("test_abs", ("Abs",), "agrees"),
        Outcome("test_det", ("Det",), "unwritten", refused),
        Outcome("test_det_expanded", ("Add", "Mul"), "agrees"),
        Outcome("test_cast", ("Cast",), "differs", "output 0 has other elements"),
        Outcome("test_odd", ("Odd",), "refused", "RuntimeError: Exception from src/x.cpp:1:\nno Odd"),
    ]
    direct = [Outcome(each.name, each.ops, "agrees") for each in outcomes[:4]]
    direct.append(Outcome("test_odd", ("Odd",), "refused", "RuntimeError: src/frontends/onnx: no Odd"))
    page = generator.models_page(outcomes, direct).removeprefix(generator.INTRODUCTION)
    assert page == (
        "2 of 5 models agree. OpenVINO's own reader of ONNX takes 4 of them;\n"
        "of these 2 agree here, and 4 by way of that reader. Those that do not agree here, by op:\n"
        "\n"
        "| op | models | agree | the others |\n"
        "|---|---|---|---|\n"
        "| Cast | 1 | 0 | OpenVINO's CPU plugin computes float64 in float32: `test_cast` |\n"
        "| Det | 2 | 1 | OpenVINO has no form for Det: `test_det` |\n"
        "| Odd | 1 | 0 | OpenVINO refuses it: no Odd: `test_odd` |\n"
        "\n"
        "All models of these ops agree: Abs (1).\n"
    )
