"""Tensors and values in files: what they hold, and what is refused, with whole messages."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from whorl.errors import LoadError
from whorl.formats.onnx.dtypes import TO_ONNX
from whorl.formats.onnx.tensors import array_of, proto_of, type_from
from whorl.ir.dtypes import BY_NAME, bits


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


@pytest.mark.parametrize("name", [name for name in BY_NAME if name != "string"])
@pytest.mark.parametrize("count", [0, 1, 3, 4])
def test_listed_elements_are_what_onnx_reads(name, count):
    dtype = BY_NAME[name]
    numbers = [-1.5, 1, 2.5, 3] if name.startswith(("float", "bfloat", "complex")) else [1, 0, 1, 1]
    array = np.array(numbers[:count]).astype(np.float32).astype(dtype)
    tensor = helper.make_tensor("w", TO_ONNX[dtype], array.shape, array)
    assert not tensor.HasField("raw_data")
    assert array_of(tensor, "w").tobytes() == numpy_helper.to_array(tensor).tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("name", "field", "listed", "expected"),
    [
        ("int8", "int32_data", [-1, 127, 255], [-1, 127, -1]),
        ("uint16", "int32_data", [-1, 1 << 15], [65535, 1 << 15]),
        ("bool", "int32_data", [0, 1, 2, -1], [False, True, True, True]),
        ("uint32", "uint64_data", [(1 << 32) - 1], [(1 << 32) - 1]),
        ("uint64", "uint64_data", [(1 << 64) - 1], [(1 << 64) - 1]),
    ],
)
def test_numbers_at_the_limits_of_a_list(name, field, listed, expected):
    tensor = TensorProto(data_type=TO_ONNX[BY_NAME[name]], dims=[len(listed)], **{field: listed})
    np.testing.assert_array_equal(array_of(tensor, "w"), np.array(expected, BY_NAME[name]), strict=True)


@pytest.mark.parametrize("field", [{"float_data": [1, 2, 3]}, {"int32_data": [1, 2]}, {}])
def test_list_of_another_length_is_refused(field):
    tensor = TensorProto(data_type=TO_ONNX[BY_NAME["complex64"]], dims=[2], **field)
    with pytest.raises(LoadError, match=r"w does not hold the 2 elements of complex64\[2\]: "):
        array_of(tensor, "w")


def test_type_nested_too_deep():
    proto = onnx.TypeProto()
    inner = proto
    for _ in range(20):
        inner = inner.sequence_type.elem_type
    inner.tensor_type.elem_type = 1
    with pytest.raises(LoadError) as caught:
        type_from(proto, "input 'x'")
    assert str(caught.value) == "input 'x' has a type nested deeper than 16"
