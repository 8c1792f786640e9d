"""Functions of nodes that are no expressions are found by name."""

import numpy as np
import pytest

import whorl.formats.mdf
from whorl.mdf.functions.named import find_special

assert whorl.formats.mdf


def test_operator_of_a_registered_library_is_called_with_the_names_of_its_node():
    add = find_special("onnx::Add")
    assert add is not None
    np.testing.assert_array_equal(add({"A": np.ones(2), "B": 2.0}, {}), [3, 3])


@pytest.mark.parametrize("name", ["chunk_to_string", "actr.chunk_to_string"])
def test_function_of_act_r_gets_its_arguments_in_order(name):
    function = find_special(name)
    assert function is not None
    assert function({"chunk": {"name": "a", "ISA": "count"}}, {"chunk": "chunk"})


def test_other_name_is_no_function():
    assert find_special("linear") is None and find_special("onnx::NoSuch") is None
