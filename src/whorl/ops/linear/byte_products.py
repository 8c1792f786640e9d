"""Products with a constant matrix of bytes as sums of dot products of four bytes, which processors add at once.

Kernels take bytes without sign on the left, with sign on the right (PACKED_DOTS in `kernels/product/meaning.py`): 128
added to the one or taken from the other makes them so, and belongs to the zero points then:
sum (a - x) (b - y) = sum a b - x sum b - y sum a + K x y, modulo 2^32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from whorl.ir import dims
from whorl.ir.constants import Constant
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BY_NAME, INT32
from whorl.ir.graph import Node, Op, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import Fact, TensorType, lengths_of, tensor
from whorl.kernels.product.layout import (
    WORD,
    pack_matrix,
    packed_shape,
    panel_width,
    unpack_matrix,
    word_count,
    words_of,
)
from whorl.ops.core.writer import Writer
from whorl.ops.linear.native_products import multiply_views
from whorl.ops.reduce.reductions import ReduceSum

_INT8, _UINT8 = BY_NAME["int8"], BY_NAME["uint8"]
_OFFSET = 128
"""What makes a byte with sign one without."""
LEAST_COLUMNS, LEAST_BYTES = 16, 1 << 10
"""The columns and the size of a matrix from which its products are dot products of bytes."""


def _with_sign(matrix: np.ndarray) -> np.ndarray:
    """Bytes as int8, less 128 where they have no sign."""
    return (matrix ^ np.uint8(_OFFSET)).view(_INT8) if matrix.dtype == _UINT8 else matrix


class ByteWords(Op, frozen=True):
    """A matrix of bytes [K, N] as packed weights of words: four rows each, of bytes with sign."""

    abstract: ClassVar[bool] = True

    width: int

    def infer(self, matrix: Fact) -> TensorType:
        inner, columns = (int(n) for n in lengths_of(tensor(matrix)) if isinstance(n, int))
        return TensorType(INT32, packed_shape(word_count(inner), columns, self.width))

    def run(self, matrix: np.ndarray) -> np.ndarray:
        return pack_matrix(words_of(_with_sign(matrix)), self.width)


class ByteColumnSums(Op, frozen=True):
    """The sum of each column of a matrix of bytes with sign, an int32."""

    abstract: ClassVar[bool] = True

    def infer(self, matrix: Fact) -> TensorType:
        return TensorType(INT32, lengths_of(tensor(matrix))[1:])

    def run(self, matrix: np.ndarray) -> np.ndarray:
        return _with_sign(matrix).sum(0, dtype=np.int32)


class ByteProduct(Op, frozen=True):
    """Bytes without sign [*, K] by a matrix of so many columns in words: int32 [*, N], wrapping."""

    abstract: ClassVar[bool] = True
    any_length = True

    columns: int

    def infer(self, a: Fact, words: Fact) -> TensorType:
        return TensorType(INT32, (*lengths_of(tensor(a))[:-1], self.columns))

    def run(self, a: np.ndarray, words: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(unpack_matrix(words, self.columns)).view(np.uint32)
        parts = [(rows >> np.uint32(8 * n)).astype(np.uint8).view(_INT8) for n in range(WORD)]
        matrix = np.stack(parts, 1).reshape(-1, self.columns)[: a.shape[-1]]
        return (_without_sign(a).astype(np.int64) @ matrix.astype(np.int64)).astype(np.int32)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        a, panels = inputs
        inner = a.shape[-1]
        if not isinstance(inner, int):
            return None
        matrix = k.view(INT32, (word_count(inner), self.columns), _no_element, 0)
        return [multiply_views(k, _words(k, k.materialise_costly(a), inner), matrix, panels)]


def _without_sign(a: np.ndarray) -> np.ndarray:
    return a.view(_UINT8) ^ np.uint8(_OFFSET) if a.dtype == _INT8 else a


def _words(k: NativeBuilder, a: View, inner: int) -> View:
    """The bytes of each row in words, the last of which is filled up with zeros."""
    shape: tuple[Dim, ...] = (*a.shape[:-1], word_count(inner))
    words = k.temporary(INT32, shape)
    whole, rest = divmod(inner, WORD)
    for first, count, size in ((0, whole, WORD), (whole, 1, rest)):
        if not size or not count:
            continue
        with k.nest((*shape[:-1], count)) as (*row, number):
            word = k.add(number, k.const(first))
            start, total = k.mul(word, k.const(WORD)), k.const(0, INT32)
            for n in range(size):
                total = k.add(total, k.mul(_byte(k, a, (*row, k.add(start, k.const(n)))), _scale(k, n)))
            k.store(words, (*row, word), total)
    return k.view_of(words, shape)


def _byte(k: NativeBuilder, a: View, index: Index) -> Expr:
    byte = k.cast(a.at(index), INT32)
    return k.add(byte, k.const(_OFFSET, INT32)) if a.dtype == _INT8 else byte


def _scale(k: NativeBuilder, position: int) -> Expr:
    return k.const(1 << 8 * position, INT32)


def _no_element(index: Any) -> Any:
    raise TypeError("a matrix in panels has no elements of its own")


# ---- as nodes ------------------------------------------------------------------------------------------------


def has_byte_product(a: Value, b: Value) -> bool:
    """Whether the right operand is a constant matrix, large enough."""
    if not isinstance(b.owner, Node) or not isinstance(b.owner.op, Constant):
        return False
    left, right = lengths_of(tensor(a)), lengths_of(tensor(b))
    if len(right) != 2 or left[-1:] != right[:1]:
        return False
    return all(isinstance(n, int) for n in right) and _is_large(*(int(n) for n in right if isinstance(n, int)))


def _is_large(inner: int, columns: int) -> bool:
    return columns >= LEAST_COLUMNS and inner * columns >= LEAST_BYTES


def write_byte_product(write: Writer, a: Value, a_zero: Value | None, b: Value, b_zero: Value | None) -> Value:
    """(a - a_zero) @ (b - b_zero) as int32; the zero points are int32, and broadcast over the product. None: zero."""
    inner, columns = (int(n) for n in lengths_of(tensor(b)) if isinstance(n, int))
    rows = dims.product(lengths_of(tensor(a))[:-1])
    words = write.node(ByteWords(panel_width(rows if isinstance(rows, int) else 1, INT32)), b)
    result = write.node(ByteProduct(columns), a, words)
    left = _shifted(write, a_zero, _OFFSET if tensor(a).dtype == _INT8 else 0)
    right = _shifted(write, b_zero, -_OFFSET if tensor(b).dtype == _UINT8 else 0)
    if left is not None:
        sums = write.node(ByteColumnSums(), b)
        if right is not None:
            sums = write.sub(sums, write.mul(right, write.number(inner, INT32)))
        result = write.sub(result, write.mul(left, sums))
    if right is not None:
        bytes = write.cast(a, INT32)
        if tensor(a).dtype == _INT8:
            bytes = write.add(bytes, write.number(_OFFSET, INT32))
        totals = write.node(ReduceSum(), bytes, write.build.int64(-1))
        result = write.sub(result, write.mul(right, totals))
    return result


def _shifted(write: Writer, zero: Value | None, by: int) -> Value | None:
    """A zero point and a number; None where they are surely 0."""
    if zero is None:
        return write.number(by, INT32) if by else None
    if zero.known is not None and all(n == -by for n in zero.known.flat):
        return None
    return write.add(zero, write.number(by, INT32)) if by else zero
