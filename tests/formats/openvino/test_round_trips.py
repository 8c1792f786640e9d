"""Models written by whorl as IR: those of the corpus, of the conformance suite, and of onnx's backend suite.

`WHORL_OPENVINO_ALL` set runs every model of the two suites; without it every so many are run.
"""

import os
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from formats.openvino import corpus
from formats.openvino.backend_models import measure, models
from formats.openvino.programs import programs
from hypothesis import HealthCheck, Phase, assume, given, seed, settings

import whorl
from whorl.api.synthetic import synthetic_feeds
from whorl.conformance.cases import load_cases
from whorl.conformance.runner import run as run_cases
from whorl.errors import WhorlError
from whorl.formats.onnx.saving import to_proto
from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.ir.graph import Module

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "openvino-ops.md"
EVERY = 1 if os.environ.get("WHORL_OPENVINO_ALL") else 25
ENGINE = "formats.openvino.through_ir:load"
SPECIAL = {"ort_crop_and_resize": {"input2:0": np.array([0, 1], np.int32)}}
RTOL, ATOL = 1e-4, 1e-5

pytestmark = pytest.mark.slow


def written(module: Module) -> tuple[bytes, bytes]:
    """The files that a module becomes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.xml"
        whorl.save(module, path)
        return path.read_bytes(), path.with_suffix(".bin").read_bytes()


def known(name: str) -> dict[str, str]:
    """Names and reasons from the lines of a list."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("|") for line in lines if line and not line.startswith("#")]
    return {key.strip(): reason.strip() for key, _, reason in pairs}


def assert_near(actual, required):
    assert len(actual) == len(required)
    for f, w in zip(actual, required, strict=True):
        assert (f.dtype, f.shape) == (w.dtype, w.shape)
        np.testing.assert_allclose(f, w, rtol=RTOL, atol=ATOL)


WITH_OUTPUTS = [model for model in corpus.models() if any("ovcpu" in run.outputs for run in corpus.runs(model))]
DIFFERENT = corpus.known_differences() if WITH_OUTPUTS else {}


@pytest.mark.parametrize("model", corpus.or_skipped([model for model in WITH_OUTPUTS if model not in DIFFERENT]))
def test_ir_written_again_gives_openvinos_outputs(model, engine):
    reasons = known("unwritable.txt")
    module = whorl.load(corpus.path_of(model))
    if model in reasons:
        with pytest.raises(WhorlError, match=re.escape(reasons[model])):
            whorl.save(module, Path(os.devnull).with_suffix(".xml"))
        return
    names = [value.name for value in module.main.arguments]
    runs = [run for run in corpus.runs(model) if run.outputs.get("ovcpu")]
    feeds = [[run.feeds(names)[name] for name in names if name in run.feeds(names)] for run in runs]
    actual = engine.run(*written(module), feeds)
    assert not isinstance(actual, str), actual
    for run, answer in zip(runs, actual, strict=True):
        assert not isinstance(answer, str), answer
        assert_near(answer, run.outputs["ovcpu"])


@seed(1)
@settings(
    max_examples=60, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(programs())
def test_ir_program_written_again_gives_what_it_gave(engine, program):
    before = engine.run(program.xml, program.weights, program.runs)
    assume(not isinstance(before, str))
    module = load_ir(program.xml, IrOptions(), program.weights)
    after = engine.run(*written(module), program.runs)
    assert not isinstance(after, str), after
    for actual, required in zip(after, before, strict=True):
        assert isinstance(actual, list) or isinstance(required, str), actual
        for f, w in zip(actual, required if isinstance(required, list) else actual, strict=True):
            # Of what has no elements OpenVINO leaves lengths 0 that whorl can prove.
            assert (f.dtype, f.ndim, f.size) == (w.dtype, w.ndim, w.size)
            assert not f.size or np.array_equal(f, w)


def test_onnx_model_as_ir_and_back_gives_the_same_everywhere(corpus_model, engine, tmp_path):
    module = whorl.load(corpus_model)
    feeds = synthetic_feeds(module, seed=1) | SPECIAL.get(corpus_model.stem, {})
    required = list(whorl.run(module, feeds).values())
    whorl.save(module, tmp_path / "m.xml")
    inputs = [feeds[value.name] for value in module.main.arguments if value.name not in module.defaults]
    (actual,) = engine.run((tmp_path / "m.xml").read_bytes(), (tmp_path / "m.bin").read_bytes(), [inputs])
    assert not isinstance(actual, str), actual
    assert_near(actual, required)
    again = whorl.load(tmp_path / "m.xml")
    taken = {value.name: feeds[value.name] for value in again.main.arguments}
    assert_near(list(whorl.run(again, taken).values()), required)
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    session = ort.InferenceSession(to_proto(again).SerializeToString(), providers=["CPUExecutionProvider"])
    assert_near(session.run(None, taken), required)


def test_conformance_cases_as_ir_pass_or_are_listed():
    pytest.importorskip("openvino", reason="openvino has no wheel for this platform")
    reasons = known("conformance_differences.txt")
    cases = [case for case in load_cases() if case.expected is not None]
    chosen = [case for case in cases if case.name not in reasons][::EVERY]
    results = run_cases(ENGINE, timeout=60.0, workers=1, cases=chosen)
    failed = [result for result in results if result.status != "pass"]
    assert not [f"{each.case}: {each.message}" for each in failed if "SaveError" not in each.message]
    assert {case.name for case in cases} >= set(reasons)


def test_models_of_the_backend_suite_agree_or_are_on_the_page():
    pytest.importorskip("openvino", reason="openvino has no wheel for this platform")
    listed = set(re.findall(r"`(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    chosen = [case for case in models() if case.name not in listed][::EVERY]
    actual = measure(chosen)
    assert not [f"{each.name}: {each.status}: {each.reason}" for each in actual if each.status != "agrees"]
