"""Fourier transforms of short signals as matrix products, and those of frames as convolutions."""

from __future__ import annotations

import numpy as np

from whorl.ir.dims import Dim
from whorl.ir.graph import NodeBuilder, Value
from whorl.ir.types import lengths_of, tensor
from whorl.ops.core.base import accumulator
from whorl.ops.core.writer import Writer
from whorl.ops.linear.products import MatMul
from whorl.ops.windows.convolution import Conv

MOST = 1 << 19
"""Numbers of a matrix that is multiplied by; a fast transform does less for longer signals."""


def write_transform(build: NodeBuilder, x: Value, axis: int, matrix: np.ndarray) -> Value:
    """What a matrix [length, parts, bins, results] makes of an axis and the last one, with x rounded once."""
    write, dtype = Writer(build), tensor(x).dtype
    rank, (length, parts, bins, results) = len(lengths_of(tensor(x))), matrix.shape
    order = [*(n for n in range(rank - 1) if n != axis), axis, rank - 1]
    turned = write.cast(write.transpose(x, order), accumulator(dtype))
    outer = lengths_of(tensor(turned))[:-2]
    flat = build.constant(matrix.reshape(length * parts, bins * results).astype(accumulator(dtype)))
    y = write.node(MatMul(), write.reshape_lengths(turned, (*outer, length * parts)), flat)
    y = write.cast(write.reshape_lengths(y, (*outer, bins, results)), dtype)
    return write.transpose(y, [*range(axis), rank - 2, *range(axis, rank - 2), rank - 1])


def write_frames(build: NodeBuilder, signal: Value, step: int, window: Value | None, matrix: np.ndarray) -> Value:
    """What a matrix [length, parts, bins, 2] makes of frames of a signal, each times the window."""
    write, dtype = Writer(build), tensor(signal).dtype
    length, parts, bins, results = matrix.shape
    wide = accumulator(dtype)
    filters = build.constant(matrix.transpose(2, 3, 1, 0).reshape(bins * results, parts, length).astype(wide))
    if window is not None:
        filters = write.mul(filters, write.cast(window, wide))
    channels = write.cast(write.transpose(signal, [0, 2, 1]), wide)
    y = write.transpose(write.node(Conv(strides=(step,)), channels, filters), [0, 2, 1])
    return write.cast(write.reshape_lengths(y, (*lengths_of(tensor(y))[:2], bins, results)), dtype)


def is_short(length: int, parts: int, bins: Dim) -> bool:
    """Whether the matrix of a transform of such signals is small."""
    return isinstance(bins, int) and 0 < 2 * length * parts * bins <= MOST
