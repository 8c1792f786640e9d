"""Attention written out: products of heads, masks as comparisons of positions, and a softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.core.base import accumulator
from whorl.ops.core.writer import Writer, is_fixed, sizes_of
from whorl.ops.elementwise.arithmetic import Div
from whorl.ops.elementwise.comparison import Equal, GreaterOrEqual, Less, LessOrEqual, Where
from whorl.ops.elementwise.functions import Tanh
from whorl.ops.elementwise.logic import And
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.reduce.reductions import ReduceMin
from whorl.ops.reduce.softmax import Softmax


def write_attention(op: Any, inputs: Sequence[Value | None], build: Builder) -> list[Value] | None:
    """Nodes for an Attention on inputs of known shapes, and its outputs; None where a shape is open or empty."""
    q, k, v, mask, past_key, past_value, nonpad = (*inputs, *(None,) * (7 - len(inputs)))
    if not is_fixed(*inputs) or q is None or k is None or v is None:
        return None
    write, rank, dtype = Writer(build), len(sizes_of(q)), tensor(q).dtype
    q = _by_heads(write, q, op.q_num_heads)
    k, v = (_by_heads(write, x, op.kv_num_heads) for x in (k, v))
    if past_key is not None and past_value is not None:
        k, v = write.concat([past_key, k], 2), write.concat([past_value, v], 2)
    wide = accumulator(dtype)
    heads, size = sizes_of(q)[1], sizes_of(q)[3]
    scale = 1 / math.sqrt(max(size, 1)) if op.scale is None else op.scale
    left = write.mul(write.cast(q, wide), write.number(scale, wide))
    scores = _shared_product(write, left, write.transpose(write.cast(k, wide), (0, 1, 3, 2)))
    capped = scores
    if op.softcap > 0:
        cap = write.number(op.softcap, wide)
        capped = write.mul(write.node(Tanh(), write.node(Div(), scores, cap)), cap)
    past = 0 if past_key is None else sizes_of(past_key)[2]
    bias = _Bias(write, op, sizes_of(q)[2], sizes_of(k)[2], past, wide).value(mask, nonpad)
    biased = capped if bias is None else write.add(capped, bias)
    weights = write.cast(write.node(Softmax(-1), write.cast(biased, op.softmax_precision or wide)), wide)
    if bias is not None:
        closed = write.cast(write.node(Equal(), bias, write.number(-math.inf, wide)), wide)
        least = write.node(ReduceMin(keepdims=1), closed, build.int64(-1))
        is_empty = write.node(Equal(), least, write.number(1, wide))
        weights = write.node(Where(), is_empty, write.number(0, wide), weights)
    y = write.cast(_shared_product(write, weights, write.cast(v, wide)), dtype)
    if rank == 3:
        batch, _, length, v_size = sizes_of(y)
        y = write.reshape(write.transpose(y, (0, 2, 1, 3)), (batch, length, heads * v_size))
    stages = scores, capped, biased, weights
    return [y, k, v, write.cast(stages[op.qk_matmul_output_mode], dtype)]


def _by_heads(write: Writer, x: Value, heads: int | None) -> Value:
    """[batch, sequence, heads * size] as [batch, heads, sequence, size]; a tensor of rank 4 as it is."""
    shape = sizes_of(x)
    if len(shape) == 4 or not heads:
        return x
    return write.transpose(write.reshape(x, (*shape[:2], heads, shape[2] // heads)), (0, 2, 1, 3))


def _shared_product(write: Writer, x: Value, y: Value) -> Value:
    """x @ y for [batch, heads, ...] matrices, where a run of heads of `x` shares one head of `y`."""
    batch, heads, rows, inner = sizes_of(x)
    shared, columns = sizes_of(y)[1], sizes_of(y)[3]
    rows_of_run = write.reshape(x, (batch, shared, heads // shared * rows, inner))
    return write.reshape(write.node(MatMul(), rows_of_run, y), (batch, heads, rows, columns))


class _Bias:
    """What is added to the scores: -inf where a key is out of reach, and a mask of floats."""

    def __init__(self, write: Writer, op: Any, queries: int, keys: int, past: int, wide: np.dtype) -> None:
        self.write, self.op, self.wide = write, op, wide
        self.queries, self.keys, self.past = queries, keys, past
        self.key = write.build.constant(np.arange(keys))

    def value(self, mask: Value | None, nonpad: Value | None) -> Value | None:
        """The bias, broadcast to [batch, heads, queries, keys]; None where there is none."""
        write, conditions = self.write, self._conditions(nonpad)
        if mask is not None:
            mask = self._whole(mask)
        if mask is not None and tensor(mask).dtype == BOOL:
            conditions.append(mask)
            mask = None
        if not conditions:
            return None if mask is None else write.cast(mask, self.wide)
        allowed = conditions[0]
        for condition in conditions[1:]:
            allowed = write.node(And(), allowed, condition)
        numbers = (write.number(number, self.wide) for number in (0, -math.inf))
        bias = write.node(Where(), allowed, *numbers)
        return bias if mask is None else write.add(bias, write.cast(mask, self.wide))

    def _conditions(self, nonpad: Value | None) -> list[Value]:
        """When a query may attend a key."""
        write, op, conditions = self.write, self.op, list[Value]()
        position = write.build.constant(self.past + np.arange(self.queries)[:, None])
        if nonpad is not None:
            nonpad = write.unsqueeze(write.cast(nonpad, INT64), 1, 2, 3)
            start = write.sub(nonpad, write.number(self.queries, np.dtype(np.int64)))
            position = write.add(start, position)
        if op.is_causal:
            conditions.append(write.node(LessOrEqual(), self.key, position))
        if op.left_window_size >= 0:
            reach = write.number(op.left_window_size, INT64)
            conditions.append(write.node(GreaterOrEqual(), self.key, write.sub(position, reach)))
        if op.right_window_size >= 0:
            reach = write.number(op.right_window_size, INT64)
            conditions.append(write.node(LessOrEqual(), self.key, write.add(position, reach)))
        if nonpad is not None:
            conditions.append(write.node(Less(), self.key, nonpad))
        return conditions

    def _whole(self, mask: Value) -> Value:
        """A mask for every key; those past its end may not be attended."""
        shape = sizes_of(mask)
        missing = self.keys - shape[-1]
        if missing <= 0:
            return mask
        dtype = tensor(mask).dtype
        fill = np.zeros(1, dtype) if dtype == BOOL else np.full(1, -math.inf, dtype)
        rest = self.write.node(ConstantOfShape(fill), self.write.build.int64(*shape[:-1], missing))
        return self.write.concat([mask, rest], len(shape) - 1)
