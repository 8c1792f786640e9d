"""What a written model keeps: names, declarations, outputs of every kind; what an ONNX file cannot hold."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_text import model, run

import whorl
from whorl.formats.onnx.saving import to_proto
from whorl.formats.onnx.writer import Names

X = np.array([[1.0], [3.0]], np.float32)


def again(source: onnx.ModelProto) -> onnx.ModelProto:
    return to_proto(whorl.load(source))


def test_output_supplied_twice_is_written_once():
    source = model("main (float x) => (float k, float k, float x, float x) <float k = {5}> { }")
    np.testing.assert_array_equal(run(again(source), x=np.float32(1)), [5, 5, 1, 1])


def test_declared_lengths_of_a_collected_value_are_retained():
    source = model("""main (int64 n, float[2, 1] x) => (int64[k, 2, 3] ys) {
        ys = Loop (n, "") <body = b (int64 i, bool c) => (bool d, int64[2, 3] y) { d = Identity(c) y = NonZero(x) }>
    }""")
    for proto in (source, again(source), again(again(source))):
        assert run(proto, n=np.int64(0), x=X)[0].shape == (0, 2, 3)


def deep(depth: int) -> onnx.ModelProto:
    """Branches inside branches, built in place: a file that deep cannot be parsed."""
    source = model("main (bool c, float x) => (float y) { }")
    graph, out = source.graph, "y"
    for level in range(depth):
        node = graph.node.add(op_type="If", input=["c"], output=[out])
        for name in ("else_branch", "then_branch"):
            inner = node.attribute.add(name=name, type=onnx.AttributeProto.GRAPH).g
            inner.output.add(name=f"{name}{level}")
            if name == "else_branch" or level == depth - 1:
                inner.node.add(op_type="Neg", input=["x"], output=[f"{name}{level}"])
        graph, out = inner, f"then_branch{level}"
    return source


def test_nesting_deeper_than_a_file_can_hold():
    module = whorl.load(deep(60))
    assert whorl.InferenceSession(module).run(None, {"c": np.array(True), "x": np.float32(1)}) == [-1]
    with pytest.raises(whorl.SaveError, match="graphs are nested deeper than an ONNX file can hold"):
        to_proto(module)


@pytest.mark.parametrize("name", ["a b", "é", "x:0", "%", "x\ny", '"', "'", "1", "x~1", "x_1", "\x00"])
def test_odd_names_are_retained(name):
    info = helper.make_tensor_value_info(name, TensorProto.FLOAT, [])
    out = helper.make_tensor_value_info(f"out {name}", TensorProto.FLOAT, [])
    graph = helper.make_graph([helper.make_node("Neg", [name], [out.name])], "main", [info], [out])
    source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    assert whorl.InferenceSession(again(source)).run([out.name], {name: np.float32(1)}) == [-1]


def test_names_are_fresh_for_any_hints():
    names = Names({"a", "a_1"})
    assert [names.fresh(hint) for hint in ("a", "a", "a_2", "", "", "b")] == [
        "a_2",
        "a_3",
        "a_2_1",
        "value",
        "value_1",
        "b",
    ]


def test_default_that_is_a_sequence_is_refused():
    module = whorl.load(model("main (int64 i, seq(float[2]) w) => (float[2] y) { y = SequenceAt(w, i) }"))
    module.defaults["w"] = [np.ones(2, np.float32)]
    with pytest.raises(whorl.SaveError) as caught:
        to_proto(module)
    assert str(caught.value) == "the default of 'w' is a sequence\n  fix: ONNX has defaults that are tensors"


def test_body_that_answers_what_it_is_passed_is_written_so_verbatim():
    source = model("""main (int64 n, float x, float y) => (float a, float b, float[m] all, float[m] again) {
        a, b, all, again = Loop (n, "", x, y) <body = f (int64 i, bool c, float p, float q)
            => (bool d, float q, float p, float s, float s) { d = Identity(c) s = Add(p, q) }>
    }""")
    module = whorl.load(source)
    for is_verbatim, identities in ((True, 1), (False, 4)):
        proto = to_proto(module, is_verbatim=is_verbatim)
        (body,) = (attribute.g for node in proto.graph.node for attribute in node.attribute)
        assert [node.op_type for node in body.node].count("Identity") == identities
        assert [x.tolist() for x in run(proto, n=np.int64(1), x=np.float32(1), y=np.float32(2))[2:]] == [[3], [3]]
