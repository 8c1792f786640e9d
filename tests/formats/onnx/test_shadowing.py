"""Names of an inner graph that hide a name of a graph around it."""

import pytest
from onnx_text import model

from whorl.formats.onnx.shadowing import shadowed_names

BRANCH = "main (bool c, float x) => (float y) {{ a = Neg(x) [i] y = If (c) <then_branch = t () => (float r) {0}, "
BRANCH += "else_branch = e () => (float q) {{ q = Abs(x) }}> z = Exp(y) }}"


def shadowed(then_branch: str) -> list[tuple[str, str]]:
    return list(shadowed_names(model(BRANCH.format(then_branch)).graph))


@pytest.mark.parametrize(
    "then_branch",
    ["{ a = Abs(x) r = Neg(a) }", "<float a = {1}> { r = Neg(a) }", "{ r = Abs(x) a = Neg(r) }"],
    ids=["node", "initializer", "unused node"],
)
def test_name_that_a_branch_gives_anew_is_reported_with_its_branch(then_branch):
    assert shadowed(then_branch) == [("a", "then_branch of If 'i'")]


def test_names_of_later_nodes_are_visible_too():
    assert shadowed("{ z = Abs(x) r = Neg(z) }") == [("z", "then_branch of If 'i'")]


def test_outputs_of_the_node_itself_are_not_yet_there():
    assert shadowed("{ y = Abs(x) r = Neg(y) }") == []


def test_siblings_and_blank_names_hide_nothing():
    assert shadowed('{ q = Abs(x) r, "" = Dropout(q) }') == []


def test_name_of_a_body_inside_a_branch_is_reported_from_the_inside():
    inner = """{ r = Loop ("", c, x) <body = b (int64 i, bool k, float x) => (bool d, float s) {
        d = Identity(k) s = Neg(x) }> }"""
    assert shadowed(inner) == [("x", "body of Loop 'r' in then_branch of If 'i'")]
