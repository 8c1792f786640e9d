"""Tensors and values in files: what they hold, and what is refused, with whole messages."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from whorl.errors import LoadError
from whorl.formats.onnx.tensors import array_of, proto_of, type_from, value_of
from whorl.ir.dtypes import BY_NAME, bits
from whorl.ir.types import TensorType


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (TensorProto(data_type=1, dims=[2], float_data=[1]), "w does not hold the 2 elements of float32[2]: "),
        (TensorProto(data_type=1, dims=[2], raw_data=bytes(7)), "w has 7 bytes, float32[2] takes 8"),
        (TensorProto(data_type=22, dims=[3], raw_data=bytes(1)), "w has 1 bytes, int4[3] takes 2"),
        (TensorProto(data_type=8, dims=[2], string_data=[b"a"]), "w holds 1 strings, its shape [2] needs 2"),
        (TensorProto(data_type=0, dims=[2]), "w has element type number 0, which ONNX does not define"),
        (TensorProto(data_type=1, dims=[-2]), "w declares the impossible shape [-2]"),
        (TensorProto(data_type=1, dims=[0, 1 << 62]), "w declares the impossible shape [0, 4611686018427387904]"),
        (
            TensorProto(data_type=1, dims=[1], data_location=TensorProto.EXTERNAL),
            "w lies in another file, which is not allowed here\n  fix: put its elements into this one",
        ),
    ],
)
def test_tensor_that_contradicts_itself(tensor, message):
    with pytest.raises(LoadError) as caught:
        array_of(tensor, "w")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("name", [name for name, dtype in BY_NAME.items() if bits(dtype) % 8])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 8, 13])
def test_narrow_elements_lie_in_files_as_onnx_packs_them(name, count):
    array = (np.arange(count) % 3).astype(np.float32).astype(BY_NAME[name])
    tensor = numpy_helper.from_array(array)
    assert array_of(tensor, "w").tobytes() == array.tobytes()
    assert proto_of(array).raw_data == tensor.raw_data


def test_bytes_of_a_tensor_are_not_copied():
    tensor = numpy_helper.from_array(np.arange(3, dtype=np.float32))
    assert not array_of(tensor, "w").flags.owndata


@pytest.mark.parametrize("dims", [[], [2, 2]])
def test_uint16_stands_for_the_bits_of_bfloat16(dims):
    """As onnx 1.16 and older wrote test data."""
    bits = numpy_helper.from_array(np.full(dims, 0x3F80, np.uint16))
    value = value_of(bits.SerializeToString(), TensorType(BY_NAME["bfloat16"], tuple(dims)), "x")
    np.testing.assert_array_equal(value, np.ones(dims, ml_dtypes.bfloat16), strict=True)


def test_uint16_stays_where_it_is_declared():
    bits = numpy_helper.from_array(np.array([7], np.uint16))
    assert value_of(bits.SerializeToString(), TensorType(BY_NAME["uint16"], (1,)), "x").dtype == np.uint16


def test_type_nested_too_deep():
    proto = onnx.TypeProto()
    inner = proto
    for _ in range(20):
        inner = inner.sequence_type.elem_type
    inner.tensor_type.elem_type = 1
    with pytest.raises(LoadError) as caught:
        type_from(proto, "input 'x'")
    assert str(caught.value) == "input 'x' has a type nested deeper than 16"
