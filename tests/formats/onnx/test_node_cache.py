"""Checks of structurally equal nodes are made once; what fails is checked again, so that errors name the node."""

from pathlib import Path

import pytest
from onnx_text import model, refusal

from whorl.formats.onnx.context import ReadContext, functions_by_key
from whorl.formats.onnx.node_cache import op_of
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Op


def ops(graph: str, opset: int = 21, functions: str = "") -> list[Op | None]:
    """What the cache gives for each node of a graph."""
    source = model(graph + functions, opset, ', "mine": 1' if functions else "")
    context = ReadContext({"": opset, "mine": 1}, functions_by_key(source.functions), LoadOptions(), Path())
    return [op_of(node, list(node.input), list(node.output), context) for node in source.graph.node]


def test_equal_nodes_share_one_op():
    first, second, other = ops("""g (float x) => (float y) {
        a = Softmax<axis = 0> (x) b = Softmax<axis = 0> (a) y = Softmax<axis = -1> (b)
    }""")
    assert first is not None
    assert first is second
    assert (str(first), str(other)) != ("None", str(first))


def test_numbers_of_inputs_and_outputs_count():
    bounded, half, free = ops("g (float x, float l) => (float y) { a = Clip(x, l, l) b = Clip(x, l) y = Clip(x) }")
    assert bounded == half == free
    assert None not in (bounded, half, free)


@pytest.mark.parametrize(
    "node",
    [
        'y = Clip(x, "", x)',
        "y = Constant<value_float = 1.0> ()",
        "y = Neg(x, x)",
        "y = Softmax<axis = 1.5> (x)",
        "y = Mystery(x)",
        "y = Squeeze(x)",
    ],
)
def test_nodes_that_are_wrong_or_read_in_another_way_are_left_to_the_reader(node):
    opset = 11 if "Squeeze" in node else 21
    assert ops(f"g (float x) => (float y) {{ {node} }}", opset) == [None]


def test_function_of_the_file_is_no_op_of_its_name():
    function = '<opset_import: ["": 21], domain: "mine"> F (a) => (b) { b = Neg(a) }'
    assert ops("g (float x) => (float y) { y = mine.F(x) }", functions=function) == [None]


def test_second_of_two_wrong_nodes_is_named_too():
    """The cache has the first one's failure; the message is made anew."""
    source = model("g (float x) => (float z) { [a] y = Softmax<axis = 1.5> (x) [b] z = Softmax<axis = 1.5> (y) }")
    assert refusal(source).startswith("Softmax 'a': ")
    del source.graph.node[0]
    source.graph.node[0].input[0] = "x"
    assert refusal(source).startswith("Softmax 'b': ")
