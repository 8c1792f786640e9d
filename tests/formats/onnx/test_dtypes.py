"""ONNX's numbers of the element types."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper

from whorl.errors import LoadError
from whorl.formats.onnx.dtypes import FROM_ONNX, TO_ONNX, from_onnx

NUMBERS = [number for name, number in onnx.TensorProto.DataType.items() if name != "UNDEFINED"]


@pytest.mark.parametrize("number", NUMBERS, ids=onnx.TensorProto.DataType.Name)
def test_type_is_the_one_that_onnx_names(number):
    dtype = from_onnx(number, "x")
    assert TO_ONNX[dtype] == number
    if number in (onnx.TensorProto.STRING,):
        assert dtype.kind == "O"
    else:
        assert dtype == helper.tensor_dtype_to_np_dtype(number)


def test_numbers_are_ones_of_the_specification():
    assert FROM_ONNX[1] == np.float32
    assert FROM_ONNX[11] == np.float64
    assert FROM_ONNX[16] == ml_dtypes.bfloat16


@pytest.mark.parametrize("number", [0, -1, 999])
def test_number_that_is_none_is_refused(number):
    with pytest.raises(LoadError) as caught:
        from_onnx(number, "input 'x'")
    assert str(caught.value) == f"input 'x' has element type number {number}, which ONNX does not define"
