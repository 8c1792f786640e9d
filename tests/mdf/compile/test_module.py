"""Models over time as modules and as ONNX files, which run in onnxruntime and give the same rows."""

import json

import numpy as np
import pytest
from mdf.compile.test_requests import MODELS
from mdf.models import LINKS, NETWORK, OSCILLATOR, SPIKING, data, model

import whorl
from whorl.ir.verify import verify
from whorl.ops.control.flow import Loop


@pytest.mark.parametrize("name", MODELS)
def test_module_gives_the_rows_of_a_simulation(name, each_backend):
    module = MODELS[name].module(has_dt=True)
    verify(module)
    actual = whorl.run(module, {"steps": np.array(6), "dt": np.array(0.1)})
    expected = MODELS[name].simulate(6, 0.1)
    for each, rows in actual.items():
        np.testing.assert_allclose(rows, expected[each], rtol=1e-12, err_msg=each)


@pytest.mark.parametrize("name", MODELS)
def test_onnx_file_runs_in_onnxruntime(name, tmp_path):
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    module = MODELS[name].module(has_dt=True)
    whorl.save(module, tmp_path / "model.onnx")
    session = ort.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    rows = session.run(None, {"steps": np.array(6), "dt": np.array(0.1)})
    expected = MODELS[name].simulate(6, 0.1)
    for each, actual in zip(module.output_names, rows, strict=True):
        np.testing.assert_allclose(actual, expected[each], rtol=1e-12, err_msg=each)


def test_state_is_carried_by_one_loop_and_initial_values_are_optional_inputs():
    module = model(OSCILLATOR).module(record=["FN.V"])
    (loop,) = [node.op for node in module.nodes() if isinstance(node.op, Loop)]
    assert loop.carried == 2 and len(loop.collected) == 1
    assert [value.name for value in module.main.arguments] == [
        "steps",
        "dt",
        "FN.drive.input",
        "FN.V.initial",
        "FN.W.initial",
    ]
    assert module.defaults["FN.V.initial"] == -1.0
    feeds = {"steps": np.array(3), "dt": np.array(0.1), "FN.V.initial": np.array(2.0)}
    expected = model(OSCILLATOR).simulate(3, 0.1, initial={"FN.V": 2.0})["FN.V"]
    np.testing.assert_array_equal(whorl.run(module, feeds)["FN.V"], expected)


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_file_is_loaded_saved_and_loaded_again(ending, tmp_path):
    if ending == "yaml":
        pytest.importorskip("yaml", reason="PyYAML is not installed")
    (tmp_path / "model.json").write_text(json.dumps(data(NETWORK, LINKS)))
    loaded = whorl.load(tmp_path / "model.json")
    whorl.save(loaded, tmp_path / f"again.{ending}")
    again = whorl.load(tmp_path / f"again.{ending}")
    np.testing.assert_array_equal(again.simulate(5, 0.1)["net.x"], loaded.simulate(5, 0.1)["net.x"])


def test_model_is_taken_wherever_a_model_is(tmp_path):
    session = whorl.InferenceSession(model(SPIKING))
    v, _ = session.run(None, {"steps": 4, "dt": 0.1})
    np.testing.assert_array_equal(v, model(SPIKING).simulate(4, 0.1)["cell.v"])


def test_xml_with_a_model_in_it_is_mdf_and_other_xml_is_openvino(tmp_path):
    text = '<?xml version="1.0"?>\n<!-- <net> --><Model id="m"><graph id="g"><node id="N"/></graph></Model>'
    (tmp_path / "model.xml").write_text(text)
    assert list(whorl.load(tmp_path / "model.xml").graph.nodes) == ["N"]
    (tmp_path / "net.xml").write_text('<?xml version="1.0"?><net name="n" version="11"/>')
    with pytest.raises(whorl.LoadError):
        whorl.load(tmp_path / "net.xml").explain()
