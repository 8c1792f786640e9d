"""Nodes of constants are computed while a file is read; what is left means the same, and errors stay as they were."""

import numpy as np
import onnx
import pytest
from onnx_text import model

import whorl
from whorl.formats.onnx.files import load_onnx
from whorl.formats.options import LoadOptions
from whorl.ir.constants import Constant
from whorl.ir.graph import Module
from whorl.passes.context import Context, PassOptions


def folded(source: onnx.ModelProto, **options: object) -> tuple[Module, Context]:
    context = Context(None, PassOptions(**options))  # type: ignore[arg-type]
    return load_onnx(source, LoadOptions(), context), context


def kinds(module: Module) -> list[str]:
    return [node.op.name for node in module.nodes() if not isinstance(node.op, Constant)]


CHAIN = model("""main (float[2] x) => (float[2] y) <float[2] a = {1, 4}> {
    one = Constant <value_float = 1.0> ()
    b = Sqrt (a)
    c = Add (b, one)
    y = Mul (x, c)
}""")


def test_chain_of_constants_never_becomes_nodes():
    module, context = folded(CHAIN)
    assert kinds(module) == ["Mul"] and context.report.edits["fold_constants"] == 2
    assert whorl.InferenceSession(module).run(None, {"x": np.ones(2, np.float32)})[0].tolist() == [2, 3]


@pytest.mark.parametrize("limit", [0, 1])
def test_limit_counts_here_too(limit):
    module, context = folded(CHAIN, limit=limit)
    assert context.edits == limit and len(kinds(module)) == 3 - limit


def test_nodes_in_any_order_in_the_file():
    shuffled = onnx.ModelProto()
    shuffled.CopyFrom(CHAIN)
    nodes = list(shuffled.graph.node)[::-1]
    del shuffled.graph.node[:]
    shuffled.graph.node.extend(nodes)
    assert kinds(folded(shuffled)[0]) == ["Mul"]


def test_input_with_a_default_is_no_constant():
    source = model("""main (float x = {2}) => (float y) { y = Neg (x) }""")
    assert kinds(folded(source)[0]) == ["Neg"]


GROWING = model(
    """main (float[2] x, int64 n) => (float[m] y, int64[n] sizes, int64[n] lengths, int64[n] counts) {
    y, sizes, lengths, counts = Loop (n, "", x) <body = b (int64 i, bool go, float row)
        => (bool more, float next, int64 size, int64[1] length, int64 count) {
        size = Size (row)
        length = If (go) <
            then_branch = t () => (int64[1] a) { a = Shape (row) },
            else_branch = e () => (int64[1] z) { z = Constant <value_ints = [-1]> () }
        >
        count = own.Count (row)
        next = Concat <axis = 0> (row, row)
        more = Identity (go)
    }>
}
<domain: "own", opset_import: ["" : 21]> Count (v) => (n) { n = Size (v) }""",
    domains=', "own": 1',
)


def test_lengths_of_the_first_iteration_are_no_constants():
    y, *sizes = whorl.InferenceSession(whorl.optimize(GROWING)).run(
        None, {"x": np.ones(2, np.float32), "n": np.int64(3)}
    )
    assert y.size == 16 and [each.tolist() for each in sizes] == [[2, 4, 8], [[2], [4], [8]], [2, 4, 8]]


def test_known_shape_is_a_constant_for_what_follows():
    source = model("""main (float[2, 3] x) => (float[m, n] y) <int64 one = {1}, int64[1] axis = {0}> {
        s = Shape (x)
        n = Gather <axis = 0> (s, one)
        u = Unsqueeze (n, axis)
        m = Neg (u)
        v = Neg (m)
        w = Concat <axis = 0> (v, v)
        y = Expand (x, v)
    }""")
    assert kinds(folded(source)[0]) == ["Expand"]


def test_function_of_the_file_is_called_not_the_op_of_its_name():
    source = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21, "own" : 1]>
        main (float x) => (float y) <float a = {3}> { b = own.Neg (a)  y = Add (x, b) }
        <domain: "own", opset_import: ["" : 21]> Neg (p) => (q) { q = Exp (p) }""")
    module, _ = folded(source)
    (y,) = whorl.InferenceSession(module).run(None, {"x": np.float32(0)})
    np.testing.assert_allclose(y, np.exp(np.float32(3)), rtol=1e-6)


@pytest.mark.parametrize(
    "nodes",
    [
        "b = Add (a, wrong) y = Mul (x, b)",
        "b = Neg (a) b = Exp (a) y = Mul (x, b)",
        "b = Clip (a, a) y = Mul (x, b)",
        "b = Neg <alpha = 1.0> (a) y = Mul (x, b)",
        "b = Nag (a) y = Mul (x, b)",
        "b = Add (a, missing) y = Mul (x, b)",
    ],
)
def test_errors_are_the_ones_of_reading_without_folding(nodes):
    source = model(f"main (float[2] x) => (float[2] y) <float[2] a = {{1, 4}}, int64 wrong = {{1}}> {{ {nodes} }}")
    messages = []
    for folding in (None, Context()):
        with pytest.raises(whorl.LoadError) as caught:
            load_onnx(source, LoadOptions(), folding)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_large_results_live_no_longer_than_they_are_read():
    steps = " ".join(f"x{k + 1} = Softmax (x{k})" for k in range(20))
    source = model(f"main (float[600, 600] x) => (float[600, 600] y) {{ {steps} y = Add (x, x20) }}")
    weight = np.random.default_rng(0).random((600, 600)).astype(np.float32)
    source.graph.initializer.append(onnx.numpy_helper.from_array(weight, "x0"))
    module, context = folded(source)
    assert kinds(module) == ["Add"] and context.pool.peak <= 2 * weight.nbytes and context.pool.live == weight.nbytes


def test_node_that_fails_remains_with_its_reason():
    source = model("""main (int64 x) => (int64 y) <int64 a = {1}, int64 zero = {0}> {
        b = Div (a, zero)
        y = Mul (x, b)
    }""")
    module, context = folded(source)
    assert kinds(module) == ["Div", "Mul"]
    assert list(context.report.skipped) == [("Div", "fails: integer division by zero")]
