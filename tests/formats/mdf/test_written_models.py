"""ONNX models written as MDF files run in modeci_mdf, and give what they give as ONNX."""

import mdf_reference
import numpy as np
import pytest
from formats.mdf.onnx_models import LOOPS, TEXTS, feeds_of, model_of

import whorl
from whorl.formats.mdf.files import read_mdf
from whorl.formats.mdf.onnx.importer import model_from_onnx


def check_in_modeci_mdf(source, feeds, path):
    """The outputs of a model, written as whorl writes it, in modeci_mdf's engine, which computes in float32."""
    whorl.save(source, path)
    graph = next(iter(read_mdf(path).graphs.values()))
    names = graph.metadata.get("onnx_names", {})
    ids = {names.get(id, id): id for id in graph.metadata["onnx_inputs"]}
    passed = {ids[name]: value for name, value in feeds.items() if name in ids}
    ((values, _),) = mdf_reference.run_reference(path, [None], passed)
    actual = {port: value for (_, kind, port), value in values.items() if kind == "output_ports"}
    expected = whorl.run(source, feeds)
    assert len(expected) == len(graph.metadata["onnx_outputs"])
    for id, required in zip(graph.metadata["onnx_outputs"], expected.values(), strict=True):
        assert np.shape(actual[id]) == required.shape, id
        np.testing.assert_allclose(actual[id], required, rtol=1e-5, atol=1e-6, err_msg=id)


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_model_gives_the_same_in_modeci_mdf(name, tmp_path):
    pytest.importorskip("modeci_mdf", reason="modeci_mdf is not installed")
    model = model_of(TEXTS[name])
    check_in_modeci_mdf(model, feeds_of(model), tmp_path / "model.json")


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_loop_that_is_unrolled_gives_the_same_in_modeci_mdf(name, tmp_path):
    pytest.importorskip("modeci_mdf", reason="modeci_mdf is not installed")
    model = model_of(LOOPS[name])
    check_in_modeci_mdf(whorl.deloop(model, target="any"), feeds_of(model), tmp_path / "model.yaml")


def test_written_file_has_no_text_that_modeci_mdf_cannot_read(tmp_path):
    """No defaults of attributes, other texts as calls of NumPy, and functions under the names that exporters use."""
    for name, model in ((name, model_of(text)) for name, text in TEXTS.items()):
        for node in model_from_onnx(model).graphs["net"].nodes.values():
            for parameter in node.parameters.values():
                is_text = isinstance(parameter.value, str)
                assert not is_text or parameter.value.startswith("numpy."), name
                assert ("onnx_" in parameter.id) == bool(parameter.function), name
            assert not any("onnx_" in port for port in (*node.input_ports, *node.output_ports)), name
