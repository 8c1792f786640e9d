"""Constants of ONNX as parameters."""

import pytest
from formats.mdf.onnx.test_modules import changed

from whorl.errors import LoadError


def test_constant_of_an_unknown_element_type_is_refused(tmp_path):
    def add_constant(graph):
        parameters = {"k": {"value": [1.0], "metadata": {"dtype": "real"}}}
        graph["nodes"]["Neg"]["parameters"] = {
            **parameters,
            "f": {"function": "onnx::Add", "args": {"A": "x", "B": "k"}},
        }
        graph["nodes"]["Neg"]["output_ports"]["y"]["value"] = "f"

    with pytest.raises(LoadError, match="parameter 'k': 'real' is no element type\n  fix: one of bool, "):
        changed(tmp_path, add_constant).module()
