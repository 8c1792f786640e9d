"""Scaled dot product attention."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir.build import Builder
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL
from whorl.ir.graph import Op, Value
from whorl.ir.types import UNRANKED, AnyShape, Fact, TensorType, tensor
from whorl.ops.attention.decompose import write_attention
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    check_types,
    dims_of,
    require_broadcast,
    require_dtype,
    same_dtype,
    unify_lengths,
    widen,
)
from whorl.ops.reduce.softmax import Softmax


class Attention(Op, frozen=True):
    """Y = softmax(softcap(scale * Q K^T) + bias) V, where the bias is 0 or -inf by the masks, plus a float `attn_mask`.

    Inputs: Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen. Outputs: Y, present_key, present_value, and the
    scores after the stage that `qk_matmul_output_mode` names. Q, K and V are [batch, heads, sequence, size], or
    [batch, sequence, heads * size] with the numbers of heads as attributes; query heads share key heads in runs.
    A row that may attend nothing gives 0. 16-bit floats are computed in float32 and rounded once.
    Source: ONNX Attention-25.
    """

    is_causal: int = 0
    kv_num_heads: int | None = None
    left_window_size: int = -1
    q_num_heads: int | None = None
    qk_matmul_output_mode: int = 0
    right_window_size: int = -1
    scale: float | None = None
    softcap: float = 0.0
    softmax_precision: np.dtype | None = None

    # ---- types -------------------------------------------------------------------------------------------------

    def infer(
        self,
        q: Fact,
        k: Fact,
        v: Fact,
        mask: Fact | None = None,
        past_key: Fact | None = None,
        past_value: Fact | None = None,
        nonpad: Fact | None = None,
    ) -> tuple[TensorType, ...]:
        self._check_attributes(past_key, past_value, nonpad)
        first, second = same_dtype(q, k, past_key), same_dtype(v, past_value)
        require_dtype(first, COMPUTED_FLOATS)
        require_dtype(second, COMPUTED_FLOATS)
        rank = _common_rank(q, k, v)
        batch, heads, length, size = self._split_dims(q, rank, self.q_num_heads, "Q")
        k_batch, k_heads, new, k_size = self._split_dims(k, rank, self.kv_num_heads, "K")
        v_batch, v_heads, v_new, v_size = self._split_dims(v, rank, self.kv_num_heads, "V")
        past_k, past_v = dims_of(past_key, 4, "past_key"), dims_of(past_value, 4, "past_value")
        batch = unify_lengths(
            "batch size", batch, k_batch, v_batch, past_k[0], past_v[0], dims_of(nonpad, 1, "lengths")[0]
        )
        kv_heads = unify_lengths("heads of K and V", k_heads, v_heads, past_k[1], past_v[1])
        size = unify_lengths("head size of Q and K", size, k_size, past_k[3])
        v_size = unify_lengths("head size of V", v_size, past_v[3])
        past = 0 if past_key is None else unify_lengths("past length", past_k[2], past_v[2])
        total = unify_lengths("length of K and V", new, v_new) + past
        if isinstance(heads, int) and isinstance(kv_heads, int) and (not kv_heads or heads % kv_heads):
            raise TypeRuleError(f"{heads} query heads cannot share {kv_heads} key heads")
        y = (batch, length, heads * v_size) if rank == 3 else (batch, heads, length, v_size)
        present_k, present_v = (batch, kv_heads, total, size), (batch, kv_heads, total, v_size)
        _check_mask(mask, (batch, heads, length, total))
        scores = TensorType(first, (batch, heads, length, total))
        y_type = TensorType(first, UNRANKED if rank is None else y)
        return y_type, TensorType(first, present_k), TensorType(second, present_v), scores

    def _check_attributes(self, past_key: Fact | None, past_value: Fact | None, nonpad: Fact | None) -> None:
        if (past_key is None) != (past_value is None):
            raise TypeRuleError("past_key and past_value must be given together")
        if past_key is not None and nonpad is not None:
            raise TypeRuleError("nonpad_kv_seqlen cannot go with past_key", fix="drop one of them")
        if min(self.left_window_size, self.right_window_size) < -1:
            raise TypeRuleError("a window size is below -1", fix="-1 leaves a side open")
        if self.qk_matmul_output_mode not in (0, 1, 2, 3):
            raise TypeRuleError(f"qk_matmul_output_mode is {self.qk_matmul_output_mode}", fix="0, 1, 2 or 3")

    def _split_dims(self, fact: Fact, rank: int | None, heads: int | None, what: str) -> tuple[Dim, Dim, Dim, Dim]:
        """Batch, heads, sequence length and head size of Q, K or V."""
        if rank is None:
            return UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN
        if rank == 4:
            batch, count, length, size = dims_of(fact, 4, what)
            return batch, count, length, size
        if not heads:
            raise TypeRuleError(f"{what} has rank 3 and its number of heads is not given", fix="set q/kv_num_heads")
        batch, length, hidden = dims_of(fact, 3, what)
        if isinstance(hidden, int) and hidden % heads:
            raise TypeRuleError(f"the {hidden} columns of {what} are not divisible by {heads} heads")
        return batch, heads, length, hidden // heads

    # ---- meaning -----------------------------------------------------------------------------------------------

    def run(
        self,
        q: np.ndarray,
        k: np.ndarray,
        v: np.ndarray,
        mask: np.ndarray | None = None,
        past_key: np.ndarray | None = None,
        past_value: np.ndarray | None = None,
        nonpad: np.ndarray | None = None,
    ) -> tuple[np.ndarray, ...]:
        check_types(self, q, k, v, mask, past_key, past_value, nonpad)
        rank, dtype = q.ndim, q.dtype
        q, k, v = _by_heads(q, self.q_num_heads), _by_heads(k, self.kv_num_heads), _by_heads(v, self.kv_num_heads)
        offset = np.zeros(1, np.int64)
        if past_key is not None and past_value is not None:
            offset = np.array([past_key.shape[2]], np.int64)
            k, v = np.concatenate([past_key, k], axis=2), np.concatenate([past_value, v], axis=2)
        elif nonpad is not None:
            offset = nonpad - q.shape[2]
        wide = accumulator(dtype)
        scale = 1 / math.sqrt(max(q.shape[3], 1)) if self.scale is None else self.scale
        scores = _shared_matmul(scale * widen(q), widen(k).swapaxes(2, 3))
        bias = self._bias(q.shape[2], k.shape[2], offset, nonpad, mask).astype(wide)
        capped = self.softcap * np.tanh(scores / self.softcap) if self.softcap > 0 else scores
        biased = capped + bias
        precision = wide if self.softmax_precision is None else self.softmax_precision
        weights = Softmax().run(biased.astype(precision)).astype(wide)
        weights = np.where(np.isneginf(bias).all(axis=-1, keepdims=True), 0, weights)
        y = _shared_matmul(weights, widen(v)).astype(dtype)
        if rank == 3:
            y = y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], y.shape[1] * y.shape[3])
        return y, k, v, (scores, capped, biased, weights)[self.qk_matmul_output_mode].astype(dtype)

    def decompose(self, inputs: Sequence[Value | None], build: Builder) -> list[Value] | None:
        return write_attention(self, inputs, build)

    def _bias(
        self, queries: int, keys: int, offset: np.ndarray, nonpad: np.ndarray | None, mask: np.ndarray | None
    ) -> np.ndarray:
        """What is added to the scores, [1 or batch, 1 or heads, queries, keys]; -inf where a key is out of reach."""
        position = (offset.reshape(-1, 1) + np.arange(queries))[:, None, :, None]
        key = np.arange(keys)
        allowed = np.ones((1, 1, queries, keys), np.bool_)
        if self.is_causal:
            allowed = allowed & (key <= position)
        if self.left_window_size >= 0:
            allowed = allowed & (key >= position - self.left_window_size)
        if self.right_window_size >= 0:
            allowed = allowed & (key <= position + self.right_window_size)
        if nonpad is not None:
            allowed = allowed & (key < nonpad.reshape(-1, 1, 1, 1))
        bias = np.where(allowed, 0.0, -np.inf)
        return bias if mask is None else bias + _float_mask(mask, keys)


def _common_rank(*facts: Fact) -> int | None:
    """The rank of Q, K and V, which is 3 or 4; None where no type says it."""
    ranks = {tensor(fact).rank for fact in facts} - {None}
    if len(ranks) > 1 or ranks - {3, 4}:
        raise TypeRuleError(f"Q, K and V have ranks {sorted(filter(None, ranks))}", fix="give all rank 3 or all rank 4")
    return next(iter(ranks), None)


def _check_mask(mask: Fact | None, scores: tuple[Dim, ...]) -> None:
    """Refuse a mask that does not broadcast to the scores; along the keys it may be shorter."""
    shape = UNRANKED if mask is None else tensor(mask, "attn_mask").shape
    if isinstance(shape, AnyShape):
        return
    if not shape:
        raise TypeRuleError("attn_mask has rank 0", fix="give it an axis for the keys")
    require_broadcast(shape[:-1], scores[:-1], "attn_mask without its last axis")
    keys, total = shape[-1], scores[-1]
    if isinstance(keys, int) and isinstance(total, int) and keys > total:
        raise TypeRuleError(f"attn_mask is for {keys} keys, there are {total}")


def _by_heads(x: np.ndarray, heads: int | None) -> np.ndarray:
    """[batch, sequence, heads * size] as [batch, heads, sequence, size]; a tensor of rank 4 as it is."""
    if x.ndim == 4 or not heads:
        return x
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).swapaxes(1, 2)


def _shared_matmul(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x @ y for [batch, heads, ...] matrices, where a run of heads of `x` shares one head of `y`."""
    batch, heads, rows, inner = x.shape
    shared = y.shape[1]
    result = x.reshape(batch, shared, heads // shared, rows, inner) @ y[:, :, None]
    return result.reshape(batch, heads, rows, y.shape[3])


def _float_mask(mask: np.ndarray, keys: int) -> np.ndarray:
    """A mask as numbers to be added; keys past its end may not be attended."""
    values = np.where(mask, 0.0, -np.inf) if mask.dtype == BOOL else mask.astype(np.float64)
    missing = max(0, keys - values.shape[-1])
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, missing)], constant_values=-np.inf)
