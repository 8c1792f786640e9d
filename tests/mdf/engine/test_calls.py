"""Calls of functions: arguments first, each sees those before it."""

import pytest
from mdf.engine.test_engine import engine, node, outputs

from whorl.errors import LoadError, UnsupportedError


def test_functions_are_ordered_by_what_they_read():
    functions = {"f": {"value": "g + 1"}, "g": {"function": "linear", "args": {"variable0": 2, "slope": "h"}},
                 "h": {"value": "3"}}  # fmt: skip
    assert outputs(engine({"N": node(output="f", functions=functions)}), None) == [7]


def test_argument_sees_the_ones_before_it():
    functions = {"f": {"args": {"a": 2, "b": "a + 1"}, "value": "a * b"}}
    assert outputs(engine({"N": node(output="f", functions=functions)}), None) == [6]


def test_unknown_function_is_refused():
    with pytest.raises((UnsupportedError, LoadError), match="onnx::Nothing"):
        engine({"N": node({"x": {"function": "onnx::Nothing"}})}).evaluate()
