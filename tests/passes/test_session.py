"""The passes that a session runs, by its level of optimisation."""

import pytest
from onnx_text import model

import whorl
from whorl.ir.constants import Constant
from whorl.ir.verify import verify
from whorl.passes.session import prepare

SOURCE = """main (int64 n, float[2, 2] w) => (float[2, 2] y) {
    two = Constant <value = float {2}> ()
    four = Mul (two, two)
    y = Loop (n, , w) <body = step (int64 i, bool c, float[2, 2] s) => (bool e, float[2, 2] t) {
        e = Identity (c) q = MatMul (w, w) r = Mul (q, four) t = Add (s, r) }>
}"""


@pytest.mark.parametrize(
    ("level", "outer", "body"),
    [
        (0, ["Mul", "Loop"], ["Identity", "MatMul", "Mul", "Add"]),
        (1, ["Loop"], ["Identity", "MatMul", "Mul", "Add"]),
        (2, ["MatMul", "Mul", "Loop"], ["Identity", "Add"]),
    ],
)
def test_passes_follow_the_level(level: int, outer: list[str], body: list[str]) -> None:
    module = whorl.load(model(SOURCE))
    prepare(module, level, 1 << 26)
    verify(module)
    nodes = [node for node in module.main.nodes if not isinstance(node.op, Constant)]
    assert [node.op.name for node in nodes if node.op.name not in ("Greater", "If")] == outer
    inner = next(node.regions[0] for node in module.nodes() if node.op.name == "Loop")
    assert [node.op.name for node in inner.nodes if not isinstance(node.op, Constant)] == body
