"""`OrtValue` and `OrtDevice`."""

import ml_dtypes
import numpy as np
import pytest

import whorl


def test_value_shares_the_memory_of_its_array():
    array = np.zeros((2, 3), np.float32)
    value = whorl.OrtValue.ortvalue_from_numpy(array)
    value.update_inplace(np.ones((2, 3), np.float32))
    assert array.sum() == 6 and value.data_ptr() == array.ctypes.data
    assert np.from_dlpack(value).sum() == 6 and whorl.OrtValue.from_dlpack(array).data_ptr() == array.ctypes.data
    assert value.__dlpack_device__() == (1, 0) and np.asarray(value, np.float64).dtype == np.float64


def test_bits_of_another_type():
    value = whorl.OrtValue.ortvalue_from_numpy_with_onnx_type(np.array([0x3F80], np.uint16), 16)
    assert value.numpy().dtype == ml_dtypes.bfloat16 and value.element_type() == 16 and float(value.numpy()[0]) == 1


def test_sequence_and_nothing():
    value = whorl.OrtValue([np.ones(2, np.float32)])
    assert value.is_tensor_sequence() and not value.is_tensor() and value.data_type() == "seq(tensor(float))"
    assert not whorl.OrtValue(None).has_value()
    with pytest.raises(whorl.RunError) as caught:
        value.shape()
    assert str(caught.value) == "the value is seq(tensor(float))\n  fix: only tensors have elements"


def test_another_type_is_not_written_into_a_value():
    with pytest.raises(whorl.RunError) as caught:
        whorl.OrtValue.ortvalue_from_numpy(np.ones(2, np.float32)).update_inplace(np.ones(3))
    assert str(caught.value) == ("the array is float64[3], the value float32[2]\n  fix: give both one type and shape")


def test_device_is_the_cpu():
    device = whorl.OrtDevice.make("cpu", 0)
    numbers = device.device_id(), device.device_type(), device.device_vendor_id(), device.device_mem_type()
    assert numbers == (0, 0, 0, 0)
    with pytest.raises(RuntimeError, match="there is no device 'cuda'"):
        whorl.OrtDevice.make("cuda", 0)
