"""Versions and functions of a model, and how deep graphs may be nested."""

import pytest
from onnx import helper
from onnx_text import model, refusal

import whorl
from whorl.errors import LoadError, UnsupportedError
from whorl.formats.onnx.context import ReadContext, domain_of, function_opsets, node_title, opset_versions
from whorl.formats.options import LoadOptions


@pytest.mark.parametrize("version", [0, -1, 29])
def test_opset_that_is_not_known(version):
    assert refusal(model("main (float x) => (float y) { y = Neg(x) }", version)) == (
        f"the model uses version {version} of domain 'ai.onnx'; versions 1 to 28 are known\n"
        "  fix: convert the model with onnx.version_converter"
    )


def test_no_opset_is_version_1():
    source = model("main (float x) => (float y) { y = Neg(x) }")
    del source.opset_import[:]
    assert whorl.load(source).metadata["opsets"] == {"": 1}


def test_ai_onnx_is_the_main_domain():
    source = model("main (float x) => (float y) { y = Neg(x) }")
    source.opset_import[0].domain = "ai.onnx"
    assert whorl.load(source).metadata["opsets"] == {"": 21}
    assert domain_of("ai.onnx") == domain_of("") == ""
    assert domain_of("ai.onnx.ml") == "ai.onnx.ml"


def test_version_of_a_domain_that_is_not_known_is_not_looked_at():
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("mine", 1000)]
    assert opset_versions(imports) == {"": 21, "mine": 1000}


def test_function_has_the_versions_of_the_model_where_it_names_none():
    function = helper.make_function("mine", "F", ["x"], ["y"], [], [helper.make_opsetid("", 12)])
    assert function_opsets(function, {"": 21, "other": 3}) == {"": 12, "other": 3}


def test_function_of_an_unknown_version_is_named():
    function = helper.make_function("mine", "F", ["x"], ["y"], [], [helper.make_opsetid("", 99)])
    with pytest.raises(UnsupportedError) as caught:
        function_opsets(function, {})
    assert str(caught.value) == (
        "function 'F': the model uses version 99 of domain 'ai.onnx'; versions 1 to 28 are known\n"
        "  fix: convert the model with onnx.version_converter"
    )


@pytest.mark.parametrize(("name", "outputs", "title"), [("n", ["y"], "Neg 'n'"), ("", ["", "z"], "Neg 'z'")])
def test_node_is_called_by_its_name_or_its_first_output(name, outputs, title):
    assert node_title(helper.make_node("Neg", ["x"], outputs, name=name)) == title


def test_graphs_as_deep_as_the_options_allow():
    options = LoadOptions(max_depth=2)
    context = ReadContext({"": 21}, {}, options).inside("body of Loop 'a'").inside("body of Loop 'b'")
    assert context.location == "body of Loop 'b' in body of Loop 'a'"
    with pytest.raises(LoadError) as caught:
        context.inside("body of Loop 'c'")
    assert str(caught.value) == ("graphs are nested deeper than 2\n  fix: raise max_depth if the file is trusted")
