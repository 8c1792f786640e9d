"""Operators of other standards: a library is asked by name, and an unknown name changes nothing."""

import whorl.formats.mdf
from whorl.mdf.functions.operators import find_operators, spread_arguments

assert whorl.formats.mdf


def test_library_that_has_the_name_is_reached():
    operators = find_operators("onnx::Concat")
    assert operators is not None and operators.has("onnx::Concat")
    assert find_operators("linear") is None and find_operators(None) is None


def test_list_of_a_variadic_input_is_an_argument_for_each_part():
    assert spread_arguments("onnx::Concat", {"inputs": ["a", "b"], "axis": 0}) == {
        "inputs[0]": "a", "inputs[1]": "b", "axis": 0,
    }  # fmt: skip
    assert spread_arguments("linear", {"inputs": ["a", "b"]}) == {"inputs": ["a", "b"]}
