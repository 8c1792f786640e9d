"""The order in which nodes are read; what it is refused for."""

import numpy as np
from onnx import helper
from onnx_text import model, refusal, run

import whorl
from whorl.formats.onnx.ordering import free_names, reading_order

X = np.array([1, 2], np.float32)
YES = np.array(True)


def node_names(source) -> list[str]:
    return [node.name for node in whorl.load(source).main.nodes]


def test_nodes_out_of_order_are_read_when_their_inputs_are_there():
    source = model("main (float[2] x) => (float[2] y) { [c] y = Neg(b) [b] b = Abs(a) [a] a = Neg(x) [d] d = Exp(x) }")
    assert node_names(source) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(run(source, x=X), [[-1, -2]])


def test_nodes_in_order_keep_it():
    assert node_names(model("main (float x) => (float y) { [b] b = Neg(x) [a] a = Abs(x) [y] y = Add(a, b) }")) == [
        "b",
        "a",
        "y",
    ]


def test_long_chain_backwards_is_read():
    nodes = [helper.make_node("Neg", [f"v{k}"], [f"v{k + 1}"]) for k in reversed(range(2000))]
    source = model("main (float[2] v0) => (float[2] v2000) { a = Neg(v0) }")
    del source.graph.node[:]
    source.graph.node.extend(nodes)
    np.testing.assert_array_equal(run(source, v0=X), [X])


def test_body_reads_a_name_that_the_outer_graph_gives_later():
    source = model("""main (bool c, float[2] x) => (float[2] y) {
        y = If (c) <then_branch = a () => (float[2] r) { r = Neg(later) }, else_branch = b () => (float[2] r)
            { r = Abs(later) }>
        later = Exp(x)
    }""")
    np.testing.assert_allclose(run(source, c=YES, x=X), [-np.exp(X)], rtol=1e-6)


def test_cycle_is_named():
    source = model(
        "main (float x) => (float y) { [n] n = Neg(z) [a] a = Add(x, b) [b] b = Neg(a) z = Abs(a) y = Abs(n) }"
    )
    assert refusal(source) == "the graph: nodes form a cycle: Add 'a' reads Neg 'b' reads Add 'a'"


def test_cycle_inside_a_body_is_positioned():
    source = model("""main (int64 n, float x) => (float y) {
        [l] y = Loop (n, "", x) <body = b (int64 i, bool c, float s) => (bool d, float t) {
            d = Identity(c) t = Neg(t)
        }>
    }""")
    assert refusal(source) == "body of Loop 'l': nodes form a cycle: Neg 't' reads Neg 't'"


def test_missing_input_is_named():
    assert refusal(model("main (float x) => (float y) { a = Neg(y) [add] y = Add(x, nowhere) }")) == (
        "Add 'add': reads 'nowhere', which nothing produces\n  fix: add the missing input or node"
    )


def test_missing_input_of_a_nested_graph_is_positioned():
    source = model("""main (bool c, float x) => (float y) {
        y = If (c) <then_branch = a () => (float r) { r = Neg(nowhere) },
            else_branch = b () => (float r) { r = Abs(x) }>
    }""")
    assert refusal(source) == (
        "Neg 'r' in then_branch of If 'y': reads 'nowhere', which nothing produces\n"
        "  fix: add the missing input or node"
    )


def test_output_that_nothing_produces():
    assert refusal(model("main (float x) => (float y, float z) { y = Neg(x) }")) == (
        "the graph: output 'z' is not produced by any node"
    )


def test_cycle_through_a_body_is_named():
    source = model("""main (bool c, float x) => (float y) {
        [i] y = If (c) <then_branch = t () => (float r) { r = Neg(z) }, else_branch = e () => (float r) { r = Abs(x) }>
        [z] z = Exp(y)
    }""")
    assert refusal(source) == "the graph: nodes form a cycle: If 'i' reads Exp 'z' reads If 'i'"


def test_output_of_a_branch_that_nothing_produces():
    source = model("""main (bool c, float x) => (float y) {
        [i] y = If (c) <then_branch = t () => (float r) { }, else_branch = e () => (float r) { r = Abs(x) }>
    }""")
    assert refusal(source) == "then_branch of If 'i': output 'r' is not produced by any node"


def test_free_names_are_ones_that_no_inner_graph_makes():
    source = model("""main (bool c, float x) => (float y) {
        y = If (c) <
            then_branch = t () => (float r) <float w = {1}> { a = Add(x, w) r = Mul(a, outer) },
            else_branch = e () => (float captured) { }>
    }""")
    assert free_names(source.graph.node[0]) == {"c", "x", "outer", "captured"}


def test_name_that_a_body_makes_later_is_its_own():
    """The inner graph gives `late` a meaning, so it is none of the names around it, in whatever order it stands."""
    source = model("""main (bool c, float x) => (float y) {
        y = If (c) <then_branch = t () => (float r) { r = Neg(late) late = Abs(x) },
                    else_branch = e () => (float r) { r = Abs(x) }>
    }""")
    assert free_names(source.graph.node[0]) == {"c", "x"}


def test_nodes_that_wait_come_as_early_as_they_can():
    nodes = [helper.make_node("Neg", [a], [b]) for a, b in ("ab", "pq", "xa", "bc", "xz")]
    order = reading_order(nodes, lambda name: name == "x")
    assert ["".join(node.output) for node in order.nodes] == ["a", "b", "c", "z"]
    assert [("".join(node.output), names) for node, names in order.stuck] == [("q", {"p"})]
