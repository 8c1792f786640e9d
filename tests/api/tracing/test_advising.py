"""What is said of nodes that could be faster."""

from __future__ import annotations

import pytest
from onnx_text import model

import whorl
from whorl.api.tracing.advising import advise
from whorl.passes.expose.scopes import scopes_of

MODEL = whorl.load(
    model("""main (int64 n, float[1, 4] x, float[4, 64] w, float[64, 4] b, float[g] r)
        => (float[1, 4] y, float[q] z) {
        y, z = Loop (n, , x, r) <body = a (int64 i, bool k, float[1, 4] s, float[p] u)
            => (bool h, float[1, 4] t, float[m] v) {
            h = Identity(k)
            wide = MatMul(s, w)
            t = MatMul(wide, b)
            one = Constant<value = float[1] {1}> ()
            v = Concat<axis = 0>(u, one)
        }>
    }""")
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("wide", "'w' is an input of the model: a constant one would be laid out for the product once"),
        ("t", ""),
        ("h", ""),
        ("v", "grows by what it appends, which is not copied again"),
    ],
)
def test_nodes_of_a_body_have_advice(name: str, text: str) -> None:
    _, body = scopes_of(MODEL)
    node = next(each for each in body.region.nodes if each.outputs[0].name == name)
    assert advise(body, node, "", calls_back=False) == text


def test_reasons_come_first() -> None:
    _, body = scopes_of(MODEL)
    node = body.region.nodes[0]
    assert advise(body, node, "it is a string", calls_back=False) == "it is a string"
    assert advise(body, node, "", calls_back=True) == (
        "Identity has no native form for these types and shapes: NumPy runs it"
    )
