"""Element types of names in a graph."""

import pytest
from onnx_text import model

from whorl.formats.onnx.element_types import element_types


def types(graph: str) -> dict[str, str]:
    return {name: dtype.name for name, dtype in element_types(model(graph).graph).items()}


def test_declared_types_are_ones_of_inputs_outputs_values_and_initializers():
    assert types("g (float x) => (int64 y) <double w = {1}, bool v> { v = Not(v) }") == {
        "x": "float32",
        "y": "int64",
        "w": "float64",
        "v": "bool",
    }


def test_operands_that_must_be_equal_share_a_type_backwards_too():
    settings_types = types("g (float16 x) => (z) { b = Add(a, x) z = Neg(b) }")
    assert settings_types == {"x": "float16", "a": "float16", "b": "float16", "z": "float16"}


def test_types_of_other_operands_are_not_guessed():
    assert types("g (float x) => (y) { y = Gather(x, i) z = Cast<to = 7> (x) }") == {"x": "float32", "y": "float32"}


def test_variadic_operands_and_sequences_are_not_known():
    assert types("g (float x) => (y) { y = SequenceConstruct(x, a) }") == {"x": "float32"}


@pytest.mark.parametrize("node", ["y = Mystery(x)", "y = mine.Neg(x)", 'y = Neg("")'])
def test_nodes_without_a_schema_say_nothing(node):
    assert types(f"g (float x) => (y) {{ {node} }}") == {"x": "float32"}


def test_main_domain_has_two_names():
    assert types("g (float x) => (y) { y = ai.onnx.Neg(x) }") == {"x": "float32", "y": "float32"}
