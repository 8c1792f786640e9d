"""Which operators there are, and their arguments."""

import numpy as np
import pytest
from formats.mdf.onnx.test_calls import PAIR

from whorl.formats.mdf.onnx.calls import call_named
from whorl.formats.mdf.onnx.operators import spread_arguments


@pytest.mark.parametrize("written", ["[a, b]", "['a', 'b']", " [ 'a' , b ]", ["a", "b"]])
def test_list_of_a_variadic_input_is_several_arguments(written):
    spread = spread_arguments("onnx::Concat", {"inputs": written, "axis": 0})
    assert spread == {"inputs[0]": "a", "inputs[1]": "b", "axis": 0}
    names = {"inputs[0]": PAIR, "inputs[1]": PAIR + 2, "axis": 0}
    np.testing.assert_array_equal(call_named("onnx::Concat", names, spread, "float64"), [1, 2, 3, 4])


def test_list_of_an_input_that_is_not_variadic_remains_one_argument():
    for name, args in (
        ("onnx::Reshape", {"data": "x", "shape": "[2, 3]"}),
        ("onnx::Loop", {"M": "n", "cond": "[go]", "v_initial": "x"}),
        ("onnx::Concat", {"inputs": "x", "axis": "[0]"}),
        ("onnx::Concat", {"inputs": [1.0, 2.0]}),
        ("linear", {"variable0": "[a, b]"}),
    ):
        assert spread_arguments(name, args) == args
