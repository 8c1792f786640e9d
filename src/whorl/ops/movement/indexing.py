"""Ops that read elements at indices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.intervals import Interval, Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import UNRANKED, AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import length_of, normal_axis, shape_of, unify_lengths, unknown_shape
from whorl.ops.movement.rearranging import Rearranging, in_range, integer_input, run_axis
from whorl.ops.native.index_maps import (
    fit,
    fit_below,
    is_larger,
    lengths,
    map_indices,
    normalise_indices,
    replace_at,
    select_column,
)


class Gather(Rearranging, frozen=True):
    """Slices of x at indices along `axis`; the axes of the indices replace it. Source: ONNX Gather-13."""

    any_length = True

    axis: int = 0
    moves_elements = True

    def infer(self, x: Fact, indices: Fact) -> TensorType:
        type, index_shape = tensor(x), integer_input(indices, "indices").shape
        if isinstance(type.shape, AnyShape):
            return type
        axis = normal_axis(self.axis, len(type.shape))
        if isinstance(index_shape, AnyShape):
            return type.with_shape(UNRANKED)
        return type.with_shape((*type.shape[:axis], *index_shape, *type.shape[axis + 1 :]))

    def run(self, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        axis = run_axis(self.axis, x.ndim)
        index = in_range(indices, x.shape[axis], axis)
        slices = np.take(x, index.reshape(-1), axis)
        return slices.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x, indices), axis = inputs, self.axis % len(inputs[0].shape)
        row, rank = normalise_indices(k, indices, x.shape[axis]), len(indices.shape)
        if indices.size == 1:
            row = k.materialise(row)
        if indices.size != dims.product(lengths(outputs[0])):
            row = k.materialise_reread(row)
        source = k.materialise_reread(x) if is_larger(indices.size, x.shape[axis]) else x

        def gather(index: Index) -> Index:
            return (*index[:axis], row.at(index[axis : axis + rank]), *index[axis + rank :])

        return [map_indices(k, source, lengths(outputs[0]), gather, 1 + row.cost)]

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return are_inside(inputs[1], length_of(operands[0], self.axis))


class GatherElements(Rearranging, frozen=True):
    """out[i][j][k] = x[indices[i][j][k]][j][k] for axis 0, and so on. Source: ONNX GatherElements-13."""

    any_length = True

    axis: int = 0
    moves_elements = True

    def infer(self, x: Fact, indices: Fact) -> TensorType:
        type, index_type = tensor(x), integer_input(indices, "indices")
        check_ranks(type, index_type, "indices")
        rank = type.rank if index_type.rank is None else index_type.rank
        if rank is not None:
            normal_axis(self.axis, rank)
        shape = unknown_shape(rank) if isinstance(index_type.shape, AnyShape) else index_type.shape
        return type.with_shape(shape)

    def run(self, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        return x[element_indices(x.shape, indices, run_axis(self.axis, x.ndim))]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x, indices), axis = inputs, self.axis % len(inputs[0].shape)
        if not fit_below(k, replace_at(indices.shape, axis, 0), replace_at(x.shape, axis, 0)):
            return None
        row = normalise_indices(k, indices, x.shape[axis])
        source = k.materialise_reread(x) if is_larger(indices.shape[axis], x.shape[axis]) else x
        return [map_indices(k, source, indices.shape, lambda i: replace_at(i, axis, row.at(i)), 1 + row.cost)]

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return are_inside_along(self.axis, inputs[1], operands[0], operands[1])


def are_inside(indices: Interval | None, length: Dim) -> bool:
    """Whether indices in an interval surely are positions along an axis."""
    return isinstance(length, int) and indices is not None and -length <= indices.low <= indices.high < length


def are_inside_along(axis: int, interval: Interval | None, x: Fact | None, indices: Fact | None) -> bool:
    """Whether indices into one axis surely are inside, and lie on positions of the other axes that there are."""
    shape, below = shape_of(x), shape_of(indices)
    if isinstance(shape, AnyShape) or isinstance(below, AnyShape) or len(shape) != len(below):
        return False
    axis %= len(shape)
    pairs = [(a, b) for k, (a, b) in enumerate(zip(below, shape, strict=True)) if k != axis]
    fit = all(isinstance(a, int) and isinstance(b, int) and a <= b for a, b in pairs)
    return fit and are_inside(interval, shape[axis])


def are_tuples_inside(first: int, interval: Interval | None, x: Fact | None, indices: Fact | None) -> bool:
    """Whether tuples of indices into the axes from `first` on surely are inside; known ones are tried one by one."""
    shape, width = shape_of(x), length_of(indices, -1)
    if isinstance(shape, AnyShape) or not isinstance(width, int):
        return False
    sizes = shape[first : first + width]
    known = None if indices is None else indices.known
    if known is None or not all(isinstance(index, int) for index in known.flat):
        return all(are_inside(interval, length) for length in sizes)
    columns = known.reshape(-1, width).T
    return all(are_inside(Interval(min(c), max(c)), n) for c, n in zip(columns, sizes, strict=True) if len(c))


def check_ranks(x: TensorType, other: TensorType, what: str) -> None:
    """Refuse two tensors of different ranks that are walked together."""
    if x.rank is not None and other.rank is not None and x.rank != other.rank:
        raise TypeRuleError(f"{what} has rank {other.rank}, data {x.rank}", fix="give both one rank")


def element_indices(shape: tuple[int, ...], indices: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """Where each element of `indices` points: its own position, with the index itself on `axis`."""
    if indices.ndim != len(shape):
        raise RunError(f"indices have rank {indices.ndim}, data {len(shape)}")
    if any(n > limit for k, (n, limit) in enumerate(zip(indices.shape, shape, strict=True)) if k != axis):
        raise RunError(f"indices of shape {list(indices.shape)} exceed data of shape {list(shape)}")
    own = np.indices(indices.shape, sparse=True)
    return replace_at(own, axis, in_range(indices, shape[axis], axis))


class GatherND(Rearranging, frozen=True):
    """x at the tuples in the last axis of the indices, after `batch_dims` shared axes. Source: ONNX GatherND-13."""

    any_length = True

    batch_dims: int = 0
    moves_elements = True

    def infer(self, x: Fact, indices: Fact) -> TensorType:
        type, index_shape, b = tensor(x), integer_input(indices, "indices").shape, self.batch_dims
        if isinstance(index_shape, AnyShape):
            return type.with_shape(UNRANKED)
        if not 0 <= b < len(index_shape) or (type.rank is not None and b >= type.rank):
            raise TypeRuleError(f"batch_dims {b} needs data and indices of higher rank", fix="lower batch_dims")
        width = index_shape[-1]
        if isinstance(type.shape, AnyShape) or not isinstance(width, int):
            return type.with_shape(UNRANKED)
        if not 1 <= width <= len(type.shape) - b:
            raise TypeRuleError(f"indices have {width} numbers for the {len(type.shape) - b} axes of {type}")
        batch = [unify_lengths(f"axis {k}", type.shape[k], index_shape[k]) for k in range(b)]
        return type.with_shape((*batch, *index_shape[b:-1], *type.shape[b + width :]))

    def run(self, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        b = self.batch_dims
        if indices.ndim <= b or x.shape[:b] != indices.shape[:b]:
            raise RunError(f"data {list(x.shape)} and indices {list(indices.shape)} do not share {b} batch axes")
        tuples = tuple_indices(x.shape, indices, b)
        inner = (1,) * (indices.ndim - 1 - b)
        own = np.meshgrid(*map(np.arange, x.shape[:b]), indexing="ij", sparse=True)
        batch = [row.reshape((*row.shape, *inner)) for row in own]
        slices = x[tuple(index[None] for index in (*batch, *tuples))]
        return slices.reshape((*indices.shape[:-1], *x.shape[b + len(tuples) :]))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x, indices), b = inputs, self.batch_dims
        width = indices.shape[-1]
        if not isinstance(width, int) or not fit(k, x.shape[:b], indices.shape[:b]):
            return None
        rank, shape = len(indices.shape) - 1, (*indices.shape[:-1], *x.shape[b + width :])
        columns = [
            k.materialise_reread(normalise_indices(k, select_column(k, indices, n), x.shape[b + n]))
            for n in range(width)
        ]

        def gather(index: Index) -> Index:
            return (*index[:b], *(column.at(index[:rank]) for column in columns), *index[rank:])

        return [map_indices(k, k.materialise_reread(x), shape, gather, 1 + sum(column.cost for column in columns))]

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return are_tuples_inside(self.batch_dims, inputs[1], operands[0], operands[1])


def tuple_indices(shape: tuple[int, ...], indices: np.ndarray, first: int = 0) -> tuple[np.ndarray, ...]:
    """The tuples in the last axis of the indices as one array for each axis of the data, from `first` on."""
    if indices.ndim < 1 or not 1 <= indices.shape[-1] <= len(shape) - first:
        raise RunError(f"indices of shape {list(indices.shape)} do not fit data of shape {list(shape)}")
    axes = range(first, first + indices.shape[-1])
    return tuple(in_range(indices[..., k], shape[axis], axis) for k, axis in enumerate(axes))
