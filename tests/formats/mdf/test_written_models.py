"""ONNX models written as MDF files run in modeci_mdf, and give what they give as ONNX."""

import mdf_reference
import numpy as np
import pytest
from formats.mdf.onnx_models import TEXTS, feeds_of, model_of

import whorl
from whorl.formats.mdf.files import read_mdf, write_mdf
from whorl.formats.mdf.onnx_import import model_from_onnx


def check_in_modeci_mdf(source, feeds, path):
    """The outputs of a model in modeci_mdf's engine, which computes in float32, and as ONNX."""
    write_mdf(model_from_onnx(source), path)
    graph = next(iter(read_mdf(path).graphs.values()))
    names = graph.metadata.get("onnx_names", {})
    ids = {names.get(id, id): id for id in graph.metadata["onnx_inputs"]}
    given = {ids[name]: value for name, value in feeds.items() if name in ids}
    ((values, _),) = mdf_reference.run_reference(path, [None], given)
    found = {port: value for (_, kind, port), value in values.items() if kind == "output_ports"}
    expected = whorl.run(source, feeds)
    assert len(expected) == len(graph.metadata["onnx_outputs"])
    for id, wanted in zip(graph.metadata["onnx_outputs"], expected.values(), strict=True):
        assert np.shape(found[id]) == wanted.shape, id
        np.testing.assert_allclose(found[id], wanted, rtol=1e-5, atol=1e-6, err_msg=id)


@pytest.mark.parametrize("name", TEXTS)
def test_model_gives_the_same_in_modeci_mdf(name, tmp_path):
    pytest.importorskip("modeci_mdf", reason="modeci_mdf is not installed")
    model = model_of(TEXTS[name])
    check_in_modeci_mdf(model, feeds_of(model), tmp_path / "model.json")
