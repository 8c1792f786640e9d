"""What is refused before any node is read."""

import onnx
from onnx import helper
from onnx_text import model, refusal

import whorl
from whorl.formats.onnx.screening import MAX_NODES


def doubling(levels: int) -> onnx.ModelProto:
    """A function that calls another twice, which calls another twice, and so on."""
    source = model("main (float x) => (float y) { y = f.f0(x) }", domains=', "f": 1')
    for k in range(levels):
        inner = [("Neg", "")] if k == levels - 1 else [(f"f{k + 1}", "f")] * 2
        nodes = [
            helper.make_node(op, ["x" if n == 0 else "t"], ["y" if n == len(inner) - 1 else "t"], domain=domain)
            for n, (op, domain) in enumerate(inner)
        ]
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
        source.functions.append(helper.make_function("f", f"f{k}", ["x"], ["y"], nodes, opsets))
    return source


def test_functions_that_multiply_are_refused():
    message = f"the model has {2**59} nodes once its functions are expanded\n  fix: keep below {MAX_NODES}"
    assert refusal(doubling(60)) == message


def test_functions_that_call_each_other_are_expanded():
    assert sum(node.op.name == "Neg" for node in whorl.load(doubling(6)).nodes()) == 32
