"""Names of expressions: functions, types that are called, constants, draws."""

import math

import numpy as np
import pytest

from whorl.mdf.functions.names import CONSTANTS, RANDOM, find_function


@pytest.mark.parametrize("name", ["numpy.float64", "numpy.int32", "numpy.exp", "math.sqrt", "max"])
def test_function_is_reached_by_its_dotted_name(name):
    function = find_function(name)
    assert function is not None and function.name == name


def test_type_of_elements_converts():
    function = find_function("numpy.int32")
    assert function is not None and function.meaning(2.5) == np.int32(2)


def test_constants_and_draws_are_no_functions():
    assert CONSTANTS["math.tau"] == math.tau and find_function("math.tau") is None
    assert "numpy.random.normal" in RANDOM and find_function("numpy.random.normal") is None
