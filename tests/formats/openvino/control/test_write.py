"""If and Loop as IR layers: what is written, and that OpenVINO runs it as whorl does, one run after the other."""

import pytest
from formats.openvino.onnx_models import module_of

import whorl
from whorl.errors import SaveError
from whorl.formats.openvino.document import Layer
from whorl.formats.openvino.xml.read import read_xml


def layer_of(text: str, type: str, path) -> Layer:
    """The layer of a type in the file that a model is written to."""
    whorl.save(module_of(text), path)
    return next(layer for layer in read_xml(path.read_bytes(), 64).layers if layer.type == type)


def test_branches_have_parameters_of_their_own(tmp_path):
    text = """g (bool c, float[2] a) => (float[2] b) {
      b = If(c)<then_branch = t () => (float[2] x) { x = Add(a, a) },
                else_branch = e () => (float[2] y) { y = Neg(a) }> }"""
    branch = layer_of(text, "If", tmp_path / "m.xml")
    assert len(branch.inputs) == 3
    inputs = [[port.external for port in body.ports if port.is_input] for body in branch.bodies.values()]
    assert inputs == [[1], [2]]


def test_a_branch_that_is_surely_taken_is_written_alone(tmp_path):
    text = """g (float[2] a) => (float[?] b) { c = Constant<value = bool {1}>()
      b = If(c)<then_branch = t () => (float[2] x) { x = Neg(a) }, else_branch = e () => (float y) { y = Size(a) }> }"""
    text = text.replace("float y) { y = Size(a) }", "float y) { n = Size(a) y = Cast<to = 1>(n) }")
    whorl.save(module_of(text), tmp_path / "m.xml")
    types = {layer.type for layer in read_xml((tmp_path / "m.xml").read_bytes(), 64).layers}
    assert types == {"Parameter", "Negative", "Result"}


def test_branches_of_different_rank_are_refused(tmp_path):
    text = """g (bool c, float[2] a) => (float[?] b) {
      b = If(c)<then_branch = t () => (float[2] x) { x = Neg(a) },
                else_branch = e () => (float[1,2] y) { k = Constant<value_ints = [0]>() y = Unsqueeze(a, k) }> }"""
    with pytest.raises(SaveError) as caught:
        whorl.save(module_of(text), tmp_path / "m.xml")
    assert str(caught.value) == (
        "If 'b': output 0 is float32[2] in then_branch and float32[1, 2] in else_branch\n"
        "  fix: give both branches one rank; OpenVINO runs nothing whose rank is open"
    )
