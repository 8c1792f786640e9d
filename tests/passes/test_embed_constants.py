"""Constants as nodes of the regions that read them."""

import numpy as np
from onnx_text import model

import whorl
from whorl.ir.constants import Constant
from whorl.ir.elements.base import Leaf
from whorl.ir.verify import verify
from whorl.passes.embed_constants import embed_constants

NESTED = """
    main (int64 n, bool c, float[100, 100] x) => (float[100, 100] y) {
        shape = Constant <value = int64[2] {100, 100}> ()
        w = ConstantOfShape (shape)
        y = Loop (n, , x) <body = outer (int64 i, bool k, float[100, 100] s) => (bool d, float[100, 100] t) {
            d = Identity (k)
            t = If (c) <
                then_branch = a () => (p) { p = MatMul (s, w) },
                else_branch = b () => (q) { q = Identity (w) }
            >
        }>
    }"""


def with_weight(value):
    """The module, its weight a constant."""
    module = whorl.load(model(NESTED))
    for node in module.main.nodes:
        if node.op.name == "ConstantOfShape":
            node.op, node.inputs = Constant(value), []
    return module


def constants(module):
    return [node.op.value for node in module.nodes() if isinstance(node.op, Constant) and len(node.op.value.shape) == 2]


def test_weight_is_a_node_of_every_region_that_reads_it():
    weight = np.ones((100, 100), np.float32)
    module = with_weight(weight)
    embed_constants(module)
    verify(module)
    assert [value is weight for value in constants(module)] == [True] * 3, "in main and in both branches"
    (loop,) = [node for node in module.main.nodes if node.regions]
    assert [value.name for value in loop.inputs[3:]] == ["c"]


def test_weight_that_is_read_when_it_is_needed_remains_captured():
    module = with_weight(Leaf(np.ones((100, 100), np.float32)))
    embed_constants(module)
    assert len(constants(module)) == 1
