"""Values of tests beside a model: what files of them hold."""

import ml_dtypes
import numpy as np
import pytest
from onnx import numpy_helper

from whorl.formats.onnx.values import value_of
from whorl.ir.dtypes import BY_NAME
from whorl.ir.types import TensorType


@pytest.mark.parametrize("dims", [[], [2, 2]])
def test_uint16_stands_for_the_bits_of_bfloat16(dims):
    """As onnx 1.16 and older wrote test data."""
    bits = numpy_helper.from_array(np.full(dims, 0x3F80, np.uint16))
    value = value_of(bits.SerializeToString(), TensorType(BY_NAME["bfloat16"], tuple(dims)), "x")
    np.testing.assert_array_equal(value, np.ones(dims, ml_dtypes.bfloat16), strict=True)


def test_uint16_remains_where_it_is_declared():
    bits = numpy_helper.from_array(np.array([7], np.uint16))
    assert value_of(bits.SerializeToString(), TensorType(BY_NAME["uint16"], (1,)), "x").dtype == np.uint16
