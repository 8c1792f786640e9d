"""Loops specialised to their operands: types of the body, preheader, dynamic dims."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.ir.graph import Node
from whorl.ir.types import tensor
from whorl.lowering.expressions import Unsupported
from whorl.ops.control.flow import Loop
from whorl.ops.control.iteration import Iteration
from whorl.runtime.compiled.specialise import specialise

SUM = model("""main (int64 n, float[a] x, float[a] w) => (float[a] y) {
    y = Loop (n, "", x) <body = b (int64 i, bool go, float[a] h) => (bool on, float[a] next) {
        on = Identity(go)
        v = Neg(w)
        next = Add(h, v)
    }>
}""")
SEQUENCE = model("""main (int64 n, float[2] x) => (seq(float[2]) s) {
    e = SequenceEmpty ()
    s = Loop (n, "", e) <body = b (int64 i, bool go, seq(float[2]) t) => (bool on, seq(float[2]) u) {
        on = Identity(go)
        u = SequenceInsert(t, x)
    }>
}""")


def loop_of(proto: object) -> tuple[Node, Loop]:
    (node,) = [node for node in whorl.load(proto).main.nodes if isinstance(node.op, Loop)]
    assert isinstance(node.op, Loop)
    return node, node.op


def test_body_has_the_shapes_of_the_operands_and_invariants_are_hoisted() -> None:
    node, op = loop_of(SUM)
    iteration = Iteration(op, [np.int64(3), None, np.ones(4, "f"), np.ones(4, "f")], (0, 0))
    special, preheader, _ = specialise(node, iteration, {})
    assert tensor(special.outputs[0]).shape == (4,)
    assert [each.op.name for each in preheader.nodes] == ["Neg"]
    assert "Neg" not in {each.op.name for each in special.regions[0].nodes}
    assert "Neg" in {each.op.name for each in node.regions[0].nodes}


def test_dynamic_dims_are_names() -> None:
    node, op = loop_of(SUM)
    iteration = Iteration(op, [np.int64(3), None, np.ones(4, "f"), np.ones(4, "f")], (0, 0))
    special, _, _ = specialise(node, iteration, {(0, 0): "?0", (1, 0): "?0"})
    assert str(tensor(special.outputs[0])) == "float32[?0]"


def test_empty_sequence_has_the_type_that_the_body_inserts() -> None:
    node, op = loop_of(SEQUENCE)
    special, _, _ = specialise(node, Iteration(op, [np.int64(3), None, [], np.ones(2, "f")], (0, 0)), {})
    assert str(special.outputs[0].type) == "seq(float32[2])"


def test_empty_sequence_into_which_nothing_goes_is_unsupported() -> None:
    text = """main (int64 n) => (seq(float[2]) s) {
        e = SequenceEmpty ()
        s = Loop (n, "", e) <body = b (int64 i, bool go, seq(float[2]) t) => (bool on, seq(float[2]) u) {
            on = Identity(go)
            u = Identity(t)
        }>
    }"""
    node, op = loop_of(model(text))
    with pytest.raises(Unsupported, match="shape of the tensors"):
        specialise(node, Iteration(op, [np.int64(3), None, []], (0, 0)), {})
