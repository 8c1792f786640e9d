"""Operands of a recurrent op checked against its input X [steps, batch, input], of which the run knows the lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from whorl.errors import RunError
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.core.base import dims_of
from whorl.ops.native.index_maps import broadcast_scalar, read_index, require_lengths


class CheckedLengths(Op, frozen=True):
    """Sequence lengths as int64 [batch, 1]; refuses one outside [0, steps], and another batch than that of X."""

    abstract: ClassVar[bool] = True

    any_length = True

    def infer(self, lengths: Fact, x: Fact) -> TensorType:
        return TensorType(INT64, (_batch(x), 1))

    def run(self, lengths: np.ndarray, x: np.ndarray) -> np.ndarray:
        _require_batch(len(lengths), x)
        bad = lengths[(lengths < 0) | (lengths > len(x))]
        if bad.size:
            raise RunError(f"sequence length {bad[0]} is outside [0, {len(x)}]")
        return lengths.astype(np.int64)[:, None]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        lengths, x = k.materialise(inputs[0]), inputs[1]
        require_lengths(k, lengths.shape, (x.shape[1],))
        steps = k.length(x.shape[0])

        def is_legal(so_far: Expr, index: Index) -> Expr:
            length = read_index(k, lengths, index)
            inside = k.apply("and", k.compare("ge", length, k.const(0)), k.compare("le", length, steps))
            return k.apply("and", so_far, inside)

        k.fail_unless(k.reduce(lengths.shape, k.const(True, BOOL), is_legal))
        return [k.view(INT64, (x.shape[1], 1), lambda index: read_index(k, lengths, index[:1]), 1)]


class CheckedState(Op, frozen=True):
    """A state [batch, hidden]; refuses another batch than that of X."""

    abstract: ClassVar[bool] = True

    any_length = True

    def infer(self, state: Fact, x: Fact) -> TensorType:
        return TensorType(tensor(state).dtype, (_batch(x), dims_of(state, 2, "a state")[1]))

    def run(self, state: np.ndarray, x: np.ndarray) -> np.ndarray:
        _require_batch(len(state), x)
        return state

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        state, batch = inputs[0], inputs[1].shape[1]
        require_lengths(k, state.shape[:1], (batch,))
        return [k.view(state.dtype, (batch, state.shape[1]), state.at, state.cost, k.flat(state))]


class ZeroState(Op, frozen=True):
    """Zeros [batch, hidden]."""

    abstract: ClassVar[bool] = True

    any_length = True

    hidden: int
    dtype: np.dtype

    def infer(self, x: Fact) -> TensorType:
        return TensorType(self.dtype, (_batch(x), self.hidden))

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.zeros((x.shape[1], self.hidden), self.dtype)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return [broadcast_scalar(k, k.const(0, self.dtype), (inputs[0].shape[1], self.hidden))]


def _batch(x: Fact) -> Dim:
    return dims_of(x, 3, "X")[1]


def _require_batch(batch: int, x: np.ndarray) -> None:
    if batch != x.shape[1]:
        raise RunError(f"batch size is both {x.shape[1]} and {batch}")
