"""Normalizations: values shifted and scaled by statistics of the group they belong to."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT32, name_of, single
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import UNRANKED, AnyShape, Fact, Shape, TensorType, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    check_types,
    dims_of,
    normal_axis,
    require_broadcast,
    require_dtype,
    same_dtype,
    unify_lengths,
    widen,
)
from whorl.ops.native.index_maps import cast_view, map_indices, require_lengths, reshape_view, widen_view
from whorl.ops.reduce.native_reductions import map_elements, mean, reduce_view, standardize_view
from whorl.ops.reduce.reductions import reduced_axes, without_axes


def floating(*facts: Fact | None) -> TensorType:
    """The type of the first tensor; all present ones must have its element type, a float."""
    require_dtype(same_dtype(*facts), COMPUTED_FLOATS)
    assert facts[0] is not None
    return tensor(facts[0])


def channels_of(x: TensorType, least_rank: int) -> Dim:
    """The length of axis 1 of a tensor [N, C, ...]."""
    if isinstance(x.shape, AnyShape):
        return UNKNOWN
    if len(x.shape) < least_rank:
        raise TypeRuleError(f"the input is {x}, expected rank {least_rank} or more: [N, C, ...]")
    return x.shape[1] if len(x.shape) > 1 else 1


def _on_channels(value: np.ndarray, rank: int) -> np.ndarray:
    """A tensor [C] shaped to broadcast over [N, C, ...]."""
    return value.reshape(1, -1, *(1,) * (rank - 2)) if rank > 1 else value


def _mean(x: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """The mean along axes, which stay with length 1; NaN for no elements."""
    return np.sum(x, axis=tuple(axes), keepdims=True) / x.dtype.type(math.prod(x.shape[axis] for axis in axes))


def _variance(x: np.ndarray, mean: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    centred = x - mean
    return _mean(centred * centred, axes)


def _affine_on_channels(k: NativeBuilder, x: View, scale: View, b: View) -> View:
    """Native form of x * scale + b, both of shape [C], on a tensor [N, C, ...]."""
    for operand in (scale, b):
        require_lengths(k, operand.shape, x.shape[1:2])
    factor, term = k.materialise_reread(scale), k.materialise_reread(b)

    def at(index: Index) -> Expr:
        return k.add(k.mul(x.at(index), factor.at(index[1:2])), term.at(index[1:2]))

    return k.view(x.dtype, x.shape, at, x.cost + 4)


class BatchNormalization(Op, frozen=True):
    """(X - mean) / sqrt(variance + epsilon) * scale + B for each channel. Source: ONNX BatchNormalization-15.

    Shapes: X [N, C, ...] or [N] (C = 1), the others [C]. With `training_mode` mean and variance are those of X over
    all axes but 1, and outputs 1 and 2 are old * momentum + new * (1 - momentum); else they are the inputs.
    Dtypes: one for X and Y, one for scale and B, one for mean and variance.
    """

    any_length = True
    never_fails = True

    epsilon: float = single(1e-5)
    momentum: float = single(0.9)
    training_mode: int = 0

    def infer(self, x: Fact, scale: Fact, b: Fact, mean: Fact, variance: Fact) -> tuple[TensorType, ...]:
        type, statistics = floating(x), floating(mean, variance)
        floating(scale, b)
        named = (("scale", scale), ("B", b), ("mean", mean), ("variance", variance))
        lengths = [dims_of(fact, 1, what)[0] for what, fact in named]
        length = unify_lengths("the number of channels", channels_of(type, 1), *lengths)
        running = TensorType(statistics.dtype, (length,))
        return type, running, running

    def run(
        self, x: np.ndarray, scale: np.ndarray, b: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        check_types(self, x, scale, b, mean, variance)
        wide = np.result_type(*(accumulator(v.dtype) for v in (x, scale, mean)))
        x_wide, scale_wide, b_wide, *old = (v.astype(wide) for v in (x, scale, b, mean, variance))
        used, running = old, (mean, variance)
        if self.training_mode:
            used = _channel_statistics(x_wide)
            old_share, new_share = wide.type(self.momentum), wide.type(1 - self.momentum)
            running = tuple((a * old_share + b * new_share).astype(mean.dtype) for a, b in zip(old, used, strict=True))
        factor = self.factor(scale_wide, used[1])
        y = (x_wide - _on_channels(used[0], x.ndim)) * _on_channels(factor, x.ndim) + _on_channels(b_wide, x.ndim)
        return (y.astype(x.dtype), *running)

    def factor(self, scale: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """What x - mean is multiplied by."""
        return scale / np.sqrt(variance + scale.dtype.type(self.epsilon))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        if self.training_mode:
            return None
        wide = np.result_type(*(accumulator(view.dtype) for view in inputs))
        x, scale, b, centre, variance = (cast_view(k, view, wide) for view in inputs)
        for operand in (scale, b, centre, variance):
            require_lengths(k, operand.shape, x.shape[1:2] or (1,))
        small = k.const(self.epsilon, wide)
        factor = k.materialise(
            map_elements(k, lambda s, v: k.div(s, k.apply("sqrt", k.add(v, small))), scale, variance, cost=8)
        )

        def at(index: Index) -> Expr:
            c = (index[1] if len(index) > 1 else k.const(0),)
            return k.add(k.mul(k.sub(x.at(index), centre.at(c)), factor.at(c)), b.at(c))

        y = k.view(wide, x.shape, at, 4 + x.cost + b.cost + centre.cost)
        return [cast_view(k, y, inputs[0].dtype), inputs[3], inputs[4]]


def _channel_statistics(x: np.ndarray) -> list[np.ndarray]:
    """Mean and variance of each channel of [N, C, ...], both [C]."""
    axes = [axis for axis in range(x.ndim) if axis != 1]
    mean = _mean(x, axes)
    return [mean.reshape(-1), _variance(x, mean, axes).reshape(-1)]


class InstanceNormalization(Op, frozen=True):
    """scale * (x - mean) / sqrt(variance + epsilon) + B, the statistics per instance and channel.

    Shapes: input [N, C, ...], scale and B [C]. Source: ONNX InstanceNormalization-22.
    """

    any_length = True
    never_fails = True

    epsilon: float = single(1e-5)

    def infer(self, x: Fact, scale: Fact, b: Fact) -> TensorType:
        type = floating(x, scale, b)
        unify_lengths(
            "the number of channels", channels_of(type, 2), dims_of(scale, 1, "scale")[0], dims_of(b, 1, "B")[0]
        )
        return type

    def run(self, x: np.ndarray, scale: np.ndarray, b: np.ndarray) -> np.ndarray:
        check_types(self, x, scale, b)
        wide = widen(x)
        normal, _, _ = _standardized(wide, range(2, x.ndim), self.epsilon)
        y = normal * _on_channels(widen(scale), x.ndim) + _on_channels(widen(b), x.ndim)
        return y.astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, scale, b = (widen_view(k, view) for view in inputs)
        normal, _, _ = standardize_view(k, x, range(2, len(x.shape)), self.epsilon)
        return [cast_view(k, _affine_on_channels(k, normal, scale, b), inputs[0].dtype)]


def _standardized(x: np.ndarray, axes: Sequence[int], epsilon: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(x - mean) / sqrt(variance + epsilon) along axes, the mean, and the reciprocal of that root."""
    mean = _mean(x, axes)
    reciprocal = 1 / np.sqrt(_variance(x, mean, axes) + x.dtype.type(epsilon))
    return (x - mean) * reciprocal, mean, reciprocal


class GroupNormalization(Op, frozen=True):
    """scale * (x - mean) / sqrt(variance + epsilon) + bias, the statistics per instance and group of channels.

    Shapes: X [N, C, ...], scale and bias [C]; `num_groups` divides C. The statistics are computed in `stash_type` (or
    float32 if that is narrower). Source: ONNX GroupNormalization-21.
    """

    any_length = True
    never_fails = True

    num_groups: int
    epsilon: float = single(1e-5)
    stash_type: np.dtype = FLOAT32

    def infer(self, x: Fact, scale: Fact, bias: Fact) -> TensorType:
        _require_stash(self.stash_type)
        type = floating(x, scale, bias)
        channels = unify_lengths(
            "the number of channels", channels_of(type, 2), dims_of(scale, 1, "scale")[0], dims_of(bias, 1, "bias")[0]
        )
        if self.num_groups < 1:
            raise TypeRuleError(f"num_groups is {self.num_groups}, expected 1 or more")
        if isinstance(channels, int) and channels % self.num_groups:
            raise TypeRuleError(f"{channels} channels do not fall into {self.num_groups} equal groups")
        return type

    def run(self, x: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> np.ndarray:
        check_types(self, x, scale, bias)
        groups = x.shape[0], self.num_groups, x.shape[1] // self.num_groups, *x.shape[2:]
        stashed = x.astype(accumulator(self.stash_type)).reshape(groups)
        normal, _, _ = _standardized(stashed, range(2, len(groups)), self.epsilon)
        wide = normal.reshape(x.shape).astype(accumulator(x.dtype))
        y = wide * _on_channels(widen(scale), x.ndim) + _on_channels(widen(bias), x.ndim)
        return y.astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, scale, bias = inputs
        n, channels, *rest = x.shape
        if not x.size or not isinstance(channels, int):
            return None if x.size else [x]
        groups = reshape_view(k, k.materialise_reread(x), (n, self.num_groups, channels // self.num_groups, *rest))
        stashed = cast_view(k, groups, accumulator(self.stash_type))
        normal, _, _ = standardize_view(k, stashed, range(2, len(groups.shape)), self.epsilon)
        each = k.const(channels // self.num_groups)

        def source(index: Index) -> list[Expr]:
            return [index[0], k.div(index[1], each), k.apply("rem", index[1], each), *index[2:]]

        ungrouped = cast_view(k, map_indices(k, normal, x.shape, source, 4), accumulator(x.dtype))
        factor, term = widen_view(k, scale), widen_view(k, bias)
        return [cast_view(k, _affine_on_channels(k, ungrouped, factor, term), x.dtype)]


def _normalized_axes(axis: int, rank: int) -> range:
    return range(normal_axis(axis, rank), rank)


def _require_stash(dtype: np.dtype) -> None:
    if dtype not in COMPUTED_FLOATS:
        raise TypeRuleError(f"stash_type is {name_of(dtype)}, expected a float")


class LayerNormalization(Op, frozen=True):
    """(X - mean) / sqrt(variance + epsilon) * Scale + B, the statistics over the axes from `axis` on.

    Shapes: Scale and B broadcast to X; outputs 1 and 2, mean and 1 / sqrt(variance + epsilon), have length 1 along
    those axes. Statistics have the type `stash_type` and are computed in it, or in float32 if it is narrower.
    Source: ONNX LayerNormalization-17.
    """

    any_length = True
    never_fails = True

    axis: int = -1
    epsilon: float = single(1e-5)
    stash_type: np.dtype = FLOAT32

    def infer(self, x: Fact, scale: Fact, b: Fact | None = None) -> tuple[TensorType, ...]:
        _require_stash(self.stash_type)
        type = floating(x, scale, b)
        require_broadcast(tensor(scale).shape, type.shape, "Scale")
        if b is not None:
            require_broadcast(tensor(b).shape, type.shape, "B")
        stashed: Shape = UNRANKED
        if not isinstance(type.shape, AnyShape):
            stashed = without_axes(type.shape, _normalized_axes(self.axis, len(type.shape)), True)
        statistics = TensorType(self.stash_type, stashed)
        return type, statistics, statistics

    def run(self, x: np.ndarray, scale: np.ndarray, b: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        check_types(self, x, scale, b)
        axes = _normalized_axes(self.axis, x.ndim)
        normal, mean, reciprocal = _standardized(x.astype(accumulator(self.stash_type)), axes, self.epsilon)
        y = normal.astype(accumulator(x.dtype)) * widen(scale)
        y = y if b is None else y + widen(b)
        return y.astype(x.dtype, copy=False), mean.astype(self.stash_type), reciprocal.astype(self.stash_type)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, scale, b = inputs[0], inputs[1], inputs.optional(2)
        for operand in (scale, b) if b is not None else (scale,):
            k.require_broadcast(operand.shape, x.shape)
        axes = _normalized_axes(self.axis, len(x.shape))
        stashed = cast_view(k, x, accumulator(self.stash_type))
        normal, centre, reciprocal = standardize_view(k, stashed, axes, self.epsilon)
        y = map_elements(k, k.mul, cast_view(k, normal, accumulator(x.dtype)), widen_view(k, scale))
        y = cast_view(k, y if b is None else map_elements(k, k.add, y, widen_view(k, b)), x.dtype)
        return [y, *(cast_view(k, view, self.stash_type) for view in (centre, reciprocal))]


class RMSNormalization(Op, frozen=True):
    """X / sqrt(mean(X * X) + epsilon) * scale, the mean over the axes from `axis` on. Source: ONNX RMSNormalization-23.

    The result has the element type of `scale`, which broadcasts to X; the mean is computed in `stash_type`.
    """

    any_length = True
    never_fails = True

    axis: int = -1
    epsilon: float = single(1e-5)
    stash_type: np.dtype = FLOAT32

    def infer(self, x: Fact, scale: Fact) -> TensorType:
        _require_stash(self.stash_type)
        type, result = floating(x), floating(scale)
        require_broadcast(tensor(scale).shape, type.shape, "scale")
        if not isinstance(type.shape, AnyShape):
            normal_axis(self.axis, len(type.shape))
        return type.with_dtype(result.dtype)

    def run(self, x: np.ndarray, scale: np.ndarray) -> np.ndarray:
        check_types(self, x, scale)
        stashed = x.astype(accumulator(self.stash_type))
        mean = _mean(stashed * stashed, _normalized_axes(self.axis, x.ndim))
        normal = stashed / np.sqrt(mean + stashed.dtype.type(self.epsilon))
        return (normal.astype(accumulator(x.dtype)) * widen(scale)).astype(scale.dtype)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x, scale), wide = inputs, np.result_type(*(accumulator(view.dtype) for view in inputs))
        k.require_broadcast(scale.shape, x.shape)
        stashed = k.materialise_reread(cast_view(k, x, accumulator(self.stash_type)))
        squares = map_elements(k, lambda v: k.mul(v, v), stashed)
        small, axes = k.const(self.epsilon, stashed.dtype), _normalized_axes(self.axis, len(x.shape))
        root = k.materialise(
            map_elements(k, lambda v: k.apply("sqrt", k.add(v, small)), mean(k, squares, axes), cost=4)
        )
        normal = cast_view(k, map_elements(k, k.div, stashed, root, cost=4), accumulator(x.dtype))
        y = map_elements(k, k.mul, cast_view(k, normal, wide), cast_view(k, scale, wide))
        return [cast_view(k, y, scale.dtype)]


class MeanVarianceNormalization(Op, frozen=True):
    """(X - mean) / (sqrt(variance) + 1e-9) along `axes`. Source: ONNX MeanVarianceNormalization-13."""

    any_length = True
    never_fails = True

    axes: tuple[int, ...] = (0, 2, 3)

    def infer(self, x: Fact) -> TensorType:
        type = floating(x)
        if not isinstance(type.shape, AnyShape):
            reduced_axes(self.axes, len(type.shape))
        return type

    def run(self, x: np.ndarray) -> np.ndarray:
        wide, axes = widen(x), reduced_axes(self.axes, x.ndim)
        mean = _mean(wide, axes)
        deviation = np.sqrt(_variance(wide, mean, axes)) + wide.dtype.type(1e-9)
        return ((wide - mean) / deviation).astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, axes = k.materialise_reread(widen_view(k, inputs[0])), reduced_axes(self.axes, len(inputs[0].shape))
        centre, small = mean(k, x, axes), k.const(1e-9, x.dtype)
        squares = map_elements(k, lambda v, m: k.mul(k.sub(v, m), k.sub(v, m)), x, centre, cost=2)
        deviation = k.materialise(
            map_elements(k, lambda v: k.add(k.apply("sqrt", v), small), mean(k, squares, axes), cost=4)
        )
        y = map_elements(k, lambda v, m, d: k.div(k.sub(v, m), d), x, centre, deviation, cost=5)
        return [cast_view(k, y, inputs[0].dtype)]


class LpNormalization(Op, frozen=True):
    """x / sum(|x| ** p) ** (1 / p) along an axis, 0 where that is 0; p is 1 or 2. Source: ONNX LpNormalization-22."""

    any_length = True
    never_fails = True

    axis: int = -1
    p: int = 2

    def infer(self, x: Fact) -> TensorType:
        type = floating(x)
        if self.p not in (1, 2):
            raise TypeRuleError(f"p is {self.p}, expected 1 or 2")
        if not isinstance(type.shape, AnyShape):
            normal_axis(self.axis, len(type.shape))
        return type

    def run(self, x: np.ndarray) -> np.ndarray:
        wide, axis = widen(x), normal_axis(self.axis, x.ndim)
        total = np.sum(np.abs(wide) if self.p == 1 else wide * wide, axis=axis, keepdims=True)
        norm = total if self.p == 1 else np.sqrt(total)
        return np.where(norm == 0, wide.dtype.type(0), wide / norm).astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, axis = k.materialise_reread(widen_view(k, inputs[0])), self.axis % len(inputs[0].shape)
        zero = k.const(0, x.dtype)
        powers = map_elements(k, lambda v: k.apply("abs", v) if self.p == 1 else k.mul(v, v), x)
        root = None if self.p == 1 else lambda total: k.apply("sqrt", total)
        norm = reduce_view(k, powers, (axis,), "sum", finish=root)
        y = map_elements(k, lambda v, n: k.select(k.compare("eq", n, zero), zero, k.div(v, n)), x, norm, cost=6)
        return [cast_view(k, y, inputs[0].dtype)]
