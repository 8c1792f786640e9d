"""Quantised arithmetic: dequantised, computed, quantised again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import LoadError
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.formula import Formula, contributed
from whorl.formats.onnx.microsoft.products import picked
from whorl.ir.dtypes import FLOAT32
from whorl.ir.graph import Value
from whorl.ir.types import tensor


@contributed("QuantizeLinear")
def quantize_linear(node: OnnxNode, f: Formula) -> Value:
    """As in ONNX."""
    return f("QuantizeLinear", *node.inputs, axis=node.attribute("axis", 1))


@contributed("DequantizeLinear")
def dequantize_linear(node: OnnxNode, f: Formula) -> Value:
    """As in ONNX."""
    return f("DequantizeLinear", *node.inputs, axis=node.attribute("axis", 1))


def dequantized(f: Formula, operands: Sequence[Value | None]) -> Value:
    """The numbers of a quantised tensor, its scale and its zero point; both of one element, of any rank."""
    x, scale, zero_point = operands
    assert x is not None and scale is not None
    return f("DequantizeLinear", x, f.scalar(scale), None if zero_point is None else f.scalar(zero_point))


def quantized(f: Formula, y: Value, scale: Value | None, zero_point: Value | None, dtype: np.dtype) -> Value:
    """Numbers as integers of a type."""
    assert scale is not None
    if zero_point is None:
        return f("QuantizeLinear", y, f.scalar(scale), np.zeros((), dtype))
    return f("QuantizeLinear", y, f.scalar(scale), f.scalar(zero_point))


@contributed("QLinearAdd", "QLinearMul")
def qlinear_binary(node: OnnxNode, f: Formula) -> Value:
    """The sum or product of the numbers, quantised."""
    a, b, (scale, zero_point) = node.inputs[:3], node.inputs[3:6], (*node.inputs[6:], None)[:2]
    y = f(node.op_type.removeprefix("QLinear"), dequantized(f, a), dequantized(f, b))
    return quantized(f, y, scale, zero_point, tensor(node.required(0)).dtype)


@contributed("QLinearSigmoid", "QLinearLeakyRelu")
def qlinear_unary(node: OnnxNode, f: Formula) -> Value:
    """The function of the numbers, quantised."""
    y = dequantized(f, node.inputs[:3])
    if node.op_type == "QLinearSigmoid":
        return _requantized(node, f, f("Sigmoid", y))
    return _requantized(node, f, f("LeakyRelu", y, alpha=node.attribute("alpha", 0.01)))


def _requantized(node: OnnxNode, f: Formula, y: Value) -> Value:
    """Numbers by the scale and zero point of the inputs 3 and 4."""
    return quantized(f, y, node.required(3), node.input(4), tensor(node.required(0)).dtype)


@contributed("QLinearSoftmax")
def qlinear_softmax(node: OnnxNode, f: Formula) -> Value:
    """Softmax along an axis; before opset 13 over all axes from it on."""
    x, axis = dequantized(f, node.inputs[:3]), node.attribute("axis", -1)
    if node.attribute("opset", 13) >= 13:
        return _requantized(node, f, f("Softmax", x, axis=axis))
    y = f("Softmax", f("Flatten", x, axis=axis), axis=-1)
    return _requantized(node, f, f("Reshape", y, f("Shape", x), allowzero=1))


@contributed("QLinearConcat")
def qlinear_concat(node: OnnxNode, f: Formula) -> Value:
    """All tensors by one scale and zero point, joined along an axis."""
    scale, zero_point, *rest = node.inputs
    parts = [dequantized(f, rest[k : k + 3]) for k in range(0, len(rest), 3)]
    y = f("Concat", *parts, axis=node.attribute("axis"))
    return quantized(f, y, scale, zero_point, tensor(node.required(2)).dtype)


@contributed("QLinearWhere")
def qlinear_where(node: OnnxNode, f: Formula) -> Value:
    """Numbers of the one tensor or the other, quantised."""
    condition, *rest = node.inputs
    y = f("Where", condition, dequantized(f, rest[:3]), dequantized(f, rest[3:6]))
    return quantized(f, y, rest[6], rest[7], tensor(node.required(1)).dtype)


@contributed("QLinearAveragePool")
def qlinear_average_pool(node: OnnxNode, f: Formula) -> Value:
    """AveragePool of the numbers, quantised; the channels may be the last axis."""
    names = "auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"
    spatial = len(node.attribute("kernel_shape", ()))
    is_last = bool(node.attribute("channels_last", 0))
    x = channels_second(f, dequantized(f, node.inputs[:3]), spatial, is_last)
    y = f("AveragePool", x, **picked(node, *names))
    return _requantized(node, f, channels_last(f, y, spatial, is_last))


@contributed("QLinearGlobalAveragePool")
def qlinear_global_average_pool(node: OnnxNode, f: Formula) -> Value:
    """GlobalAveragePool of the numbers, quantised; the channels may be the last axis."""
    x = dequantized(f, node.inputs[:3])
    if not node.attribute("channels_last", 0):
        return _requantized(node, f, f("GlobalAveragePool", x))
    axes = f("Add", f.range(f("Sub", f("Shape", f("Shape", x)), [2])), 1)
    return _requantized(node, f, f("ReduceMean", x, axes))


def channels_second(f: Formula, x: Value, spatial: int, is_last: bool) -> Value:
    """A tensor whose channels are the last axis, with the channels behind the batch."""
    return f("Transpose", x, perm=(0, spatial + 1, *range(1, spatial + 1))) if is_last else x


def channels_last(f: Formula, y: Value, spatial: int, is_last: bool) -> Value:
    """The reverse of `channels_second`."""
    return f("Transpose", y, perm=(0, *range(2, spatial + 2), 1)) if is_last else y


@contributed("NhwcMaxPool")
def nhwc_max_pool(node: OnnxNode, f: Formula) -> Value:
    """MaxPool of a tensor whose channels are the last axis."""
    names = "auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"
    spatial = len(node.attribute("kernel_shape", ()))
    y = f("MaxPool", channels_second(f, node.required(0), spatial, True), **picked(node, *names))
    return channels_last(f, y, spatial, True)


@contributed("QLinearConv")
def qlinear_conv(node: OnnxNode, f: Formula) -> Value:
    """QLinearConv of ONNX; the channels may be the last axis."""
    names = "auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"
    spatial, is_last = len(node.attribute("kernel_shape", ())), bool(node.attribute("channels_last", 0))
    if is_last and not spatial:
        raise LoadError("has its channels in the last axis and no kernel_shape", node.title, "add kernel_shape")
    x = channels_second(f, node.required(0), spatial, is_last)
    y = f("QLinearConv", x, *node.inputs[1:], **picked(node, *names))
    return channels_last(f, y, spatial, is_last)


@contributed("DynamicQuantizeMatMul")
def dynamic_quantize_matmul(node: OnnxNode, f: Formula) -> Value:
    """A quantised by its own range, the product of integers, scaled; plus a bias."""
    a, b, b_scale, b_zero_point, bias = (*node.inputs, None, None)[:5]
    x, scale, zero_point = f.many("DynamicQuantizeLinear", 3, a)
    return scaled_product(f, (x, b), (scale, b_scale), (zero_point, b_zero_point), bias)


@contributed("MatMulIntegerToFloat")
def matmul_integer_to_float(node: OnnxNode, f: Formula) -> Value:
    """The product of integers, scaled; plus a bias."""
    a, b, a_scale, b_scale, a_zero_point, b_zero_point, bias = (*node.inputs, None, None, None)[:7]
    return scaled_product(f, (a, b), (a_scale, b_scale), (a_zero_point, b_zero_point), bias)


Pair = tuple[Value | None, Value | None]


def scaled_product(f: Formula, factors: Pair, scales: Pair, zero_points: Pair, bias: Value | None) -> Value:
    total = f.cast(f("MatMulInteger", *factors, *zero_points), FLOAT32)
    return f.add_if(f("Mul", total, f("Mul", *scales)), bias)


@contributed("QGemm")
def quantized_gemm(node: OnnxNode, f: Formula) -> Value:
    """alpha (A B) + C, as numbers or quantised; C counts in steps of the product of the scales."""
    a, a_scale, a_zero, b, b_scale, b_zero, c, y_scale, y_zero = (*node.inputs, None, None, None)[:9]
    assert a is not None and b is not None and a_scale is not None and b_scale is not None
    a, b = (
        f("Transpose", x, perm=(1, 0)) if node.attribute(key, 0) else x for x, key in ((a, "transA"), (b, "transB"))
    )
    total = f.add_if(f("MatMulInteger", a, b, a_zero, b_zero), c)
    scale = f("Mul", f("Mul", f.scalar(a_scale), b_scale), node.attribute("alpha", 1.0))
    if y_scale is None:
        return f("Mul", f.cast(total, FLOAT32), scale)
    steps = f("Mul", f.cast(total, FLOAT32), f("Div", scale, f.scalar(y_scale)))
    return f("QuantizeLinear", steps, np.ones((), np.float32), None if y_zero is None else f.scalar(y_zero))
