"""Integers of 8 bits under compat "openvino-cpu": each layer gives what OpenVINO's CPU plugin gives.

No result is beyond 16 bits, where what the plugin gives depends on the processor.
"""

import numpy as np
import openvino
import pytest
from formats.openvino.one_layer import arrays_of, fixed, layer_model, openvino_run, read, whorl_run
from openvino import opset8

SHORT = (np.int8, np.uint8)
BINARY = ("Add", "Subtract", "Multiply", "Maximum", "Minimum")


def operands(dtype):
    limits = np.iinfo(dtype)
    x = np.array([limits.max, limits.max, 100, 7, limits.min + 1, limits.min, 5], dtype)
    y = np.array([1, limits.max // 2, 100, 3, limits.max, 1, 9], dtype)
    return x, y


def assert_imitated(type, version, inputs, attributes=None, dynamic=(False, True)):
    for ranks_only in dynamic:
        model = layer_model(type, version, inputs, attributes, ranks_only)
        passed = arrays_of(inputs)
        for actual, expected in zip(
            whorl_run(read(model, "openvino-cpu"), passed), openvino_run(model, passed), strict=True
        ):
            assert actual.dtype == expected.dtype
            np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("type", BINARY)
def test_arithmetic_saturates(type, dtype):
    assert_imitated(type, 1, list(operands(dtype)))


@pytest.mark.parametrize("type", ["Negative", "Abs"])
def test_sign_saturates(type):
    assert_imitated(type, 1, [operands(np.int8)[0]])


@pytest.mark.parametrize("dtype", SHORT)
def test_powers_saturate(dtype):
    base, exponents = np.array([100, 7, 2, 11, 3, 0], dtype), np.array([2, 3, 7, 2, 2, 0], dtype)
    assert_imitated("Power", 1, [base, exponents])


@pytest.mark.parametrize("dtype", SHORT)
def test_sums_and_products_saturate(dtype):
    x, y = operands(dtype)
    assert_imitated("ReduceSum", 1, [np.stack([x, y]), fixed(1)], {"keep_dims": False})
    assert_imitated("ReduceProd", 1, [np.array([[7, 2], [100, 3], [5, 9]], dtype), fixed(1)], {"keep_dims": False})
    assert_imitated("MatMul", 1, [np.stack([x, y]), np.stack([y, x], 1)])


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("source", [np.float32, np.float16])
def test_conversion_of_floats_saturates_where_a_length_is_open(source, dtype):
    x = np.array([300, -300, 127.6, -1.5, 255.5, 2.5], source)
    assert_imitated("Convert", 1, [x], {"destination_type": {np.int8: "i8", np.uint8: "u8"}[dtype]})


@pytest.mark.parametrize("dtype", SHORT)
def test_conversion_of_integers_keeps_the_low_bits(dtype):
    x = np.array([300, -300, 128, -1, 255, 2], np.int32)
    assert_imitated("Convert", 1, [x], {"destination_type": {np.int8: "i8", np.uint8: "u8"}[dtype]})


@pytest.mark.parametrize("dtype", SHORT)
def test_each_layer_of_several_saturates(dtype):
    x, y = operands(dtype)
    a, b, c = (opset8.parameter(list(each.shape), openvino.Type(each.dtype)) for each in (x, y, y))
    model = openvino.Model([opset8.subtract(opset8.add(a, b), c).output(0)], [a, b, c])
    (actual,), (expected,) = whorl_run(read(model, "openvino-cpu"), [x, y, y]), openvino_run(model, [x, y, y])
    np.testing.assert_array_equal(actual, expected)
    assert actual[0] == np.iinfo(dtype).max - 1


@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
def test_integers_of_more_bits_keep_the_low_ones(dtype):
    limits = np.iinfo(dtype)
    x, y = np.array([limits.max, limits.min, 100], dtype), np.array([1, limits.max, 7], dtype)
    assert_imitated("Add", 1, [x, y])


@pytest.mark.parametrize("dtype", SHORT)
def test_arithmetic_keeps_the_low_bits_without_the_profile(dtype):
    x, y = operands(dtype)
    (actual,) = whorl_run(read(layer_model("Add", 1, [x, y])), [x, y])
    np.testing.assert_array_equal(actual, x + y)
