"""Loops and branches of a model as models of their own."""

import numpy as np
import onnx
import pytest
from onnx_text import model

import whorl
from whorl.api.regions import Regions

TEXT = """main (float[n] x, int64 count) => (float[n] z) {
    [steps] y = Loop (count, "", x) <body = step (int64 i, bool go, float[n] h) => (bool on, float[n] a) {
        on = Identity(go)
        a = Mul(h, weights)
    }>
    z = Neg(y)
}"""


def regions(weights="library", readers=1):
    proto = model(TEXT)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.full(600, 0.5, np.float32), "weights"))
    for number in range(readers - 1):
        proto.graph.node.append(onnx.helper.make_node("Neg", ["weights"], [f"read{number}"]))
    return Regions(proto, weights)


@pytest.mark.parametrize(
    ("weights", "readers", "inputs"),
    [("library", 1, 2), ("library", 2, 3), ("model", 1, 3)],
    ids=["own", "shared", "model"],
)
def test_region_has_the_weights_that_it_alone_reads(weights, readers, inputs):
    made = regions(weights, readers)
    (cut,) = made.choose([], [])
    assert made.reason_to_stay(cut) == ""
    assert len(made.model_of(cut).graph.input) == inputs


def test_neighbours_that_are_light_go_along():
    made = regions()
    (cut,) = made.with_neighbours(made.choose(["steps"], []))
    assert len(cut.positions) == 2
    assert made.choose([], ["steps"]) == []


def test_unknown_names_and_weights_are_refused():
    with pytest.raises(whorl.CompileError, match="no outermost loop or branch is named 'step'"):
        regions().choose(["step"], [])
    with pytest.raises(whorl.CompileError, match="weights is 'both'"):
        regions("both")
