"""Constants into the weights of products and convolutions. Sums are rounded otherwise then: only with `fast_math`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from whorl.ir.dtypes import is_float
from whorl.ir.graph import Node, Value
from whorl.ops.elementwise.arithmetic import Add, Mul
from whorl.ops.linear.products import Gemm, MatMul
from whorl.ops.movement.padding import Pad
from whorl.ops.reduce.normalization import BatchNormalization
from whorl.ops.windows.convolution import Conv
from whorl.passes.rules.conditions import elements, fast_math, is_scalar, static_shape
from whorl.passes.rules.pattern import (
    C1,
    C2,
    AnyRule,
    C,
    Match,
    NodeRule,
    Rule,
    X,
    is_constant,
    maker,
    once,
    op,
    tensor_type,
)

_LARGEST = 1 << 26
"""Elements up to which weights are computed anew."""
matmul, mul = op(MatMul), op(Mul)


def _scalar(m: Match) -> bool:
    return is_scalar(m["c"]) and len(static_shape(m["c"].type) or ()) <= _rank(m["c1"])


def _rank(value: Value) -> int:
    return len(static_shape(value.type) or ())


def _inner_is_small(m: Match) -> bool:
    """The product of two matrices of weights is no larger than they are together."""
    a, b = static_shape(m["c1"].type), static_shape(m["c2"].type)
    if a is None or b is None or len(a) != 2 or len(b) != 2:
        return False
    return a[0] * b[1] <= a[0] * a[1] + b[0] * b[1]


PRODUCTS: tuple[AnyRule, ...] = (
    Rule("MulOfMatMul", mul(once(matmul(X, C1)), C), matmul(X, mul(C1, C)), when=(fast_math, _scalar)),
    Rule("MatMulOfMul", matmul(once(mul(X, C)), C1), matmul(X, mul(C1, C)), when=(fast_math, _scalar)),
    Rule(
        "MatMulOfMatMul", matmul(once(matmul(X, C1)), C2), matmul(X, matmul(C1, C2)), when=(fast_math, _inner_is_small)
    ),
)


# ---- a factor and a summand for each channel ---------------------------------------------------------------------


def _channels(value: Value | None, rank: int) -> np.ndarray | None:
    """A float constant as one number for each channel (axis 1 of a tensor of this rank), or as one number for all."""
    array = elements(value)
    if array is None or not is_float(array.dtype) or array.ndim > rank:
        return None
    shape = (1,) * (rank - array.ndim) + array.shape
    return array.reshape(-1) if math.prod(shape) == shape[1] else None


def _weights(node: Node) -> bool:
    """Whether a node is a convolution, or a product with a bias, whose weights are constant."""
    return isinstance(node.op, (Conv, Gemm)) and all(is_constant(v) for v in node.inputs[1:] if v is not None)


def _scaled(m: Match, node: Node, factor: np.ndarray | None, summand: np.ndarray | None) -> Value | None:
    """The same convolution or product with its results times a factor, plus a summand, for each channel."""
    weights = elements(node.inputs[1], _LARGEST)
    bias = elements(node.inputs[2]) if len(node.inputs) > 2 else None
    if weights is None or (len(node.inputs) > 2 and node.inputs[2] is not None and bias is None):
        return None
    axis, count = _output_axis(node)
    channels = weights.shape[axis]
    if bias is not None and bias.shape not in ((channels,), (1, channels)):
        return None
    total = np.zeros(channels, weights.dtype) if bias is None else bias.reshape(-1) * weights.dtype.type(count)
    if any(part is not None and part.shape not in ((1,), (channels,)) for part in (factor, summand)):
        return None
    if factor is not None:
        along = [1] * weights.ndim
        along[axis] = factor.size
        weights, total = weights * factor.reshape(along), total * factor
    if summand is not None:
        total = total + summand
    op = replace(node.op, beta=1.0) if isinstance(node.op, Gemm) else node.op
    dtype = m.dtype
    return m.add(op, node.inputs[0], m.constant(weights.astype(dtype)), m.constant(total.astype(dtype)))


def _output_axis(node: Node) -> tuple[int, float]:
    """The axis of the weights that counts output channels, and what the bias is multiplied with."""
    if isinstance(node.op, Gemm):
        return (0 if node.op.transB else 1), node.op.beta
    return 0, 1.0


def _channel_operand(m: Match) -> tuple[Node, np.ndarray] | None:
    """The convolution or product that a node reads, and the other operand as numbers of channels."""
    inner, rank = _sole(m), tensor_type(m.result).rank
    if inner is None or rank is None or rank < 2 or len(m.node.inputs) != 2:
        return None
    channels = _channels(m.node.inputs[1], rank)
    return None if channels is None else (inner, channels)


def _sole(m: Match) -> Node | None:
    """The convolution or product of constant weights that only this node reads, where `fast_math` allows changes."""
    value = m.node.inputs[0]
    inner = maker(value)
    if value is None or inner is None or not fast_math(m) or m.rewriter.uses(value) != 1:
        return None
    return inner if _weights(inner) and tensor_type(value).rank == tensor_type(m.result).rank else None


def _factor(m: Match) -> Value | None:
    operand = _channel_operand(m)
    return None if operand is None else _scaled(m, operand[0], operand[1], None)


def _summand(m: Match) -> Value | None:
    operand = _channel_operand(m)
    return None if operand is None else _scaled(m, operand[0], None, operand[1])


def _normalized(m: Match) -> Value | None:
    """A BatchNormalization with fixed statistics, in the weights of the convolution or product before it."""
    assert isinstance(m.node.op, BatchNormalization)
    inner = _sole(m)
    if inner is None or m.node.op.training_mode or len(m.node.outputs) > 1:
        return None
    numbers = [elements(value) for value in m.node.inputs[1:5]]
    if any(array is None for array in numbers):
        return None
    scale, shift, mean, variance = (array.astype(np.float64) for array in numbers if array is not None)
    factor = m.node.op.factor(scale, variance)
    return _scaled(m, inner, factor, shift - mean * factor)


# ---- padding -----------------------------------------------------------------------------------------------------


def _padded(m: Match) -> Value | None:
    """A convolution that adds the zeros itself."""
    assert isinstance(m.node.op, Conv)
    inner = maker(m.node.inputs[0])
    if not fast_math(m) or inner is None or not isinstance(inner.op, Pad) or inner.op.mode != "constant":
        return None
    pads, value = elements(inner.inputs[1]), elements(inner.inputs[2]) if len(inner.inputs) > 2 else None
    has_axes = len(inner.inputs) > 3 and inner.inputs[3] is not None
    has_value = len(inner.inputs) > 2 and inner.inputs[2] is not None
    if pads is None or has_axes or m.node.op.auto_pad not in ("NOTSET", "VALID") or (has_value and value is None):
        return None
    if (value is not None and value.any()) or pads.size < 6 or (pads < 0).any():
        return None
    rank = pads.size // 2
    before, after = pads[:rank].tolist(), pads[rank:].tolist()
    if any((*before[:2], *after[:2])):
        return None
    old: Sequence[int] = m.node.op.pads or (0,) * (2 * (rank - 2))
    total = tuple(a + b for a, b in zip((*before[2:], *after[2:]), old, strict=True))
    return m.add(replace(m.node.op, pads=total, auto_pad="NOTSET"), inner.inputs[0], *m.node.inputs[1:])


RULES: tuple[AnyRule, ...] = (
    *PRODUCTS,
    NodeRule("MulIntoWeights", (Mul,), _factor),
    NodeRule("AddIntoBias", (Add,), _summand),
    NodeRule("BatchNormalizationIntoWeights", (BatchNormalization,), _normalized),
    NodeRule("PadIntoConv", (Conv,), _padded),
)
