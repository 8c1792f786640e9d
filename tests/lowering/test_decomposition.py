"""Composite ops as simpler nodes: names, types and results stay, in regions inside too."""

import numpy as np
import pytest
from passes.bits import copied, interpreted
from passes.programs import read

from whorl.ir.graph import Node
from whorl.lowering.decomposition import decompose

PRODUCT = """main(%x: float32[2, 3], %y: float32[3, 4]) {
  %p: float32[4, 2] = Einsum "product" (%x, %y) {equation = "ij,jk->ki"}
  %q: float32[4, 2] = Neg(%p)
  return q = %q, p = %p
}"""
RECURRENT = """main(%n: int64[], %x: float32[2, 1, 3], %w: float32[1, 4, 3], %r: float32[1, 4, 4]) {
  %y: float32[2, 1, 1, 4] = Loop(%n, _, %x, %w, %r) {carried = 0, last = 1}
  body(%i: int64[], %go: bool[], %a: float32[2, 1, 3], %b: float32[1, 4, 3], %c: float32[1, 4, 4]) {
    %s: float32[2, 1, 1, 4], %h: float32[1, 1, 4] = RNN "cell" (%a, %b, %c) {hidden_size = 4}
    return %go, %s
  }
  return y = %y
}"""


def check(text: str, **feeds: np.ndarray) -> list[Node]:
    """All nodes after composite ones are decomposed; the results are nearly the same."""
    module = read(text)
    outcome = copied(module)
    decompose(outcome.main)
    for a, b in zip(interpreted(module, feeds) or (), interpreted(outcome, feeds) or (), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
    return list(outcome.nodes())


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def test_nodes_that_stand_for_one_have_its_name_and_its_output():
    nodes = check(PRODUCT, x=draw(2, 3), y=draw(3, 4))
    assert "Einsum" not in {node.op.name for node in nodes} and nodes[-1].op.name == "Neg"
    assert {node.name for node in nodes[:-1]} == {"product"}
    assert nodes[-2].outputs[0].name == "p" and str(nodes[-2].outputs[0].type) == "float32[4, 2]"


def test_op_inside_a_body_is_decomposed_there():
    nodes = check(RECURRENT, n=np.array(1), x=draw(2, 1, 3), w=draw(1, 4, 3), r=draw(1, 4, 4))
    kinds = [node.op.name for node in nodes]
    assert "RNN" not in kinds and kinds.count("Loop") == 2


@pytest.mark.parametrize("body", ["%y: float32[2] = Exp(%x)", "%y: float32[2] = Clip(%x, _, _)"])
def test_simple_node_remains_the_very_node(body):
    module = read(f"main(%x: float32[2]) {{\n  {body}\n  return y = %y\n}}")
    before = list(module.main.nodes)
    decompose(module.main)
    assert module.main.nodes == before
