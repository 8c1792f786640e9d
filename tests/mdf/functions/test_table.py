"""Functions of expressions are rows: name, meaning, arity, growth and native form."""

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.mdf.functions.names import find_function
from whorl.mdf.functions.table import FUNCTIONS


def test_function_of_numpy_knows_its_arity_and_its_namesake_of_math():
    arctan2, atan2 = FUNCTIONS["numpy.arctan2"], FUNCTIONS["math.atan2"]
    assert (arctan2.meaning, arctan2.positional, arctan2.is_elementwise) == (np.arctan2, 2, True)
    assert atan2.native is arctan2.native and atan2.limit_values is np.arctan2


def test_call_with_too_many_arguments_is_refused():
    with pytest.raises(RunError, match=r"numpy\.clip has 4 arguments by position, at most 3 are taken"):
        FUNCTIONS["numpy.clip"].check_call([1, 2, 3, 4], [])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("numpy.zeros", [(2**20, 2**20)]), ("numpy.eye", [2**20]), ("numpy.linspace", [0, 1, 2**30]),
     ("numpy.outer", [np.ones(2**15), np.ones(2**15)]), ("numpy.repeat", [np.ones(4), 2**28])],
)  # fmt: skip
def test_result_larger_than_any_shape_is_refused(name, arguments):
    with pytest.raises(RunError, match="would make more than 268435456 elements"):
        FUNCTIONS[name].check_call(arguments, [])


def test_name_without_a_row_is_no_function():
    assert find_function("numpy.load") is None and find_function("open") is None and find_function(None) is None
