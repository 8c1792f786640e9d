"""Bodies and nodes as modules; constants from further out come along."""

from __future__ import annotations

import numpy as np
from onnx_text import model

import whorl
from whorl.ir.verify import verify
from whorl.passes.expose.isolating import constant_of, isolate_body, isolate_node
from whorl.passes.expose.scopes import scopes_of

SCALE = model("""main (int64 n, float[2] x, float k) => (float[2] y) {
    two = Constant<value = float[2] {2, 3}> ()
    [scale] y = Loop (n, , x) <body = a (int64 i, bool g, float[2] x) => (bool h, float[2] t) {
        h = Identity(g)
        s = Mul(x, two)
        [scaled] t = Mul(s, k)
    }>
}""")


def test_captured_constants_are_inside_and_others_are_inputs() -> None:
    scope = scopes_of(whorl.load(SCALE))[1]
    piece = isolate_body(scope)
    verify(piece.module)
    assert [value.name for value in piece.module.main.arguments] == ["i", "g", "x", "k"]
    assert [constant_of(scope, value) is None for value in piece.inputs] == [True] * 4
    feeds = {"i": np.array(0), "g": np.array(True), "x": np.float32([1, 1]), "k": np.float32(10)}
    outputs = whorl.InferenceSession(piece.module).run(None, feeds)
    assert outputs[1].tolist() == [20.0, 30.0]


def test_node_has_its_operands_as_inputs() -> None:
    scope = scopes_of(whorl.load(SCALE))[1]
    piece = isolate_node(scope, scope.region.nodes[-1])
    assert [value.name for value in piece.module.main.arguments] == ["s", "k"]
    assert piece.module.output_names == ["t"]
