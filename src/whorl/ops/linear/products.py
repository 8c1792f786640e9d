"""Products of matrices, of floats, integers and quantized values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import ml_dtypes
import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import (
    BY_NAME,
    FLOAT32,
    FLOAT64,
    FLOATS,
    INT32,
    INTEGERS,
    PACKED_BITS,
    is_float,
    is_integer,
)
from whorl.ir.graph import NodeBuilder, Op, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import UNRANKED, AnyShape, Fact, Shape, TensorType, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    broadcast_shapes,
    check_types,
    dims_of,
    require_broadcast,
    require_dtype,
    same_dtype,
    unify_lengths,
    widen,
)
from whorl.ops.core.pieces import matmul
from whorl.ops.core.writer import Writer, is_fixed
from whorl.ops.elementwise.arithmetic import Clip, Div, Round
from whorl.ops.linear.byte_products import has_byte_product, write_byte_product
from whorl.ops.linear.native_products import multiply_views
from whorl.ops.native.index_maps import broadcast_scalar, broadcast_view, cast_view, lengths, transpose_view, widen_view
from whorl.ops.reduce.native_reductions import map_elements

_NUMBERS = (INTEGERS - frozenset(PACKED_BITS)) | COMPUTED_FLOATS
_BYTES = frozenset((BY_NAME["int8"], BY_NAME["uint8"]))
_EXACT = 1 << 24
"""Whole numbers up to this are exact in float32."""
_QUANTIZED = _BYTES | frozenset(d for d in FLOATS if d.itemsize == 1)


def product_shape(a: Shape, b: Shape) -> Shape:
    """The shape of a matrix product; a vector is a row on the left, a column on the right, and that axis is dropped."""
    if isinstance(a, AnyShape) or isinstance(b, AnyShape):
        return UNRANKED
    if not a or not b:
        raise TypeRuleError("an operand of a matrix product is a scalar", fix="multiply by Mul")
    inner = a[-1], b[-2:][0]
    if dims.differ(*inner):
        raise TypeRuleError(f"cannot multiply {list(a)} by {list(b)}: inner lengths {inner[0]} and {inner[1]} differ")
    batch = broadcast_shapes(a[:-2], b[:-2])
    assert not isinstance(batch, AnyShape)
    return (*batch, *a[:-1][-1:], *b[1:][-1:])


class MatMul(Op, frozen=True):
    """A @ B by NumPy's rules for every rank; 0 where the inner length is 0. Source: ONNX MatMul-13.

    Integers wrap; float16 and bfloat16 are multiplied and summed in float32 and rounded once.
    """

    never_fails = True

    def infer(self, a: Fact, b: Fact) -> TensorType:
        dtype = same_dtype(a, b)
        require_dtype(dtype, _NUMBERS)
        return TensorType(dtype, product_shape(tensor(a).shape, tensor(b).shape))

    def run(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        try:
            result = matmul(_as_rows(matrices(widen(a)), b), matrices(widen(b)))
        except ValueError:
            check_types(self, a, b)
            raise
        shape = result.shape if a.ndim < 3 or b.ndim != 2 else (*a.shape[:-1], b.shape[1])
        return np.asarray(result).reshape(shape).astype(a.dtype, copy=False)

    any_length = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return [multiply_views(k, *inputs)]


def matrices(x: np.ndarray) -> np.ndarray:
    """The matrices in row-major order: the last bits of a product depend on how its operands lie in memory."""
    steps = (x.itemsize * x.shape[-1], x.itemsize)[2 - min(x.ndim, 2) :] if x.ndim else ()
    return x if x.strides[-2:] == steps else x.copy(order="C")


def _as_rows(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The left operand of a matrix as one matrix too, which takes one product instead of many."""
    return a.reshape(math.prod(a.shape[:-1]), a.shape[-1]) if a.ndim > 2 and b.ndim == 2 else a


class Gemm(Op, frozen=True):
    """alpha * A' @ B' + beta * C, where A' and B' are transposed by `transA` and `transB`. Source: ONNX Gemm-13.

    Shapes: A' [M, K], B' [K, N], C broadcast to [M, N]. C is not read where beta is 0. Integers wrap; a factor that is
    no integer makes the sum a float64, truncated at the end. float16 and bfloat16 are rounded once.
    """

    never_fails = True

    alpha: float = 1.0
    beta: float = 1.0
    transA: int = 0
    transB: int = 0

    any_length = True

    def infer(self, a: Fact, b: Fact, c: Fact | None = None) -> TensorType:
        dtype = same_dtype(a, b, c)
        require_dtype(dtype, _NUMBERS)
        left, right = dims_of(a, 2, "A"), dims_of(b, 2, "B")
        rows, inner_a = left[::-1] if self.transA else left
        inner_b, columns = right[::-1] if self.transB else right
        unify_lengths("the inner length", inner_a, inner_b)
        if c is not None:
            require_broadcast(tensor(c, "C").shape, (rows, columns), "C")
        return TensorType(dtype, (rows, columns))

    def run(self, a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> np.ndarray:
        check_types(self, a, b, c)
        left, right = matrices(widen(a)), matrices(widen(b))
        result = matmul(left.T if self.transA else left, right.T if self.transB else right)
        return self.run_sum(result, c).astype(a.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        a, b, c = inputs[0], inputs[1], inputs.optional(2)
        left = transpose_view(k, a, (1, 0)) if self.transA else a
        right = transpose_view(k, b, (1, 0)) if self.transB else b
        if not is_float(a.dtype) and not (self.alpha.is_integer() and self.beta.is_integer()):
            return None
        return self.lower_sum(k, multiply_views(k, widen_view(k, left), widen_view(k, right)), c, outputs[0])

    def lower_sum(self, k: NativeBuilder, result: View, c: View | None, output: TensorType) -> Sequence[View]:
        """The native form from the product on: alpha * product + beta * c."""
        wide, dtype = result.dtype, output.dtype
        if not result.size:
            return [broadcast_scalar(k, k.const(0, dtype), lengths(output))]
        if self.alpha != 1:
            factor = k.const(self.alpha, wide)
            result = map_elements(k, lambda x: k.mul(x, factor), result)
        if c is not None and self.beta:
            scale = k.const(self.beta, wide)
            added = broadcast_view(k, widen_view(k, c), result.shape)
            result = map_elements(
                k, lambda x, y: k.add(x, y if self.beta == 1 else k.mul(y, scale)), result, added, cost=2
            )
        return [cast_view(k, result, dtype)]

    def run_sum(self, result: np.ndarray, c: np.ndarray | None) -> np.ndarray:
        """alpha * result + beta * c."""
        result = _scaled(result, self.alpha)
        return result if c is None or not self.beta else result + _scaled(widen(c), self.beta)


def _scaled(x: np.ndarray, factor: float) -> np.ndarray:
    if factor == 1:
        return x
    if is_float(x.dtype):
        return x * x.dtype.type(factor)
    if float(factor).is_integer():
        return x * np.array(int(factor)).astype(x.dtype)
    return x.astype(np.float64) * factor


def _check_parameter(fact: Fact, operand: Fact, axis: int, what: str) -> None:
    """A scale or zero point is one element, one for each line of the operand along `axis`, or broadcasts to it."""
    shape, target = tensor(fact, what).shape, tensor(operand).shape
    if isinstance(shape, AnyShape) or isinstance(target, AnyShape):
        return
    if len(shape) != 1:
        return require_broadcast(shape, target, what)
    if not dims.equal(shape[0], 1) and (len(target) < 2 or dims.differ(shape[0], target[axis])):
        raise TypeRuleError(
            f"{what} has shape {list(shape)}, expected one element or one for each line of {list(target)}"
        )


def _per_line(value: np.ndarray, axis: int) -> np.ndarray:
    """A scale or zero point in a shape that broadcasts over its operand and over the product."""
    if value.size == 1:
        return value.reshape(())
    return value[:, None] if value.ndim == 1 and axis == -2 else value


def _exact_product(a: np.ndarray, a_zero: np.ndarray | None, b: np.ndarray, b_zero: np.ndarray | None) -> np.ndarray:
    """(a - a_zero) @ (b - b_zero) as float64, in which sums of products of bytes are exact."""
    left, right = a.astype(np.float64), b.astype(np.float64)
    if a_zero is not None:
        left = left - _per_line(a_zero, -2).astype(np.float64)
    if b_zero is not None:
        right = right - _per_line(b_zero, -1).astype(np.float64)
    return np.asarray(matmul(left, right))


def _require(value: Value | None) -> Value:
    assert value is not None
    return value


def _write_exact_product(write: Writer, a: Value, a_zero: Value | None, b: Value, b_zero: Value | None) -> Value:
    """`_exact_product` as nodes: int32 sums of products in float32, each over so few terms that it is exact.

    Where only the run knows how many terms there are, products of int32.
    """
    a_zero, b_zero = None if _is_zero(a_zero) else a_zero, None if _is_zero(b_zero) else b_zero
    if has_byte_product(a, b):
        x, y = (
            None if zero is None else _write_per_line(write, write.cast(zero, INT32), axis)
            for zero, axis in ((a_zero, -2), (b_zero, -1))
        )
        return write_byte_product(write, a, x, b, y)
    pairs = [(a, a_zero, -1), (b, b_zero, -2)]
    inner = _lengths(a)[-1]
    if not isinstance(inner, int) or inner != _lengths(b)[-2:][0]:
        return write.node(MatMul(), *(_centred(write, x, zero, axis, INT32) for x, zero, axis in pairs))
    most = _EXACT // math.prod(_largest(x, zero) for x, zero, _ in pairs)
    total: Value | None = None
    for start in range(0, inner, most):
        stop = min(inner, start + most)
        parts = [_centred_part(write, *pair, start, stop) for pair in pairs]
        part = write.cast(write.node(MatMul(), *parts), INT32)
        total = part if total is None else write.add(total, part)
    assert total is not None
    return total


def _has_exact_product(a: Value, a_zero: Value | None, b: Value, b_zero: Value | None) -> bool:
    """Whether `_write_exact_product` has nodes for it: no operand is surely empty, and zero points are by lines."""
    pairs = (a, a_zero), (b, b_zero)
    lengths = [_lengths(value) for value in (a, b, a_zero, b_zero) if value is not None]
    if not _lengths(a) or not _lengths(b) or any(isinstance(n, int) and n < 1 for each in lengths for n in each):
        return False
    return all(zero is None or is_fixed(zero) or len(_lengths(x)) > 1 for x, zero in pairs)


def _lengths(value: Value) -> tuple[Dim, ...]:
    shape = tensor(value).shape
    return () if isinstance(shape, AnyShape) else shape


def _largest(x: Value, zero: Value | None) -> int:
    """What a byte less its zero point is at most."""
    return 255 if zero is not None or tensor(x).dtype == BY_NAME["uint8"] else 128


def _centred_part(write: Writer, x: Value, zero: Value | None, axis: int, start: int, stop: int) -> Value:
    """An operand less its zero point as float32, from one index to another along the axis of the sum."""
    along = max(0, len(_lengths(x)) + axis)
    whole = _lengths(x)[along] == stop - start
    if zero is None:
        return write.cast(x if whole else write.slice(x, along, start, stop), FLOAT32)
    x = _centred(write, x, zero, axis, FLOAT32)
    return x if whole else write.slice(x, along, start, stop)


def _centred(write: Writer, x: Value, zero: Value | None, axis: int, dtype: np.dtype) -> Value:
    """An operand less its zero point, of which there may be one for each line along the axis of the sum."""
    x = write.cast(x, dtype)
    return x if zero is None else write.sub(x, _write_per_line(write, write.cast(zero, dtype), -3 - axis))


def _is_zero(value: Value | None) -> bool:
    """Whether a zero point is known to be 0."""
    return value is None or (value.known is not None and all(n == 0 for n in value.known.flat))


def _write_per_line(write: Writer, value: Value, axis: int) -> Value:
    """`_per_line` as nodes."""
    shape = _lengths(value)
    if dims.product(shape) == 1:
        return write.squeeze(value)
    return write.unsqueeze(value, 1) if len(shape) == 1 and axis == -2 else value


class MatMulInteger(Op, frozen=True):
    """(A - a_zero_point) @ (B - b_zero_point) as int32, wrapping. Source: ONNX MatMulInteger-10.

    Zero points: one element, one for each row of A or column of B, or a shape that broadcasts.
    """

    def infer(self, a: Fact, b: Fact, a_zero_point: Fact | None = None, b_zero_point: Fact | None = None) -> TensorType:
        for operand, zero, axis, what in ((a, a_zero_point, -2, "a_zero_point"), (b, b_zero_point, -1, "b_zero_point")):
            require_dtype(same_dtype(operand, zero), _BYTES)
            if zero is not None:
                _check_parameter(zero, operand, axis, what)
        return TensorType(INT32, product_shape(tensor(a).shape, tensor(b).shape))

    def run(
        self,
        a: np.ndarray,
        b: np.ndarray,
        a_zero_point: np.ndarray | None = None,
        b_zero_point: np.ndarray | None = None,
    ) -> np.ndarray:
        check_types(self, a, b, a_zero_point, b_zero_point)
        return _exact_product(a, a_zero_point, b, b_zero_point).astype(np.int64).astype(np.int32)

    def decompose(self, inputs: Sequence[Value | None], build: NodeBuilder) -> list[Value] | None:
        a, b, a_zero, b_zero = (*inputs, None, None)[:4]
        if a is None or b is None or not _has_exact_product(a, a_zero, b, b_zero):
            return None
        write = Writer(build)
        return [_write_exact_product(write, a, a_zero, b, b_zero)]


class QLinearMatMul(Op, frozen=True):
    """saturate(round(scale * ((a - a_zero) @ (b - b_zero))) + y_zero), scale = a_scale * b_scale / y_scale.

    Ties go to even; float8 results are rounded by the cast alone. Scales and zero points are as in MatMulInteger,
    those of y by rows. Source: ONNX QLinearMatMul-21.
    """

    def infer(
        self,
        a: Fact,
        a_scale: Fact,
        a_zero_point: Fact,
        b: Fact,
        b_scale: Fact,
        b_zero_point: Fact,
        y_scale: Fact,
        y_zero_point: Fact,
    ) -> TensorType:
        require_dtype(same_dtype(a, a_zero_point), _QUANTIZED)
        require_dtype(same_dtype(b, b_zero_point), _QUANTIZED)
        require_dtype(same_dtype(a_scale, b_scale, y_scale), COMPUTED_FLOATS)
        for operand, axis, name in ((a, -2, "a"), (b, -1, "b")):
            scale, zero = (a_scale, a_zero_point) if operand is a else (b_scale, b_zero_point)
            _check_parameter(scale, operand, axis, f"{name}_scale")
            _check_parameter(zero, operand, axis, f"{name}_zero_point")
        dtype = same_dtype(y_zero_point)
        require_dtype(dtype, _QUANTIZED)
        return TensorType(dtype, product_shape(tensor(a).shape, tensor(b).shape))

    def run(
        self,
        a: np.ndarray,
        a_scale: np.ndarray,
        a_zero_point: np.ndarray,
        b: np.ndarray,
        b_scale: np.ndarray,
        b_zero_point: np.ndarray,
        y_scale: np.ndarray,
        y_zero_point: np.ndarray,
    ) -> np.ndarray:
        check_types(self, a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point)
        scale = _per_line(widen(a_scale), -2) * _per_line(widen(b_scale), -1) / _per_line(widen(y_scale), -2)
        scaled = _exact_product(a, a_zero_point, b, b_zero_point) * scale.astype(np.float64)
        zero, dtype = _per_line(y_zero_point, -2).astype(np.float64), y_zero_point.dtype
        if is_integer(dtype):
            limits = np.iinfo(dtype)
            return np.clip(np.rint(scaled) + zero, limits.min, limits.max).astype(dtype)
        limits = ml_dtypes.finfo(dtype)
        return np.clip(scaled + zero, float(limits.min), float(limits.max)).astype(dtype)

    def decompose(self, inputs: Sequence[Value | None], build: NodeBuilder) -> list[Value] | None:
        write, (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero) = Writer(build), map(_require, inputs)
        if any(tensor(x).dtype not in _BYTES for x in (a, b, y_zero)) or not _has_exact_product(a, a_zero, b, b_zero):
            return None
        if not is_fixed(a_scale, b_scale, y_scale, y_zero):
            return None
        wide = accumulator(tensor(a_scale).dtype)
        factors = [
            _write_per_line(write, write.cast(x, wide), n) for x, n in ((a_scale, -2), (b_scale, -1), (y_scale, -2))
        ]
        scale = build.add(Div(), write.mul(factors[0], factors[1]), factors[2])
        total = write.cast(_write_exact_product(write, a, a_zero, b, b_zero), FLOAT64)
        rounded = build.add(Round(), write.mul(total, write.cast(scale, FLOAT64)))
        zero, limits = _write_per_line(write, write.cast(y_zero, FLOAT64), -2), np.iinfo(tensor(y_zero).dtype)
        low, high = (write.number(float(bound), FLOAT64) for bound in (limits.min, limits.max))
        return [write.cast(build.add(Clip(), write.add(rounded, zero), low, high), tensor(y_zero).dtype)]
