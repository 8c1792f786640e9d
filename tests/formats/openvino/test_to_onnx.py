"""IR converted to ONNX: onnxruntime gives what whorl gives for the IR, for every model of the corpus that loads."""

import pytest
from formats.openvino.corpus import or_skipped, path_of, readable, runs, same

import whorl
from whorl.errors import RunError
from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.runtime.session import Session

errors = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")


def outcome(run, feeds):
    """The outputs, or that there are none."""
    try:
        return run(None, feeds)
    except (RunError, errors.Fail, errors.InvalidArgument) as error:
        return str(error)


@pytest.mark.parametrize("model", or_skipped(readable()))
def test_model_of_the_corpus_runs_in_onnxruntime(model, tmp_path):
    module = load_ir(path_of(model), IrOptions())
    whorl.save(module, tmp_path / "m.onnx")
    theirs = ort.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    mine = Session(module, backend="interpreter")
    for run in runs(model):
        feeds = run.feeds([value.name for value in module.main.arguments])
        expected, actual = outcome(mine.execute, feeds), outcome(theirs.run, feeds)
        if isinstance(expected, str) or isinstance(actual, str):
            assert isinstance(expected, str), actual
            assert isinstance(actual, str), expected
            continue
        assert same(actual, expected)
        assert [x.dtype for x in actual] == [x.dtype for x in expected]
