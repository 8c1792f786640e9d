"""ONNX in the registry of formats."""

import numpy as np
from onnx_text import model

from whorl.formats.onnx.codec import load
from whorl.formats.options import LoadOptions
from whorl.passes.context import Context

SOURCE = model("main (float x) => (float y) <float w = {2}> { two = Neg(w) y = Mul(x, two) }").SerializeToString()


def test_model_is_read_node_by_node_and_folded_only_with_a_context():
    plain, folded = (load(SOURCE, LoadOptions(), context) for context in (None, Context()))
    assert [node.op.name for node in plain.main.nodes] == ["Constant", "Neg", "Mul"]
    assert [node.op.name for node in folded.main.nodes] == ["Constant", "Mul"]
    assert np.asarray(folded.main.nodes[0].op.value).tolist() == -2
