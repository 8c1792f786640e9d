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


def test_output_given_twice_is_written_once():
    source = model("main (float x) => (float k, float k, float x, float x) <float k = {5}> { }")
    np.testing.assert_array_equal(run(again(source), x=np.float32(1)), [5, 5, 1, 1])


def test_declared_lengths_of_a_collected_value_are_kept():
    source = model("""main (int64 n, float[2, 1] x) => (int64[k, 2, 3] ys) {
        ys = Loop (n, "") <body = b (int64 i, bool c) => (bool d, int64[2, 3] y) { d = Identity(c) y = NonZero(x) }>
    }""")
    for proto in (source, again(source), again(again(source))):
        assert run(proto, n=np.int64(0), x=X)[0].shape == (0, 2, 3)


def test_declared_lengths_of_a_scan_are_kept():
    source = model("""main (float[t, 2] x) => (int64[1, 3, t] ys) {
        ys = Scan <num_scan_inputs = 1, scan_output_axes = [-1], body = b (float[2] row) => (int64[1, 3] y)
            { y = NonZero(row) }> (x)
    }""")
    for proto in (source, again(source)):
        assert run(proto, x=np.zeros((0, 2), np.float32))[0].shape == (1, 3, 0)


def test_loop_without_any_named_output_is_kept():
    source = model("""main (int64 n, float x) => (float x) {
        "" = Loop (n, "", x) <body = b (int64 i, bool c, float h) => (bool d, float h) { d = Identity(c) }>
    }""")
    assert run(again(source), n=np.int64(2), x=np.float32(1)) == [1]


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


@pytest.mark.parametrize(("axes", "then"), [("{0}", "float32[3, 1]"), ("{2}", "float32[1, 3]")])
def test_branches_of_two_shapes_need_the_opset_that_allows_them(axes, then):
    module = whorl.load(model(f"""main (float[1, 3, 1] x, bool c) => (y) {{
        axes = Constant<value = int64[1] {axes}> ()
        both = Constant<value = int64[2] {{0, 2}}> ()
        [pick] y = If (c) <then_branch = t () => (a) {{ a = Squeeze (x, axes) }},
                           else_branch = e () => (b) {{ b = Squeeze (x, both) }}>
    }}""", opset=13))  # fmt: skip
    assert to_proto(module, opset=11).opset_import[0].version == 11
    with pytest.raises(whorl.SaveError) as caught:
        to_proto(module, opset=10)
    assert str(caught.value) == (
        f"If 'pick': output 0 is {then} in then_branch and float32[3] in else_branch, which If-1 does not allow\n"
        "  fix: opset 11 or later can say it"
    )


def test_branches_that_may_have_one_shape_are_written_in_old_opsets():
    module = whorl.load(model("""main (float[n] x, float[m] z, bool c) => (float[k] y) {
        y = If (c) <then_branch = t () => (a) { a = Neg (x) }, else_branch = e () => (b) { b = Neg (z) }>
    }""", opset=10))  # fmt: skip
    assert to_proto(module).opset_import[0].version == 10


@pytest.mark.parametrize("name", ["a b", "é", "x:0", "%", "x\ny", '"', "'", "1", "x~1", "x_1", "\x00"])
def test_odd_names_are_kept(name):
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


def test_blank_outputs_are_written_with_names():
    """onnxruntime takes neither a Loop with a blank output nor one with fewer outputs than its body gives."""
    source = model("""main (int64 n, float x) => (float y) {
        y, "" = Loop (n, "", x) <body = b (int64 i, bool c, float h) => (bool d, float g, float e)
            { d = Identity(c) g = Add(h, h) e = Neg(h) }>
    }""")
    (loop,) = again(source).graph.node
    assert list(loop.output) == ["y", "unused"]
