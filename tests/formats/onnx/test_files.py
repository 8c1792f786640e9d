"""Model files: binary and text, damaged ones, and how deep graphs may be nested."""

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_text import model, refusal, run

TEXT = '<ir_version: 10, opset_import: ["": 21]> main (float[2] x) => (float[2] y) { y = Neg(x) } # the end'
X = np.array([1, 2], np.float32)


def nested(depth: int) -> onnx.ModelProto:
    """A model of graphs, each in a branch of the one around it; made in place, since a copy is parsed anew."""
    source = model("main (bool c, float[2] x) => (float[2] r) { r = Neg(x) }")
    graph = source.graph
    for _ in range(depth):
        node = graph.node[0] if graph.node else graph.node.add()
        node.op_type, node.input[:], node.output[:] = "If", ["c"], ["r"]
        other = node.attribute.add(name="else_branch", type=onnx.AttributeProto.GRAPH).g
        other.node.append(helper.make_node("Abs", ["x"], ["r"]))
        graph = node.attribute.add(name="then_branch", type=onnx.AttributeProto.GRAPH).g
        for inner in (other, graph):
            inner.output.add(name="r")
    if not graph.node:
        graph.node.append(helper.make_node("Neg", ["x"], ["r"]))
    return source


# ---- text ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.onnxtxt", "model.onnxtext"])
def test_text_is_read(tmp_path, name):
    (tmp_path / name).write_text(TEXT)
    np.testing.assert_array_equal(run(tmp_path / name, x=X), [-X])


def test_text_with_an_error_says_where(tmp_path):
    (tmp_path / "model.onnxtxt").write_text(TEXT.replace("Neg", "="))
    assert refusal(tmp_path / "model.onnxtxt") == (
        "'model.onnxtxt' is not ONNX text: [ParseError at position (line: 1 column: 82)]\n"
        f"Error context: {TEXT.replace('Neg', '=')}\nExpected character ( not found."
    )


def test_text_that_is_not_text(tmp_path):
    (tmp_path / "model.onnxtxt").write_bytes(b"\xff\xfe")
    assert refusal(tmp_path / "model.onnxtxt") == (
        "'model.onnxtxt' is not ONNX text: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"
    )


def test_text_nested_deeper_than_protobuf_reads(tmp_path):
    branch = "r = If (c) <else_branch = e () => (float[2] r) { r = Abs(x) }, then_branch = t () => (float[2] r) { "
    heading = '<ir_version: 10, opset_import: ["": 21]> main (bool c, float[2] x) => (float[2] r) { '
    (tmp_path / "model.onnxtxt").write_text(f"{heading}{branch * 50}r = Neg(x){' }>' * 50} }}")
    assert refusal(tmp_path / "model.onnxtxt") == (
        "'model.onnxtxt' is nested deeper than protobuf allows\n  fix: nest fewer graphs"
    )


@pytest.mark.parametrize("text", ["{" * 100_000, f"<> main ({'seq(' * 1_000_000}", f'"({"(" * 300}" {"{" * 201}'])
def test_text_nested_deeper_than_the_parser_survives(tmp_path, text):
    (tmp_path / "model.onnxtxt").write_text(text)
    assert refusal(tmp_path / "model.onnxtxt") == (
        "'model.onnxtxt' has brackets nested deeper than 200\n  fix: nest fewer graphs"
    )


def test_brackets_in_strings_and_comments_are_not_nesting(tmp_path):
    (tmp_path / "model.onnxtxt").write_text(
        TEXT.replace("{", f'{{ s = Constant<value_string = "{"(" * 300}"> ()') + "(" * 300
    )
    np.testing.assert_array_equal(run(tmp_path / "model.onnxtxt", x=X), [-X])


# ---- damage --------------------------------------------------------------------------------------------------------


def test_file_that_is_missing(tmp_path):
    path = tmp_path / "nowhere.onnx"
    assert refusal(path) == f"cannot read {str(path)!r}: No such file or directory"


def test_folder_instead_of_a_file(tmp_path):
    assert refusal(tmp_path) == f"cannot read {str(tmp_path)!r}: Is a directory"


@pytest.mark.parametrize("data", [b"", onnx.ModelProto(ir_version=10, producer_name="nobody").SerializeToString()])
def test_file_without_a_graph(data):
    assert refusal(data) == "the model has no graph\n  fix: the file is empty, truncated or of another format"


def test_file_of_another_format(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"%PDF-1.7 and so on")
    message = refusal(tmp_path / "model.onnx")
    assert message.startswith("'model.onnx' is not an ONNX model: Error parsing message with type 'onnx.ModelProto'")
    assert message.endswith("\n  fix: the file is truncated, damaged, nested too deep, or another format")


def test_every_truncated_file_is_refused():
    data = model("main (float[2] x) => (float[2] y) { y = Neg(x) }").SerializeToString()
    graph_ends = len(data) - len(onnx.OperatorSetIdProto(domain="", version=21).SerializeToString()) - 2
    for length in range(graph_ends):
        assert refusal(data[:length]).startswith(("the bytes given is not an ONNX model", "the model has no graph"))


def test_graph_alone_is_read():
    np.testing.assert_array_equal(run(model("main (float[2] x) => (float[2] y) { y = Neg(x) }").graph, x=X), [-X])


# ---- nesting -------------------------------------------------------------------------------------------------------


def test_graphs_as_deep_as_the_limit():
    np.testing.assert_array_equal(run(nested(64), c=np.array(True), x=X), [-X])


def test_graphs_deeper_than_the_limit():
    assert refusal(nested(65)) == "graphs are nested deeper than 64\n  fix: raise max_depth if the file is trusted"
    assert refusal(nested(3), max_depth=2) == (
        "graphs are nested deeper than 2\n  fix: raise max_depth if the file is trusted"
    )


def test_graphs_deeper_than_the_stack():
    assert refusal(nested(400), max_depth=1000) == "the model is nested too deep\n  fix: lower max_depth"


def test_graphs_deeper_than_protobuf_reads():
    message = refusal(nested(64).SerializeToString())
    assert message.startswith("the bytes given is not an ONNX model: ")
    assert message.endswith("\n  fix: the file is truncated, damaged, nested too deep, or another format")
