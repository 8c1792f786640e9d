"""Nodes that go with control flow: above, below, and never so that a path leaves a region and comes back."""

from onnx_text import model

from whorl.formats.onnx.cutting import Cut, cut_control, node_of, replace_nodes
from whorl.formats.onnx.gathering import gather_neighbours

BODY = """<body = step (int64 i, bool go, float[4] h) => (bool on, float[4] a) {
    on = Identity(go)
    a = Add(h, h)
}>"""
LIGHT = {"Neg", "Abs", "Add", "Mul"}


def gathered(text: str) -> list[Cut]:
    proto = model(text.replace("BODY", BODY))
    light = [n for n, node in enumerate(proto.graph.node) if node.op_type in LIGHT]
    return gather_neighbours(proto, cut_control(proto), light)


def names(cut: Cut, text: str) -> set[str]:
    nodes = model(text.replace("BODY", BODY)).graph.node
    return {nodes[n].output[0] for n in cut.positions}


def test_light_nodes_that_only_the_loop_reads_and_that_alone_read_it_go_along():
    text = """main (float[4] x, int64 n) => (float[4] z, float[4] w) {
        far = Exp(x)
        a = Neg(far)
        b = Abs(a)
        shared = Neg(x)
        w = Abs(shared)
        y = Loop (n, "", b) BODY
        c = Mul(y, shared)
        z = Exp(c)
    }"""
    (cut,) = gathered(text)
    assert names(cut, text) == {"a", "b", "y", "c"}
    assert cut.inputs == ("far", "n", "shared") and cut.outputs == ("c",)


def test_node_that_also_follows_from_the_loop_through_others_is_left_outside():
    text = """main (float[4] x, int64 n) => (float[4] z) {
        y = Loop (n, "", x) BODY
        far = Exp(y)
        z = Add(y, far)
    }"""
    (cut,) = gathered(text)
    assert names(cut, text) == {"y"}


def test_result_that_others_read_is_an_output():
    text = """main (float[4] x, int64 n) => (float[4] y, float[4] z) {
        y = Loop (n, "", x) BODY
        z = Neg(y)
    }"""
    (cut,) = gathered(text)
    assert names(cut, text) == {"y"} and cut.outputs == ("y",)


def test_two_regions_never_wait_for_each_other():
    text = """main (float[4] x, int64 n) => (float[4] p, float[4] q) {
        y = Loop (n, "", x) BODY
        z = Loop (n, "", x) BODY
        y1 = Identity(y)
        z1 = Identity(z)
        p = Add(y, z1)
        q = Add(z, y1)
    }"""
    first, second = gathered(text)
    assert names(first, text) & names(second, text) == set()
    proto = model(text.replace("BODY", BODY))
    pairs = [(c.positions, node_of(c, f"op{n}", "ai.whorl", c.inputs)) for n, c in enumerate((first, second))]
    replace_nodes(proto, pairs, "ai.whorl", 1)
    known = {"x", "n"}
    for node in proto.graph.node:
        assert known.issuperset(node.input)
        known.update(node.output)
