"""Loops of older exporters become nodes."""

import json

import numpy as np
from mdf.test_bodies import drifting, values

from whorl.formats.mdf.files import read_mdf, write_mdf
from whorl.formats.mdf.reading import model_of


def test_body_among_the_nodes_becomes_a_loop():
    actual = values(drifting(), start=0.0, drift=0.3, threshold=1.0, dt=0.01)
    assert float(np.ravel(actual["_11"])[0]) == 4.0
    np.testing.assert_allclose(np.ravel(actual["_12"]), [1.2])
    np.testing.assert_allclose(np.ravel(actual["_29"]), [0.04])
    assert np.ravel(actual["_31"]).tolist() == [True]


def test_mended_loop_is_written_as_one(tmp_path):
    write_mdf(model_of(drifting()), tmp_path / "m.json")
    graph = read_mdf(tmp_path / "m.json").graphs["g"]
    loop = graph.nodes["Loop_11_12"]
    (body,) = loop.parameters["body"].value.values()
    assert body.metadata == {"onnx_inputs": ["", "", "_15", "_16"], "onnx_outputs": ["_28", "_25", "_23"]}
    assert "LoopSubgraphLoop_11_12" not in graph.nodes
    assert values(json.loads((tmp_path / "m.json").read_text()), start=5.0, threshold=1.0)["_11"] == 0.0
