"""Quantised arithmetic: equal to onnxruntime, integers within one step where a number lies between two."""

import numpy as np
import pytest
from formats.onnx.microsoft.contributed_peer import chance, compare, configurations, floats, lengths, model_of

import whorl


def integers(rng, dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def weights(rng, dtype, *shape):
    """Without VNNI onnxruntime saturates sums of two products of uint8 and int8 at 16 bits: 2 * 255 * 64 is below."""
    return integers(rng, dtype, *shape) if dtype == np.uint8 else rng.integers(-64, 64, shape).astype(dtype)


def scale(rng):
    return np.array(rng.uniform(0.01, 0.1), np.float32)


def dtype_of(rng):
    return [np.uint8, np.int8][rng.integers(2)]


def zero(rng, dtype):
    return np.array(rng.integers(-20, 20) + (128 if dtype == np.uint8 else 0)).astype(dtype)


def operand(rng, dtype, *shape):
    return [integers(rng, dtype, *shape), scale(rng), zero(rng, dtype)]


@pytest.mark.parametrize("name", ["QLinearAdd", "QLinearMul"])
def test_binary_operator_equals_onnxruntime(name):
    for rng in configurations():
        dtype, shape = dtype_of(rng), lengths(rng, 3)
        other = shape[1:] if chance(rng) else shape
        inputs = [*operand(rng, dtype, *shape), *operand(rng, dtype, *other), scale(rng), zero(rng, dtype)]
        compare(name, inputs, steps=1)


@pytest.mark.parametrize("name", ["QLinearSigmoid", "QLinearLeakyRelu"])
def test_unary_operator_equals_onnxruntime(name):
    for rng in configurations():
        dtype = dtype_of(rng)
        attributes = {"alpha": 0.25} if name == "QLinearLeakyRelu" else {}
        inputs = [*operand(rng, dtype, *lengths(rng, 3)), scale(rng) / 10, zero(rng, dtype)]
        compare(name, inputs, steps=1, constants=[1, 2, 3, 4], **attributes)


def test_softmax_equals_onnxruntime():
    for rng in configurations():
        dtype, opset = dtype_of(rng), [11, 13][rng.integers(2)]
        step = np.array(1 / 255, np.float32)
        zero_point = np.array(0 if dtype == np.uint8 else -128).astype(dtype)
        inputs = [*operand(rng, dtype, *(n + 1 for n in lengths(rng, 3))), step, zero_point]
        compare(
            "QLinearSoftmax", inputs, steps=1, constants=[1, 2, 3, 4], axis=int(rng.integers(3)), more={"opset": opset}
        )


def test_concat_equals_onnxruntime():
    for rng in configurations():
        dtype, axis, shape = dtype_of(rng), int(rng.integers(3)), lengths(rng, 3)
        parts = []
        for _ in range(rng.integers(1, 4)):
            shape[axis] = int(rng.integers(1, 4))
            parts += operand(rng, dtype, *shape)
        compare("QLinearConcat", [scale(rng), zero(rng, dtype), *parts], steps=1, axis=axis)


def test_where_equals_onnxruntime():
    for rng in configurations():
        dtype, shape = dtype_of(rng), lengths(rng, 3)
        condition = rng.integers(0, 2, shape).astype(bool)
        inputs = [condition, *operand(rng, dtype, *shape), *operand(rng, dtype, *shape), scale(rng), zero(rng, dtype)]
        compare("QLinearWhere", inputs, steps=1, constants=[2, 3, 5, 6, 7, 8])


def test_average_pool_equals_onnxruntime():
    for rng in configurations():
        dtype, batch, channels = dtype_of(rng), *lengths(rng, 2)
        is_last = int(chance(rng))
        shape = (batch, 6, 5, channels) if is_last else (batch, channels, 6, 5)
        pads = [int(p) for p in rng.integers(0, 2, 4)]
        attributes = {"kernel_shape": [2, 3], "pads": pads, "count_include_pad": int(chance(rng))}
        inputs = [*operand(rng, dtype, *shape), scale(rng), zero(rng, dtype)]
        compare("QLinearAveragePool", inputs, steps=1, channels_last=is_last, **attributes)


def test_global_average_pool_equals_onnxruntime():
    for rng in configurations():
        dtype = dtype_of(rng)
        inputs = [*operand(rng, dtype, *lengths(rng, 4)), scale(rng), zero(rng, dtype)]
        compare("QLinearGlobalAveragePool", inputs, steps=1, channels_last=int(chance(rng)))


def test_max_pool_of_last_channels_equals_onnxruntime():
    for rng in configurations():
        batch, channels = lengths(rng, 2)
        x = integers(rng, dtype_of(rng), batch, 6, 5, channels)
        pads = [int(p) for p in rng.integers(0, 2, 4)]
        compare("NhwcMaxPool", [x], kernel_shape=[2, 3], pads=pads, strides=[int(rng.integers(1, 3)), 1])


def test_convolution_equals_onnxruntime():
    for rng in configurations():
        batch, channels, filters = lengths(rng, 3)
        is_last = int(chance(rng))
        shape = (batch, 6, 5, channels) if is_last else (batch, channels, 6, 5)
        weights = [integers(rng, np.uint8, filters, channels, 2, 3), scale(rng), zero(rng, np.uint8)]
        bias = [rng.integers(-100, 100, filters).astype(np.int32)] if chance(rng) else []
        inputs = [*operand(rng, np.uint8, *shape), *weights, np.array(2, np.float32), zero(rng, np.uint8), *bias]
        pads = [int(p) for p in rng.integers(0, 2, 4)]
        compare("QLinearConv", inputs, steps=1, channels_last=is_last, kernel_shape=[2, 3], pads=pads)


def test_convolution_of_last_channels_without_a_kernel_shape_is_refused():
    rng = np.random.default_rng(0)
    weights = [integers(rng, np.uint8, 1, 1, 1, 1), scale(rng), zero(rng, np.uint8)]
    inputs = [*operand(rng, np.uint8, 1, 2, 2, 1), *weights, scale(rng), zero(rng, np.uint8)]
    with pytest.raises(whorl.LoadError) as caught:
        whorl.load(model_of("QLinearConv", inputs, channels_last=1))
    assert str(caught.value) == (
        "QLinearConv 'node': has its channels in the last axis and no kernel_shape\n  fix: add kernel_shape"
    )


def test_dynamic_product_equals_onnxruntime():
    for rng in configurations():
        batch, rows, inner, columns = lengths(rng, 4, 8)
        dtype, is_each = dtype_of(rng), chance(rng)
        b = weights(rng, dtype, inner, columns)
        scales = rng.uniform(0.01, 0.1, columns if is_each else 1).astype(np.float32)
        zeros = np.repeat(zero(rng, dtype), len(scales)) if chance(rng) else None
        bias = floats(rng, columns) if chance(rng) else None
        compare("DynamicQuantizeMatMul", [floats(rng, batch, rows, inner), b, scales, zeros, bias], tolerance=1e-4)


def test_product_of_integers_as_floats_equals_onnxruntime():
    for rng in configurations():
        rows, inner, columns = lengths(rng, 3, 8)
        a, b = integers(rng, np.uint8, rows, inner), weights(rng, dtype := dtype_of(rng), inner, columns)
        zeros = [zero(rng, np.uint8), zero(rng, dtype)] if chance(rng) else [None, None]
        bias = floats(rng, columns) if chance(rng) else None
        compare("MatMulIntegerToFloat", [a, b, scale(rng), scale(rng), *zeros, bias], tolerance=1e-4)


def test_gemm_equals_onnxruntime():
    for rng in configurations():
        rows, inner, columns = lengths(rng, 3, 8)
        trans_a, trans_b = int(chance(rng)), int(chance(rng))
        a = operand(rng, np.uint8, *((inner, rows) if trans_a else (rows, inner)))
        b = operand(rng, np.uint8, *((columns, inner) if trans_b else (inner, columns)))
        c = rng.integers(-100, 100, (1, columns)).astype(np.int32) if chance(rng) else None
        results = [np.array(0.5, np.float32), zero(rng, np.uint8)] if chance(rng) else []
        compare("QGemm", [*a, *b, c, *results], steps=1, alpha=0.5, transA=trans_a, transB=trans_b)


@pytest.mark.parametrize("name", ["QuantizeLinear", "DequantizeLinear"])
def test_quantization_equals_onnxruntime(name):
    for rng in configurations():
        dtype, shape = [np.uint8, np.int8, np.int16, np.uint16][rng.integers(4)], lengths(rng, 3)
        axis = int(rng.integers(3))
        width = () if chance(rng) else (shape[axis],)
        scales = rng.uniform(0.01, 0.1, width).astype(np.float32)
        zeros = rng.integers(0, 20, width).astype(dtype)
        x = floats(rng, *shape) if name == "QuantizeLinear" else integers(rng, dtype, *shape)
        compare(name, [x, scales, zeros], axis=axis)
