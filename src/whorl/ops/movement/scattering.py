"""Ops that write elements at indices into a copy of a tensor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dtypes import COMPLEX, STRING, name_of
from whorl.ir.graph import Op
from whorl.ir.intervals import Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import normal_axis, same_dtype, unify_lengths
from whorl.ops.movement.indexing import (
    are_inside_along,
    are_tuples_inside,
    check_ranks,
    element_indices,
    tuple_indices,
)
from whorl.ops.movement.native_scattering import combine_at, read_checked, write_rows
from whorl.ops.movement.rearranging import Rearranging, integer_input, integers, run_axis, vector_length
from whorl.ops.native.index_maps import fit, fit_below, replace_at

REDUCTIONS: dict[str, np.ufunc] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def check_reduction(reduction: str, dtype: np.dtype) -> None:
    """Refuse an unknown reduction, and one that the element type has no meaning for."""
    if reduction != "none" and reduction not in REDUCTIONS:
        raise TypeRuleError(f"reduction is {reduction!r}", fix=f"use none, {', '.join(REDUCTIONS)}")
    if reduction != "none" and (dtype == STRING or (dtype in COMPLEX and reduction in ("max", "min"))):
        raise TypeRuleError(f"reduction {reduction!r} has no meaning for {name_of(dtype)}")


def scatter(data: np.ndarray, indices: tuple[np.ndarray, ...], updates: np.ndarray, reduction: str) -> np.ndarray:
    """A copy of `data` with the updates at the indices, combined one after the other where an index repeats."""
    result = np.array(data)
    if reduction == "none":
        result[indices] = updates
    else:
        REDUCTIONS[reduction].at(result, indices, updates)
    return result


class ScatterElements(Rearranging, frozen=True):
    """A copy of data with out[indices[i][j]][j] = updates[i][j] for axis 0, and so on. Source: ONNX ScatterElements-18.

    With a reduction, out = f(out, update) for each update in turn; without, the last of equal indices wins.
    """

    any_length = True
    overwrites = 0

    axis: int = 0
    reduction: str = "none"

    def infer(self, data: Fact, indices: Fact, updates: Fact) -> TensorType:
        type, index_type, update_type = tensor(data), integer_input(indices, "indices"), tensor(updates, "updates")
        check_reduction(self.reduction, same_dtype(data, updates))
        check_ranks(type, index_type, "indices")
        check_ranks(type, update_type, "updates")
        if type.rank is not None:
            normal_axis(self.axis, type.rank)
        if not isinstance(index_type.shape, AnyShape) and not isinstance(update_type.shape, AnyShape):
            check_ranks(index_type, update_type, "updates")
            for k, (a, b) in enumerate(zip(index_type.shape, update_type.shape, strict=True)):
                unify_lengths(f"axis {k} of indices and updates", a, b)
        return type

    def run(self, data: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        if indices.shape != updates.shape:
            raise RunError(f"updates have shape {list(updates.shape)}, indices {list(indices.shape)}")
        targets = element_indices(data.shape, indices, run_axis(self.axis, data.ndim))
        return scatter(data, targets, updates, self.reduction)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (data, indices, updates), axis = inputs, self.axis % len(inputs[0].shape)
        below = fit_below(k, replace_at(indices.shape, axis, 0), replace_at(data.shape, axis, 0))
        if not below or not fit(k, updates.shape, indices.shape):
            return None
        buffer = k.writable(data)
        with k.nest(indices.shape, parallel=False) as index:
            target = replace_at(index, axis, read_checked(k, indices, index, data.shape[axis]))
            combine_at(k, buffer, target, updates.at(index), self.reduction)
        return [k.view_of(buffer, data.shape)]

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return are_inside_along(self.axis, inputs[1], operands[0], operands[1])


class ScatterND(Rearranging, frozen=True):
    """A copy of data with out[tuple(indices[i])] = updates[i]. Source: ONNX ScatterND-18.

    With a reduction, out = f(out, update) for each update in turn; without, the last of equal indices wins.
    """

    any_length = True
    overwrites = 0

    reduction: str = "none"

    def infer(self, data: Fact, indices: Fact, updates: Fact) -> TensorType:
        type, index_shape, update_type = (
            tensor(data),
            integer_input(indices, "indices").shape,
            tensor(updates, "updates"),
        )
        check_reduction(self.reduction, same_dtype(data, updates))
        if isinstance(type.shape, AnyShape) or isinstance(index_shape, AnyShape) or not index_shape:
            return type
        width = index_shape[-1]
        if not isinstance(width, int):
            return type
        if not 1 <= width <= len(type.shape):
            raise TypeRuleError(f"indices have {width} numbers for the {len(type.shape)} axes of {type}")
        expected = (*index_shape[:-1], *type.shape[width:])
        if not isinstance(update_type.shape, AnyShape):
            if len(update_type.shape) != len(expected):
                raise TypeRuleError(
                    f"updates have rank {len(update_type.shape)}, indices and data ask for {len(expected)}"
                )
            for k, (a, b) in enumerate(zip(expected, update_type.shape, strict=True)):
                unify_lengths(f"axis {k} of updates", a, b)
        return type

    def run(self, data: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        targets = tuple_indices(data.shape, indices)
        expected = (*indices.shape[:-1], *data.shape[len(targets) :])
        if updates.shape != expected:
            raise RunError(f"updates have shape {list(updates.shape)}, indices and data ask for {list(expected)}")
        return scatter(data, targets, updates, self.reduction)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        data, indices, updates = inputs
        width = indices.shape[-1]
        if not isinstance(width, int) or not fit(k, updates.shape, (*indices.shape[:-1], *data.shape[width:])):
            return None
        buffer = k.writable(data)
        with k.nest(indices.shape[:-1], parallel=False) as row:
            first = [read_checked(k, indices, (*row, k.const(n)), data.shape[n]) for n in range(width)]
            with k.nest(data.shape[width:]) as rest:
                combine_at(k, buffer, (*first, *rest), updates.at((*row, *rest)), self.reduction)
        return [k.view_of(buffer, data.shape)]

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return are_tuples_inside(0, inputs[1], operands[0], operands[1])


class TensorScatter(Op, frozen=True):
    """A copy of the cache with the update at write_indices[b] and on along `axis`, for each batch row b (axis 0).

    In mode circular the indices wrap around the cache. Source: ONNX TensorScatter-24.
    """

    polymorphic = True
    any_length = True
    overwrites = 0

    axis: int = -2
    mode: str = "linear"

    def infer(self, past_cache: Fact, update: Fact, write_indices: Fact | None = None) -> TensorType:
        type, update_type = tensor(past_cache), tensor(update, "update")
        same_dtype(past_cache, update)
        if self.mode not in ("linear", "circular"):
            raise TypeRuleError(f"mode is {self.mode!r}", fix="use 'linear' or 'circular'")
        if write_indices is not None:
            vector_length(write_indices, "write_indices")
        check_ranks(type, update_type, "update")
        if isinstance(type.shape, AnyShape):
            return type
        axis = normal_axis(self.axis, len(type.shape))
        if not axis:
            raise TypeRuleError(f"axis {self.axis} is the batch axis of {type}", fix="write along another axis")
        if not isinstance(update_type.shape, AnyShape):
            for k, (a, b) in enumerate(zip(type.shape, update_type.shape, strict=True)):
                if k != axis:
                    unify_lengths(f"axis {k}", a, b)
        return type

    def run(self, past_cache: np.ndarray, update: np.ndarray, write_indices: np.ndarray | None = None) -> np.ndarray:
        axis = run_axis(self.axis, past_cache.ndim)
        result = np.array(past_cache)
        rows, updates = np.moveaxis(result, axis, 1), np.moveaxis(update, axis, 1)
        if rows.ndim != updates.ndim or rows.shape[0] != updates.shape[0] or rows.shape[2:] != updates.shape[2:]:
            raise RunError(f"update {list(update.shape)} does not fit cache {list(past_cache.shape)} along axis {axis}")
        first = [0] * len(rows) if write_indices is None else integers(write_indices)
        if len(first) != len(rows):
            raise RunError(f"write_indices has {len(first)} numbers for a batch of {len(rows)}")
        length, count = rows.shape[1], updates.shape[1]
        for row, new, start in zip(rows, updates, first, strict=True):
            last = start + count
            if count > length or (self.mode == "linear" and not 0 <= start <= last <= length):
                raise RunError(f"places [{start}, {last}) are outside the cache's length {length}")
            row[np.arange(start, last) % max(length, 1)] = new
        return result

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        cache, update, write_indices = inputs[0], inputs[1], inputs.optional(2)
        axis = self.axis % len(cache.shape)
        if not fit_below(k, [update.shape[axis]], [cache.shape[axis]]):
            return None
        if not fit(k, replace_at(cache.shape, axis, 0), replace_at(update.shape, axis, 0)):
            return None
        if write_indices is not None and not fit(k, write_indices.shape, cache.shape[:1]):
            return None
        return [write_rows(k, cache, update, write_indices, axis, self.mode == "circular")]
