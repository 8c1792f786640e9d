"""Linear attention by a recurrent state, and the causal convolution that goes before it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.graph import Op, Value
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.attention.linear_written_out import write_attention_loop, write_convolution
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    check_types,
    dims_of,
    require_dtype,
    same_dtype,
    unify_lengths,
    widen,
)

_RULES = {"linear": (False, False), "gated": (True, False), "delta": (False, True), "gated_delta": (True, True)}
"""For each update rule whether it takes decay, and whether it takes beta."""


class LinearAttention(Op, frozen=True):
    """For each token: S = exp(decay) * S; S = S + k u^T; o = scale * S^T q, where u is v, or beta * (v - S^T k).

    Inputs: query [batch, time, q_heads * d_k], key [.., kv_heads * d_k], value [.., kv_heads * d_v], past_state
    [batch, kv_heads, d_k, d_v], decay [.., kv_heads] or [.., kv_heads * d_k], beta [.., kv_heads] or [.., 1]. Outputs:
    [batch, time, q_heads * d_v] and the state after the last token. A run of query heads shares a state. Computed in
    float32; `chunk_size` is a hint; `scale` 0 is 1 / sqrt(d_k). Source: ONNX LinearAttention-27.
    """

    chunk_size: int = 64
    kv_num_heads: int = 0
    q_num_heads: int = 0
    scale: float = 0.0
    update_rule: str = "gated_delta"

    def infer(
        self,
        query: Fact,
        key: Fact,
        value: Fact,
        past_state: Fact | None = None,
        decay: Fact | None = None,
        beta: Fact | None = None,
    ) -> tuple[TensorType, ...]:
        dtype = same_dtype(query, key, value, decay, beta)
        require_dtype(dtype, COMPUTED_FLOATS)
        self._check(decay is not None, beta is not None)
        q, k, v = (dims_of(x, 3, name) for x, name in ((query, "query"), (key, "key"), (value, "value")))
        past = dims_of(past_state, 4, "past_state")
        rates, steps = dims_of(decay, 3, "decay"), dims_of(beta, 3, "beta")
        batch = unify_lengths("batch size", q[0], k[0], v[0], past[0], rates[0], steps[0])
        time = unify_lengths("sequence length", q[1], k[1], v[1], rates[1], steps[1])
        unify_lengths("heads of past_state", self.kv_num_heads, past[1])
        d_k = unify_lengths("key size", _part(q[2], self.q_num_heads), _part(k[2], self.kv_num_heads), past[2])
        d_v = unify_lengths("value size", _part(v[2], self.kv_num_heads), past[3])
        _check_columns("decay", rates[2], self.kv_num_heads, d_k * self.kv_num_heads)
        _check_columns("beta", steps[2], 1, self.kv_num_heads)
        state_dtype = dtype if past_state is None else tensor(past_state).dtype
        state = TensorType(state_dtype, (batch, self.kv_num_heads, d_k, d_v))
        return TensorType(dtype, (batch, time, d_v * self.q_num_heads)), state

    def _check(self, decay: bool, beta: bool) -> None:
        if self.update_rule not in _RULES:
            raise TypeRuleError(f"update_rule {self.update_rule!r} does not exist", fix=f"one of {', '.join(_RULES)}")
        if self.q_num_heads <= 0 or self.kv_num_heads <= 0 or self.q_num_heads % self.kv_num_heads:
            raise TypeRuleError(f"{self.q_num_heads} query heads cannot share {self.kv_num_heads} states")
        for name, is_present, is_required in zip(
            ("decay", "beta"), (decay, beta), _RULES[self.update_rule], strict=True
        ):
            if is_present != is_required:
                raise TypeRuleError(f"update_rule {self.update_rule!r} {'needs' if is_required else 'takes no'} {name}")

    def run(
        self,
        query: np.ndarray,
        key: np.ndarray,
        value: np.ndarray,
        past_state: np.ndarray | None = None,
        decay: np.ndarray | None = None,
        beta: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        check_types(self, query, key, value, past_state, decay, beta)
        shared = self.q_num_heads // self.kv_num_heads
        q, k, v = _heads(query, self.q_num_heads), _heads(key, self.kv_num_heads), _heads(value, self.kv_num_heads)
        gate = None if decay is None else np.exp(_heads(decay, self.kv_num_heads))
        rate = None if beta is None else widen(beta)[..., None]
        batch, time, heads, d_k = k.shape
        zeros = np.zeros((batch, heads, d_k, v.shape[3]), accumulator(query.dtype))
        state = zeros if past_state is None else past_state.astype(zeros.dtype)
        scale = self.scale or 1 / math.sqrt(max(d_k, 1))
        output = np.zeros((batch, time, self.q_num_heads, v.shape[3]), query.dtype)
        for t in range(time):
            if gate is not None:
                state = state * gate[:, t, :, :, None]
            update = v[:, t] if rate is None else rate[:, t] * (v[:, t] - _read(state, k[:, t]))
            state = state + k[:, t, :, :, None] * update[:, :, None, :]
            output[:, t] = scale * _read(np.repeat(state, shared, axis=1), q[:, t])
        final = state.astype(query.dtype if past_state is None else past_state.dtype)
        return output.reshape(batch, time, self.q_num_heads * v.shape[3]), final

    def decompose(self, inputs: Sequence[Value | None], build: Builder) -> list[Value] | None:
        return write_attention_loop(inputs, self.kv_num_heads, self.q_num_heads, self.scale, build)


def _part(length: Dim, heads: int) -> Dim:
    if isinstance(length, int) and length % heads:
        raise TypeRuleError(f"{length} columns are not divisible by {heads} heads")
    return length // heads


def _check_columns(what: str, columns: Dim, *allowed: Dim) -> None:
    if all(dims.differ(columns, count) for count in allowed):
        raise TypeRuleError(f"{what} has {columns} columns, expected {' or '.join(map(str, allowed))}")


def _heads(x: np.ndarray, heads: int) -> np.ndarray:
    """[batch, time, heads * size] as [batch, time, heads, size], in the type that is computed in."""
    return widen(x).reshape(*x.shape[:2], heads, x.shape[2] // heads)


def _read(state: np.ndarray, x: np.ndarray) -> np.ndarray:
    """S^T x for every head."""
    return (x[:, :, None, :] @ state)[:, :, 0]


class CausalConvWithState(Op, frozen=True):
    """y[c, t] = activation(bias[c] + sum_i weight[c, 0, i] * p[c, t + i]), where p is past_state, then the input.

    Inputs: input [batch, channels, length], weight [channels, 1, k], bias [channels], past_state
    [batch, channels, k - 1] (zeros if omitted). Outputs: y, and the last k - 1 columns of p. 16-bit floats are computed
    in float32 and rounded once. Source: ONNX CausalConvWithState-27.
    """

    activation: str = "none"

    def infer(
        self, x: Fact, weight: Fact, bias: Fact | None = None, past_state: Fact | None = None
    ) -> tuple[TensorType, ...]:
        dtype = same_dtype(x, weight, bias, past_state)
        require_dtype(dtype, COMPUTED_FLOATS)
        if self.activation not in ("none", "silu", "swish"):
            raise TypeRuleError(f"activation {self.activation!r} does not exist", fix="silu, swish or none")
        batch, channels, length = dims_of(x, 3, "input")
        w_channels, one, k = dims_of(weight, 3, "weight")
        past = dims_of(past_state, 3, "past_state")
        batch = unify_lengths("batch size", batch, past[0])
        channels = unify_lengths("channels", channels, w_channels, past[1], dims_of(bias, 1, "bias")[0])
        unify_lengths("the middle dim of weight", 1, one)
        if isinstance(k, int) and k < 1:
            raise TypeRuleError("weight holds no taps")
        state_length = unify_lengths("length of past_state", k - 1, past[2])
        return TensorType(dtype, (batch, channels, length)), TensorType(dtype, (batch, channels, state_length))

    def run(
        self, x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None, past_state: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        check_types(self, x, weight, bias, past_state)
        taps, length = weight.shape[2], x.shape[2]
        past = np.zeros((*x.shape[:2], taps - 1), x.dtype) if past_state is None else past_state
        padded = np.concatenate([past, x], axis=2)
        y = np.zeros(x.shape, accumulator(x.dtype))
        for i in range(taps):
            y += widen(weight[:, 0, i])[:, None] * widen(padded[:, :, i : i + length])
        y = y if bias is None else y + widen(bias)[:, None]
        if self.activation != "none":
            y = y / (1 + np.exp(-y))
        return y.astype(x.dtype), padded[:, :, length:]

    def decompose(self, inputs: Sequence[Value | None], build: Builder) -> list[Value] | None:
        return write_convolution(inputs, self.activation, build)
