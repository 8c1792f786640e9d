"""Whether derivatives are linear, read off the expressions."""

import pytest
from mdf.models import model, node

from whorl.mdf.expressions.syntax import parse
from whorl.mdf.integration.dependencies import Dependencies
from whorl.mdf.integration.linearity import CONSTANT, LINEAR, OTHER, degree, is_linear


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 * y + numpy.exp(y)", CONSTANT),
        ("numpy.pi", CONSTANT),
        ("a * (1 - x) - b * x", LINEAR),
        ("-(x + y) / 10 - +x", LINEAR),
        ("x if y > 0 else 0", LINEAR),
        ("x * x", OTHER),
        ("y / x", OTHER),
        ("x ** 2", OTHER),
        ("numpy.exp(x)", OTHER),
        ("W @ x", OTHER),
        ("1 if x > 0 else 0", OTHER),
        ("x[0]", OTHER),
    ],
)
def test_degree_of_an_expression_in_x(text, expected):
    assert degree(parse(text).tree, {"x": LINEAR}) == expected


def test_long_sum_is_gone_along_without_recursion():
    assert degree(parse("+".join(["x"] * 800)).tree, {"x": LINEAR}) == LINEAR


@pytest.mark.parametrize(
    ("derivative", "others", "expected"),
    [
        ("f - x", {"functions": {"f": {"function": "linear", "args": {"variable0": "x", "slope": 2}}}}, True),
        ("f - x", {"functions": {"f": {"function": "logistic", "args": {"variable0": "x"}}}}, False),
        ("f - x", {"functions": {"f": {"value": "g * x", "args": {"g": "k"}}}}, True),
        ("f - x", {"functions": {"f": {"function": "onnx::Relu", "args": {"X": "x"}}}}, False),
        ("f - x", {"functions": {"f": {"function": "onnx::Relu", "args": {"X": "k"}}}}, True),
        ("clipped", {}, False),
    ],
)
def test_derivative_through_functions_and_parameters(derivative, others, expected):
    parameters = {
        "k": {"value": 2},
        "x": {"default_initial_value": 1, "time_derivative": derivative},
        "clipped": {"value": "x", "conditions": {"high": {"test": "x > 1", "value": 1}}},
    }
    graph = model({"N": node(parameters, **others)}).graph
    assert is_linear(Dependencies(graph.nodes["N"]), "x") is expected
