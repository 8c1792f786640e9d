"""What products of matrices mean.

Each element is one sum in ascending order of k from 0, every step fused where the machine can, accumulated in the
element type of the result: |error| <= K * eps * sum |a| |b| (Higham, Accuracy and Stability, 3.1). Infinities and NaN
follow from that sum; for K = 0 it is 0, and no -0 comes of it, since it starts at 0.
"""

from __future__ import annotations

import math

import numpy as np

from whorl.ir.dtypes import BY_NAME
from whorl.kernels.kernel import Arrays, Meaning, Numbers
from whorl.kernels.product.layout import packed_shape, unpack_matrix

_AT_ONCE = 64
"""Products of two numbers that are taken in the time of one statement."""
NARROW = frozenset(BY_NAME[name] for name in ("float16", "bfloat16", "int8", "uint8"))
"""Element types of matrices that kernels widen to float32 as they read them."""


def multiply_vector(arrays: Arrays, numbers: Numbers) -> None:
    """y[N] = x[K] @ B[K, N]; numbers K, N."""
    (y, x, b), (inner, columns) = arrays, numbers
    y[...] = x @ b.reshape(inner, columns)


def vector_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    inner, columns = numbers
    return columns, inner, inner * columns


def multiply_packed(arrays: Arrays, numbers: Numbers) -> None:
    """C[M, N] = A[M, K] @ B with B as packed weights; numbers M, K, N, width.

    B is of the element type of A, or for float32 one of NARROW.
    """
    (c, a, b), (rows, inner, columns, width) = arrays, numbers
    matrix = unpack_matrix(b.reshape(packed_shape(inner, columns, width)), columns).astype(a.dtype)
    c.reshape(rows, columns)[...] = a.reshape(rows, inner) @ matrix


def add_packed_dots(arrays: Arrays, numbers: Numbers) -> None:
    """C[M, N] = A[M, K] @ B for bytes, four in a word of int32; numbers M, words of K, N, width.

    Those of A have no sign, those of B have one; sums are exact modulo 2^32. B is as packed weights.
    """
    (c, a, b), (rows, inner, columns, width) = arrays, numbers
    words = unpack_matrix(b.reshape(packed_shape(inner, columns, width)), columns)
    c.reshape(rows, columns)[...] = dot_words(a.reshape(rows, inner), words)


def dot_words(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product of two matrices of words as int32, modulo 2^32: the bytes of a have no sign, those of b have one."""
    left, right = (np.ascontiguousarray(x).view(np.uint32) for x in (a, b))
    total = np.zeros((len(a), b.shape[1]), np.int64)
    for shift in map(np.uint32, range(0, 32, 8)):
        total += (left >> shift).astype(np.uint8).astype(np.int64) @ (right >> shift).astype(np.uint8).view(np.int8)
    return total.astype(np.int32)


def packed_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    rows, inner, columns, width = numbers
    return rows * columns, rows * inner, math.prod(packed_shape(inner, columns, width))


def count_steps(numbers: Numbers) -> int:
    """M * K * N, or K * N."""
    return math.prod(numbers[:3])


def estimate_work(numbers: Numbers) -> int:
    return count_steps(numbers) // _AT_ONCE


VECTOR_MATMUL = Meaning(1, vector_extents, multiply_vector, work=estimate_work, steps=count_steps, factors=(0, 1))
PACKED_MATMUL = Meaning(
    1,
    packed_extents,
    multiply_packed,
    narrow={2: NARROW},
    work=estimate_work,
    steps=count_steps,
    factors=(0, 1, 2),
)
PACKED_DOTS = Meaning(1, packed_extents, add_packed_dots, work=estimate_work, steps=count_steps, factors=(0, 1, 2))
