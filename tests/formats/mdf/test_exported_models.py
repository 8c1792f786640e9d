"""Files of modeci_mdf's PyTorch exporter: they simulate, and as ONNX they run in onnxruntime."""

import json

import mdf_reference
import numpy as np
import pytest
from formats.mdf.exported import MODELS

import whorl
from whorl.formats.mdf.model import MdfModel


@pytest.fixture(params=MODELS)
def exported(request, tmp_path):
    """The path of a file, its weights, and the name of its last output port."""
    net = MODELS[request.param]()
    (tmp_path / "net.json").write_text(json.dumps(net.data()))
    (last,) = net.nodes[[*net.nodes][-1]]["output_ports"]
    return tmp_path / "net.json", net.weights, f"{[*net.nodes][-1]}.{last}"


def initial_of(model, weights, ending=""):
    nodes = model.graph.nodes.values()
    return {f"{node.id}.{id}{ending}": weights[id] for node in nodes for id in node.input_ports if id in weights}


def test_simulation_gives_what_modeci_mdf_gives(exported):
    path, weights, last = exported
    ((values, _),) = mdf_reference.run_reference(path, [None], weights)
    for precision in ("float32", "float64"):
        model = MdfModel(whorl.load(path).document, precision=precision)
        assert model.is_compiled()
        actual = model.simulate(record=[last], initial=initial_of(model, weights))[last][0]
        node, port = last.split(".")
        np.testing.assert_allclose(actual, values[node, "output_ports", port], rtol=1e-5, atol=1e-6)


def test_conversion_in_single_precision_runs_in_onnxruntime(exported, tmp_path):
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    path, weights, last = exported
    whorl.save(whorl.load(path, precision="float32"), tmp_path / "net.onnx")
    session = ort.InferenceSession(str(tmp_path / "net.onnx"), providers=["CPUExecutionProvider"])
    model = whorl.load(path)
    feeds = {name: value.astype(float) for name, value in initial_of(model, weights, ".input").items()}
    (rows,) = session.run([last], {"steps": np.array(2), **feeds})
    expected = model.simulate(2, record=[last], initial=initial_of(model, weights))[last]
    assert rows.shape == expected.shape
    np.testing.assert_allclose(rows, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_file_of_an_older_exporter_gives_the_same(name, tmp_path):
    rows = []
    for is_old in (False, True):
        net = MODELS[name](is_old)
        (tmp_path / "net.json").write_text(json.dumps(net.data()))
        model = whorl.load(tmp_path / "net.json", precision="float32")
        assert model.is_compiled()
        rows.append(model.simulate(initial=initial_of(model, net.weights)))
    for port, expected in rows[0].items():
        np.testing.assert_array_equal(rows[1][port], expected)
