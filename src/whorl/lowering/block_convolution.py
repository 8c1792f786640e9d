"""Convolutions by filters in blocks: one op for a convolution, the steps on its image, and what follows it.

Filters are laid out before the program. A normalization, a scale or a shift of each feature is folded into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import TensorType
from whorl.kernels.convolution.layout import pack_filters, unpack_filters
from whorl.kernels.winograd.layout import transform_filters, untransform_filters
from whorl.ops.core.base import accumulator
from whorl.ops.elementwise.arithmetic import Add, Mul
from whorl.ops.native.index_maps import cast_view, widen_view
from whorl.ops.reduce.normalization import BatchNormalization
from whorl.ops.windows.convolution import Conv, with_bias
from whorl.ops.windows.native_convolution import blocked, convolution
from whorl.ops.windows.native_normalized import Normalization, normalized_convolution
from whorl.ops.windows.native_results import Ending
from whorl.ops.windows.native_winograd import winograd_convolution

INPUTS: dict[type[Op], int] = {BatchNormalization: 4, Mul: 1, Add: 1}
"""How many inputs a step after a convolution has besides the value that it changes."""


def _folded(steps: Sequence[Op], values: Sequence[np.ndarray], factor: np.ndarray, term: np.ndarray) -> Any:
    """x * factor + term after steps on each feature alone."""
    rest = iter(values)
    for step in steps:
        operands = [next(rest).reshape(-1).astype(factor.dtype) for _ in range(INPUTS[type(step)])]
        match step:
            case BatchNormalization():
                scale, shift, mean, variance = operands
                change = step.factor(scale, variance)
                factor, term = factor * change, (term - mean) * change + shift
            case Mul():
                factor, term = factor * operands[0], term * operands[0]
            case Add():
                term = term + operands[0]
            case _:
                pass
    return factor, term


class FilterBlocks(Op, frozen=True):
    """Filters in blocks, each filter scaled by steps that follow its convolution."""

    abstract: ClassVar[bool] = True

    group: int
    steps: tuple[Op, ...] = ()
    is_transformed: bool = False
    """Whether they are for Winograd's convolution."""

    def run(self, w: np.ndarray, *values: np.ndarray) -> np.ndarray:
        dtype = accumulator(w.dtype)
        filters = w.reshape(len(w), -1).astype(dtype, copy=False)
        if self.steps:
            factor, _ = _folded(self.steps, values, np.ones(len(w), dtype), np.zeros(len(w), dtype))
            filters = filters * factor[:, None]
        pack = transform_filters if self.is_transformed else pack_filters
        return pack(filters.reshape(self.group, len(w) // self.group, filters.shape[1]))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return None if self.steps or self.is_transformed else [blocked(k, widen_view(k, inputs[0]), self.group)]


class FilterBias(Op, frozen=True):
    """The bias of a convolution, 0 where it has none, after steps that follow it."""

    abstract: ClassVar[bool] = True

    features: int
    has_bias: bool
    steps: tuple[Op, ...] = ()

    def run(self, *values: np.ndarray) -> np.ndarray:
        dtype = accumulator(values[0].dtype)
        bias = values[0].astype(dtype) if self.has_bias else np.zeros(self.features, dtype)
        _, bias = _folded(self.steps, values[self.has_bias :], np.ones(self.features, dtype), bias)
        return np.broadcast_to(bias, (self.features,)).astype(dtype)


class ChannelTerms(Op, frozen=True):
    """What steps on each channel alone make of it, (x - centre) * factor + term: these numbers of each channel, [C, 3].

    The centre is the mean that the first step takes away: in the term, what channels far from 0 have would cancel.
    """

    abstract: ClassVar[bool] = True

    channels: int
    steps: tuple[Op, ...]

    def run(self, *values: np.ndarray) -> np.ndarray:
        dtype = values[0].dtype
        ones, zeros = np.ones(self.channels, dtype), np.zeros(self.channels, dtype)
        centre = zeros
        if isinstance(self.steps[0], BatchNormalization):
            scale, shift, centre, variance, *others = values
            values = scale, shift, zeros, variance, *others
        factor, term = _folded(self.steps, values, ones, zeros)
        return np.stack([centre.astype(dtype), factor, np.broadcast_to(term, factor.shape)], axis=1)


class BlockConvolution(Op, frozen=True):
    """A convolution by filters in blocks, plus a tensor if it is given, kept within limits.

    Inputs: X, filters, bias, offsets of the taps where lengths are known, the tensor to add, and `ChannelTerms` that
    change X, which then `is_rectified` if that is said. `shape` is that of the filters before.
    """

    abstract: ClassVar[bool] = True

    any_length = True
    overwrites = 4

    op: Conv
    shape: tuple[int, ...]
    limits: tuple[float, float] | None = None
    is_transformed: bool = False
    is_rectified: bool = False

    def run(
        self,
        x: np.ndarray,
        packed: np.ndarray,
        bias: np.ndarray,
        offsets: np.ndarray | None = None,
        added: np.ndarray | None = None,
        terms: np.ndarray | None = None,
    ) -> np.ndarray:
        if terms is not None:
            centre, factor, term = terms.T.reshape(3, -1, *(1,) * (x.ndim - 2))
            x = (x - centre) * factor + term
            x = np.maximum(x, 0) if self.is_rectified else x
        each = self.shape[0] // self.op.group
        unpack = untransform_filters if self.is_transformed else unpack_filters
        filters = np.concatenate([unpack(row, each) for row in packed]).reshape(self.shape)
        y = with_bias(self.op.run(x.astype(packed.dtype, copy=False), filters), bias)
        y = y if added is None else y + added
        return (y if self.limits is None else np.clip(y, *self.limits)).astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return [cast_view(k, self.native(k, inputs), inputs[0].dtype)]

    def native(self, k: NativeBuilder, inputs: Operands, into: tuple[Any, int] | None = None) -> Any:
        """The result in memory; in the features of a larger tensor from a number on, where that is given."""
        (x, packed, bias), (offsets, added, terms) = inputs[:3], map(inputs.optional, (3, 4, 5))
        x, tracks = self.op.of_channels(k, x, self.shape), self.op.axes(x.shape, self.shape)
        ending = Ending(added, self.limits, into)
        if terms is not None:
            normalization = Normalization(terms, self.is_rectified)
            return normalized_convolution(k, x, packed, bias, self.shape[0], normalization, ending)
        if self.is_transformed:
            return winograd_convolution(k, x, packed, bias, self.shape[0], ending)
        return convolution(k, widen_view(k, x), packed, bias, tracks, self.shape[0], offsets, ending)
