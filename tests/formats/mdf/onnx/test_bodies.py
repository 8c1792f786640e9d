"""Graphs of a file as nodes of a region."""

import numpy as np
import pytest
from mdf.test_bodies import exported, graph, step, values

from whorl.errors import LoadError


def test_ports_that_name_one_function_take_its_results_in_order():
    node = step("TopK", "v", ["x"], {"K": [1]}, X="x", K="K")
    node["output_ports"]["i"] = {"value": "do_v"}
    actual = values({"m": {"graphs": {"g": graph({"n": node})}}}, x=np.array([1.0, 3, 2]))
    assert (actual["v"].tolist(), actual["i"].tolist()) == ([3.0], [1])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"g": 3}, "body is int, expected a graph"),
        ({"g": graph({"n": step("Add", "y", ["q"], A="q", B="q")}, metadata={"onnx_inputs": 1})}, "no list of texts"),
        ({"g": graph({"n": step("Add", "y", ["q"], A="q", B="q")},
                     metadata={"onnx_inputs": ["a"], "onnx_outputs": ["y"]})}, "it takes 1 inputs, expected 3"),
        ({"g": graph({"n": step("Less", "y", ["v"], A="v", B="v")},
                     metadata={"onnx_inputs": ["i", "c", "v"], "onnx_outputs": ["y", "z"]})},
         "it has no output 'z'"),
        ({"g": graph({"n": step("Less", "y", ["q"], A="q", B="q")},
                     metadata={"onnx_inputs": ["i", "c", "v"], "onnx_outputs": ["y", "v"]})},
         "nothing feeds its input port 'q'"),
    ],
)  # fmt: skip
def test_wrong_bodies_are_refused(body, message):
    with pytest.raises(LoadError) as raised:
        values(exported({}) | {"m": {"graphs": {"g": graph({"l": step("Loop", "r", (), {"body": body, "M": 2, "v": 1.0},
               M="M", v_initial="v")})}}})  # fmt: skip
    assert message in str(raised.value)
