"""Batching rules of products."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import INT32, is_float
from whorl.ir.graph import Op
from whorl.ops.core.base import accumulator
from whorl.ops.elementwise.arithmetic import Add, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.linear.determinants import Det
from whorl.ops.linear.einsum import Einsum
from whorl.ops.linear.products import Gemm, MatMul, MatMulInteger, QLinearMatMul
from whorl.ops.movement.shapes import Reshape, Squeeze, Unsqueeze
from whorl.passes.rules.pattern import tensor_type
from whorl.passes.vectorize.batched import Batched, CannotVectorize, Operands, align, permute
from whorl.passes.vectorize.rules.elementwise import batch_broadcasting, broadcast
from whorl.passes.vectorize.rules.quantization import is_single
from whorl.passes.vectorize.rules.rule import Rule


def batch_matmul(op: MatMul, operands: Operands, build: Builder) -> Sequence[Batched]:
    a, b = operands
    assert a is not None and b is not None
    if not a.is_mapped and a.rank == 2 and b.rank == 1:
        # One matrix times the vector of each row: the rows are a matrix, and there is one product.
        return [Batched(build.add(op, b.value, _transposed(a, build).value))]
    return [_product(op, (a, b), (0, 1), build)]


def _product(op: Op, operands: Operands, factors: tuple[int, int], build: Builder) -> Batched:
    """A product by NumPy's rules of two of the operands; the others are as they are.

    Vectors become matrices of one row or column, so that rows are matrices side by side.
    """
    a, b = (operands[k] for k in factors)
    assert a is not None and b is not None
    values = [None if x is None else x.value for x in operands]
    if a.rank == 1 and not b.is_mapped and b.rank == 2:
        return Batched(build.add(op, *values))
    vectors = [a.rank == 1, b.rank == 1]
    left = _matrix(a, a.rank, build)
    right = _matrix(b, b.rank + 1, build)
    rank = max(left.rank, right.rank)
    for k, side in zip(factors, (left, right), strict=True):
        values[k] = align(side, rank, build)
    result = build.add(op, *values)
    dropped = [axis for axis, is_vector in zip((rank - 1, rank), vectors, strict=True) if is_vector]
    return Batched(build.add(Squeeze(), result, build.int64(*dropped)) if dropped else result)


def _matrix(operand: Batched, axis: int, build: Builder) -> Batched:
    """The operand, a vector with a new axis before or after its own."""
    if operand.rank > 1:
        return operand
    at = build.int64(axis - 1 + operand.is_mapped)
    return Batched(build.add(Unsqueeze(), operand.value, at), operand.is_mapped)


def batch_gemm(op: Gemm, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The product, the factors and the sum, in the type in which a Gemm sums."""
    a, b, c = (*operands, None)[:3]
    assert a is not None and b is not None
    dtype = tensor_type(a.value).dtype
    wide, scales = accumulator(dtype), (op.alpha, op.beta)
    if not is_float(dtype) and not all(float(scale).is_integer() for scale in scales):
        raise CannotVectorize("a Gemm of integers has a factor that is none")
    left, right = (_widened(x, wide, build) for x in (a, b))
    left, right = (_transposed(x, build) if flag else x for x, flag in ((left, op.transA), (right, op.transB)))
    total = Batched(build.add(MatMul(), left.value, right.value), left.is_mapped or right.is_mapped)
    total = _scaled(total, op.alpha, build)
    if c is not None and op.beta:
        total = broadcast(Add(), total, _scaled(_widened(c, wide, build), op.beta, build), build=build)
    elif not total.is_mapped:
        raise CannotVectorize("a Gemm does not read what differs by row")
    return [total if wide == dtype else Batched(build.add(Cast(dtype), total.value))]


def _widened(x: Batched, wide: np.dtype, build: Builder) -> Batched:
    if tensor_type(x.value).dtype == wide:
        return x
    return Batched(build.add(Cast(wide), x.value, name=x.value.name), x.is_mapped)


def _transposed(x: Batched, build: Builder) -> Batched:
    order = [0, 2, 1] if x.is_mapped else [1, 0]
    return Batched(permute(x.value, order, build), x.is_mapped)


def _scaled(x: Batched, factor: float, build: Builder) -> Batched:
    if factor == 1:
        return x
    number = build.constant(np.array(factor).astype(tensor_type(x.value).dtype), "factor")
    return broadcast(Mul(), x, Batched(number, is_mapped=False), build=build)


def batch_einsum(op: Einsum, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Rows have a label of their own."""
    terms, _, result = op.equation.replace(" ", "").partition("->")
    labels = [c for c in terms if c.isalpha()]
    if "->" not in op.equation:
        result = "..." * ("..." in terms) + "".join(sorted(c for c in labels if labels.count(c) == 1))
    row = next(c for c in string.ascii_letters if c not in labels)
    pairs = [(term, x) for term, x in zip(terms.split(","), operands, strict=True) if x is not None]
    named = ",".join(row * x.is_mapped + term for term, x in pairs)
    return [Batched(build.add(Einsum(f"{named}->{row}{result}"), *(x.value for _, x in pairs)))]


def batch_matmul_integer(op: MatMulInteger, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Zero points of one element that rows share stay; others are subtracted before."""
    a, b, *zeros = operands
    assert a is not None and b is not None
    if all(zero is None or (is_single(zero) and not zero.is_mapped) for zero in zeros):
        return [_product(op, operands, (0, 1), build)]
    sides = [_centred(x, zero, k, build) for k, (x, zero) in enumerate(zip((a, b), (*zeros, None), strict=False))]
    return [_product(MatMul(), sides, (0, 1), build)]


def _centred(x: Batched, zero: Batched | None, k: int, build: Builder) -> Batched:
    """An operand less its zero point, of which there is one, or one for each line along an axis, as int32."""
    wide = Batched(build.add(Cast(INT32), x.value), x.is_mapped)
    if zero is None:
        return wide
    own = Batched(build.add(Cast(INT32), zero.value), zero.is_mapped)
    if is_single(own):
        own = Batched(build.add(Reshape(), own.value, build.int64(*[-1] * own.is_mapped)), own.is_mapped)
    elif own.rank == 1 and k == 0:
        own = Batched(build.add(Unsqueeze(), own.value, build.int64(1 + own.is_mapped)), own.is_mapped)
    return broadcast(Sub(), wide, own, build=build)


def batch_quantized(op: QLinearMatMul, operands: Operands, build: Builder) -> Sequence[Batched]:
    present = [x for x in operands if x is not None]
    if any(x.is_mapped or not is_single(x) for k, x in enumerate(present) if k not in (0, 3)):
        raise CannotVectorize("a scale or zero point of a QLinearMatMul is no number that all rows share")
    return [_product(op, present, (0, 3), build)]


RULES: Mapping[type[Op], Rule] = {
    MatMul: batch_matmul,
    Gemm: batch_gemm,
    Einsum: batch_einsum,
    MatMulInteger: batch_matmul_integer,
    QLinearMatMul: batch_quantized,
    Det: batch_broadcasting,
}
