"""Normalization by what lies around in neighbouring channels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir.dtypes import single
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import Fact, TensorType
from whorl.ops.core.base import check_types, widen
from whorl.ops.movement.native_padding import pad_view
from whorl.ops.native.index_maps import cast_view, replace_at, widen_view
from whorl.ops.reduce.native_reductions import map_elements
from whorl.ops.reduce.normalization import channels_of, floating
from whorl.ops.windows.native_pooling import power, written_out

_LARGEST = 1 << 10
"""Channels of a window, where only the run knows how many there are."""


class LRN(Op, frozen=True):
    """X / (bias + alpha / size * s) ** beta, s the sum of squares over `size` channels around. Source: ONNX LRN-13.

    The window reaches floor((size - 1) / 2) channels down and ceil((size - 1) / 2) up, and is cut at the ends.
    """

    any_length = True

    size: int
    alpha: float = single(1e-4)
    beta: float = 0.75
    bias: float = 1.0

    def infer(self, x: Fact) -> TensorType:
        type = floating(x)
        channels_of(type, 2)
        if self.size < 1:
            raise TypeRuleError(f"size is {self.size}, expected 1 or more")
        return type

    def run(self, x: np.ndarray) -> np.ndarray:
        check_types(self, x)
        wide, channels = widen(x), x.shape[1]
        squares, total = wide * wide, np.zeros_like(wide)
        for offset in range(-min((self.size - 1) // 2, channels), min(self.size // 2, channels) + 1):
            low, high = max(0, -offset), min(channels, channels - offset)
            total[:, low:high] += squares[:, low + offset : high + offset]
        scalar = wide.dtype.type
        base = scalar(self.bias) + scalar(self.alpha / self.size) * total
        return (wide / base ** scalar(self.beta)).astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, (below, above) = inputs[0], ((self.size - 1) // 2, self.size // 2)
        if isinstance(x.shape[1], int):
            below, above = (min(half, x.shape[1]) for half in (below, above))
        elif self.size > _LARGEST:
            return None
        x = k.materialise_reread(widen_view(k, x))
        ends = [(0, 0), (below, above), *[(0, 0)] * (len(x.shape) - 2)]
        squares = pad_view(k, map_elements(k, lambda v: k.mul(v, v), x), ends, k.const(0, x.dtype))
        bias, alpha = k.const(self.bias, x.dtype), k.const(self.alpha / self.size, x.dtype)
        is_positive = self.bias >= 0 and self.alpha >= 0

        def at(index: Index) -> Expr:
            def add(total: Expr, step: Index) -> Expr:
                return k.add(total, squares.at(replace_at(index, 1, k.add(index[1], step[0]))))

            total = written_out(k, below + above + 1, k.const(0, x.dtype), add)
            base = k.add(bias, k.mul(alpha, total))
            return k.div(x.at(index), power(k, base, self.beta, is_positive))

        return [cast_view(k, k.view(x.dtype, x.shape, at, 40 + x.cost), inputs[0].dtype)]
