"""Max pooling undone: every maximum back to its place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    check_types,
    dims_of,
    known_dims,
    require_dtype,
    snapshot,
    unify_lengths,
)
from whorl.ops.movement.native_padding import pad_view
from whorl.ops.native.index_maps import broadcast_scalar, fixed_lengths
from whorl.ops.windows.geometry import per_axis


class MaxUnpool(Op, frozen=True):
    """Y[I[k]] = X[k] in the flattened Y, 0 elsewhere. Inputs: X [N, C, windows...], I like X, output_shape.

    An axis of Y has (windows - 1) * stride - pads + kernel elements; the indices I count in a Y of these lengths. Where
    output_shape asks for more, zeros follow at the end of the axes. Source: ONNX MaxUnpool-22 and its backend tests.
    """

    kernel_shape: tuple[int, ...]
    pads: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None

    def infer(self, x: Fact, indices: Fact, output_shape: Fact | None = None) -> TensorType:
        dtype, rank = tensor(x).dtype, len(self.kernel_shape) + 2
        require_dtype(dtype, COMPUTED_FLOATS)
        require_dtype(tensor(indices).dtype, frozenset((INT64,)))
        pairs = zip(dims_of(x, rank, "X"), dims_of(indices, rank, "I"), strict=True)
        pooled = self.pooled([unify_lengths(f"axis {axis} of X and I", *pair) for axis, pair in enumerate(pairs)])
        if any(isinstance(n, int) and n < 0 for n in pooled):
            raise TypeRuleError(f"the pads leave the shape {list(pooled)}")
        if output_shape is None:
            return TensorType(dtype, pooled)
        requested = known_dims(output_shape)
        if requested is None:
            return TensorType(dtype, (UNKNOWN,) * rank)
        if len(requested) != rank:
            raise TypeRuleError(f"output_shape has {len(requested)} entries, expected {rank}")
        if any(isinstance(gap := a - p, int) and gap < 0 for a, p in zip(requested, pooled, strict=True)):
            raise TypeRuleError(f"output_shape {list(requested)} is smaller than what was pooled, {list(pooled)}")
        return TensorType(dtype, requested)

    def pooled(self, shape: Sequence[Dim]) -> tuple[Dim, ...]:
        """The shape that the windows cover."""
        rank = len(self.kernel_shape)
        strides, pads = per_axis(self.strides, rank, "strides", 1), per_axis(self.pads, 2 * rank, "pads", 0)
        steps = zip(shape[2:], self.kernel_shape, strides, pads[:rank], pads[rank:], strict=True)
        return (*shape[:2], *((n - 1) * step + kernel - begin - end for n, kernel, step, begin, end in steps))

    def run(self, x: np.ndarray, indices: np.ndarray, output_shape: np.ndarray | None = None) -> np.ndarray:
        check_types(self, x, indices, output_shape)
        y, indices = np.zeros(cast(tuple[int, ...], self.pooled(x.shape)), x.dtype), snapshot(indices)
        if indices.size and (indices.min() < 0 or indices.max() >= y.size):
            bad = int(indices[(indices < 0) | (indices >= y.size)][0])
            raise RunError(f"index {bad} is outside [0, {y.size}) of the pooled shape {list(y.shape)}")
        y.reshape(-1)[indices.reshape(-1)] = x.reshape(-1)
        if output_shape is None:
            return y
        result = np.zeros(tuple(output_shape.tolist()), x.dtype)
        result[tuple(slice(0, n) for n in y.shape)] = y
        return result

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, indices = inputs[0], inputs[1]
        shape, covered = fixed_lengths(outputs[0]), cast(tuple[int, ...], self.pooled(inputs[0].shape))
        size, y = math.prod(covered), k.temporary(x.dtype, covered)
        k.fill(y, broadcast_scalar(k, k.const(0, x.dtype), covered))
        with k.nest(x.shape, parallel=False) as index:
            position = k.let(indices.at(index))
            fits = k.apply("and", k.compare("ge", position, k.const(0)), k.compare("lt", position, k.const(size)))
            k.fail_unless(fits)
            k.store(y, (*(k.const(0) for _ in covered[1:]), position), x.at(index))
        if shape == covered:
            return [k.view_of(y)]
        ends = [(0, length - n) for length, n in zip(shape, covered, strict=True)]
        return [pad_view(k, k.view_of(y), ends, k.const(0, x.dtype))]
