"""Linear quantization: numbers as small integers (or float8, float6, float4) times a scale, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BY_NAME, FLOAT32, FLOAT64, INT32, INT64, is_float, is_integer, name_of
from whorl.ir.elements.base import Elements, Leaf
from whorl.ir.elements.mapped import mapped
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, Known, TensorType, tensor
from whorl.ops.core.base import COMPUTED_FLOATS, accumulator, normal_axis, require_dtype, widen
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.conversion import FLOAT8E8M0, convert, to_integer
from whorl.ops.linear.native_quantization import quantize_to_range, spread_view

UINT8 = BY_NAME["uint8"]
RANGES: dict[np.dtype, tuple[int, int]] = {
    BY_NAME[f"{sign}int{width}"]: (0, (1 << width) - 1) if sign else (-1 << (width - 1), (1 << (width - 1)) - 1)
    for width in (2, 4, 8, 16)
    for sign in ("", "u")
}
"""The integer types of quantized tensors and their ranges."""
NARROW_FLOATS = frozenset(
    BY_NAME[f"float{n}"] for n in ("4e2m1", "6e2m3", "6e3m2", "8e4m3fn", "8e4m3fnuz", "8e5m2", "8e5m2fnuz")
)
QUANTIZED = frozenset(RANGES) | NARROW_FLOATS
_SCALES = COMPUTED_FLOATS | {FLOAT8E8M0, INT32}


class QuantizeLinear(Op, frozen=True):
    """saturate(round(x / scale) + zero_point), halves to even; NaN gives 0 in integer types.

    Shapes: one scale, one for each index of `axis`, or one for each block of `block_size` indices along it; the zero
    point has the scale's shape. Dtypes: `output_dtype`, else the zero point's, else uint8; the quotient is rounded to
    `precision`, else to the scale's type. Source: ONNX QuantizeLinear-28.
    """

    any_length = True

    axis: int = 1
    block_size: int = 0
    output_dtype: np.dtype | None = None
    precision: np.dtype | None = None
    saturate: int = 1

    def lazily(self, x: Elements, scale: Elements, zero_point: Elements | None = None) -> tuple[Elements, ...] | None:
        return _quantize_lazily(self, x, scale, zero_point)

    def infer(self, x: Fact, scale: Fact, zero_point: Fact | None = None) -> TensorType:
        require_dtype(tensor(x).dtype, COMPUTED_FLOATS | {INT32})
        require_dtype(tensor(scale).dtype, _SCALES)
        target = self._target(None if zero_point is None else tensor(zero_point).dtype)
        require_dtype(target, QUANTIZED)
        for parameter, what in ((scale, "the scale"), (zero_point, "the zero point")):
            if parameter is not None:
                _check_parameter(tensor(x), tensor(parameter), self.axis, self.block_size, what)
        return tensor(x).with_dtype(target)

    def _target(self, zero_point: np.dtype | None) -> np.dtype:
        if self.output_dtype is not None and zero_point is not None and self.output_dtype != zero_point:
            raise TypeRuleError(f"output_dtype is {name_of(self.output_dtype)}, the zero point {name_of(zero_point)}")
        return self.output_dtype or zero_point or UINT8

    def run(self, x: np.ndarray, scale: np.ndarray, zero_point: np.ndarray | None = None) -> np.ndarray:
        target = self._target(None if zero_point is None else zero_point.dtype)
        precision = self.precision or _precision(scale.dtype)
        divisor = _spread(scale, x.shape, self.axis, self.block_size, "the scale")
        quotient = widen(x.astype(precision, copy=False) / divisor.astype(precision, copy=False))
        if target in RANGES:
            quotient = np.rint(quotient)
        if zero_point is not None:
            offset = _spread(zero_point, x.shape, self.axis, self.block_size, "the zero point")
            quotient = quotient + offset.astype(quotient.dtype)
        if target in RANGES:
            return to_integer(np.clip(quotient, *RANGES[target]), target)
        return convert(np.asarray(quotient), target, bool(self.saturate))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, scale, zero_point = inputs[0], inputs[1], inputs.optional(2)
        target = self._target(None if zero_point is None else zero_point.dtype)
        precision = self.precision or _precision(scale.dtype)
        divisor = spread_view(k, scale, x.shape, self.axis, self.block_size)
        offset = None if zero_point is None else spread_view(k, zero_point, x.shape, self.axis, self.block_size)
        if divisor is None or (zero_point is not None and offset is None):
            return None
        is_whole, cast = target in RANGES, Cast(target, self.saturate)

        def quantize(k: NativeBuilder, element: Expr, factor: Expr, shift: Expr | None = None) -> Expr | None:
            ratio = k.div(k.cast(element, precision), k.cast(factor, precision))
            ratio = k.cast(ratio, accumulator(precision))
            ratio = k.apply("rint", ratio) if is_whole else ratio
            moved = ratio if shift is None else k.add(ratio, k.cast(shift, ratio.dtype))
            if not is_whole:
                return cast.scalar(k, moved)
            low, high = (k.const(bound, ratio.dtype) for bound in RANGES[target])
            return k.cast(k.apply("min", k.apply("max", moved, low), high), target)

        return k.elementwise(quantize, [x, divisor, offset], outputs[0])


def _quantize_lazily(
    op: QuantizeLinear | DequantizeLinear, x: Elements, scale: Elements, zero_point: Elements | None = None
) -> tuple[Elements, ...] | None:
    """Blocks of the result, with the part of the parameters that belongs to them."""
    present = [each for each in (scale, zero_point) if each is not None]
    if any(each.size > 1 for each in present) and (op.block_size or not -x.ndim <= op.axis < x.ndim):
        return None
    axis = op.axis % x.ndim if x.ndim > 1 else 0
    along = [-1 if k == axis else 1 for k in range(x.ndim)]
    spread = [Leaf(each.numpy().reshape(along)) for each in present]
    facts = [None if each is None else Known(TensorType(each.dtype, each.shape)) for each in (x, scale, zero_point)]

    def function(block: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        return op.run(block, *(each.reshape(-1) for each in parameters))

    type = tensor(Known(op.infer(*facts)))  # type: ignore[arg-type]
    return (mapped(function, [x, *spread], type.dtype, x.shape),)


def _precision(scale: np.dtype) -> np.dtype:
    """The type in which x is divided without `precision`."""
    return scale if scale in COMPUTED_FLOATS else FLOAT64 if scale == INT32 else FLOAT32


class DequantizeLinear(Op, frozen=True):
    """(x - zero_point) * scale, computed in float32 or wider and rounded once.

    Shapes: as in QuantizeLinear. Dtypes: `output_dtype`, else the scale's. Source: ONNX DequantizeLinear-28.
    """

    any_length = True

    axis: int = 1
    block_size: int = 0
    output_dtype: np.dtype | None = None

    def lazily(self, x: Elements, scale: Elements, zero_point: Elements | None = None) -> tuple[Elements, ...] | None:
        return _quantize_lazily(self, x, scale, zero_point)

    def infer(self, x: Fact, scale: Fact, zero_point: Fact | None = None) -> TensorType:
        type, factor = tensor(x), tensor(scale)
        require_dtype(type.dtype, QUANTIZED | {INT32})
        require_dtype(factor.dtype, COMPUTED_FLOATS | {FLOAT8E8M0})
        if zero_point is not None and tensor(zero_point).dtype != type.dtype:
            raise TypeRuleError(f"x is {name_of(type.dtype)}, the zero point {name_of(tensor(zero_point).dtype)}")
        for parameter, what in ((scale, "the scale"), (zero_point, "the zero point")):
            if parameter is not None:
                _check_parameter(type, tensor(parameter), self.axis, self.block_size, what)
        target = self.output_dtype or factor.dtype
        if target not in COMPUTED_FLOATS:
            raise TypeRuleError(f"cannot give {name_of(target)}", fix="set output_dtype to a type with arithmetic")
        return type.with_dtype(target)

    def run(self, x: np.ndarray, scale: np.ndarray, zero_point: np.ndarray | None = None) -> np.ndarray:
        target = self.output_dtype or scale.dtype
        wide = accumulator(target)
        value = x.astype(INT64 if x.dtype == INT32 else INT32) if is_integer(x.dtype) else x.astype(FLOAT32)
        if zero_point is not None:
            offset = _spread(zero_point, x.shape, self.axis, self.block_size, "the zero point")
            value = value - offset.astype(value.dtype)
        factor = _spread(scale, x.shape, self.axis, self.block_size, "the scale")
        return (value.astype(wide) * factor.astype(wide)).astype(target, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, scale, zero_point = inputs[0], inputs[1], inputs.optional(2)
        target = self.output_dtype or scale.dtype
        whole = FLOAT32 if is_float(x.dtype) else INT64 if x.dtype == INT32 else INT32
        factor = spread_view(k, scale, x.shape, self.axis, self.block_size)
        offset = None if zero_point is None else spread_view(k, zero_point, x.shape, self.axis, self.block_size)
        if factor is None or (zero_point is not None and offset is None):
            return None

        def dequantize(k: NativeBuilder, element: Expr, scaled: Expr, shift: Expr | None = None) -> Expr:
            value = k.cast(element, whole)
            value = value if shift is None else k.sub(value, k.cast(shift, whole))
            wide = accumulator(target)
            return k.cast(k.mul(k.cast(value, wide), k.cast(scaled, wide)), target)

        return k.elementwise(dequantize, [x, factor, offset], outputs[0])


def _check_parameter(x: TensorType, parameter: TensorType, axis: int, block_size: int, what: str) -> None:
    """Refuse a scale or zero point that is proved to fit neither one value, nor an axis, nor the blocks of it."""
    if isinstance(x.shape, AnyShape) or isinstance(parameter.shape, AnyShape):
        return
    if dims.equal(dims.product(parameter.shape), 1) or not all(isinstance(dim, int) for dim in parameter.shape):
        return
    along = normal_axis(axis, len(x.shape)) if len(x.shape) != 1 else 0
    expected: tuple[Dim, ...] = (x.shape[along],)
    if block_size:
        expected = (*x.shape[:along], -(-x.shape[along] // block_size), *x.shape[along + 1 :])
    if len(expected) == len(parameter.shape) and not any(map(dims.differ, expected, parameter.shape)):
        return
    where = f"blocks of {block_size} along axis {axis}" if block_size else f"axis {axis}"
    raise TypeRuleError(f"{what} is {parameter}, which does not fit {where} of {x}")


def _spread(parameter: np.ndarray, shape: tuple[int, ...], axis: int, block_size: int, what: str) -> np.ndarray:
    """A scale or zero point as an array that broadcasts to `shape`."""
    if parameter.size == 1:
        return parameter.reshape(())
    rank = len(shape)
    along = 0 if rank == 1 else axis % rank if -rank <= axis < rank else rank
    if along < rank and block_size and parameter.ndim == rank:
        repeated = np.repeat(parameter, block_size, along)[(slice(None),) * along + (slice(shape[along]),)]
        if repeated.shape == shape and parameter.shape[along] == -(-shape[along] // block_size):
            return repeated
    elif along < rank and not block_size and parameter.shape == (shape[along],):
        return parameter.reshape([-1 if k == along else 1 for k in range(rank)])
    where = f"blocks of {block_size} along axis {axis}" if block_size else f"axis {axis}"
    raise RunError(f"{what} has shape {list(parameter.shape)}, which does not fit {where} of {list(shape)}")


class DynamicQuantizeLinear(Op, frozen=True):
    """uint8 with scale (max(x, 0) - min(x, 0)) / 255 and the zero point that keeps 0 exact; the scale is 1 if x is 0.

    Source: ONNX DynamicQuantizeLinear-11.
    """

    any_length = True

    def infer(self, x: Fact) -> tuple[TensorType, TensorType, TensorType]:
        require_dtype(tensor(x).dtype, frozenset((FLOAT32,)))
        return tensor(x).with_dtype(UINT8), TensorType(FLOAT32, ()), TensorType(UINT8, ())

    def run(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        low, high = x.min(initial=0), x.max(initial=0)
        scale = np.float32(1) if low == high else (high - low) / np.float32(255)
        zero_point = np.rint(np.clip(-low / scale, 0, 255))
        quantized = to_integer(np.clip(np.rint(x / scale) + zero_point, 0, 255), UINT8)
        return quantized, np.asarray(scale), to_integer(zero_point, UINT8)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return quantize_to_range(k, inputs[0])
