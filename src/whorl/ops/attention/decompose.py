"""Attention written out: products of heads, masks as comparisons of positions, and a softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Value
from whorl.ir.types import lengths_of, tensor
from whorl.ops.attention.fitting import fitted
from whorl.ops.core.base import accumulator
from whorl.ops.core.writer import Writer, has_elements
from whorl.ops.elementwise.arithmetic import Div
from whorl.ops.elementwise.comparison import Equal, GreaterOrEqual, Less, LessOrEqual, Where
from whorl.ops.elementwise.functions import Tanh
from whorl.ops.elementwise.logic import And
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.filling import ConstantOfShape, Range
from whorl.ops.movement.shapes import Shape
from whorl.ops.reduce.reductions import ReduceMin
from whorl.ops.reduce.softmax import Softmax


def write_attention(op: Any, inputs: Sequence[Value | None], build: Builder) -> list[Value] | None:
    """Nodes for an Attention, and its outputs; None where a shape is open or empty, or lengths do not agree."""
    q, k, v, mask, past_key, past_value, nonpad = (*inputs, *(None,) * (7 - len(inputs)))
    if not has_elements(*inputs) or q is None or k is None or v is None:
        return None
    write, rank, dtype = Writer(build), len(_lengths(q)), tensor(q).dtype
    of_q, of_k, of_v = (
        _shape_by_heads(x, heads) for x, heads in ((q, op.q_num_heads), (k, op.kv_num_heads), (v, op.kv_num_heads))
    )
    if not _may_agree(of_q, of_k, of_v, mask, past_key, past_value, nonpad):
        return None
    q = _by_heads(write, q, op.q_num_heads)
    k, v = (_by_heads(write, x, op.kv_num_heads) for x in (k, v))
    k = fitted(build, k, {0: [(q, 0)], 3: [(q, 3)]})
    v = fitted(build, v, {0: [(q, 0)], 1: [(k, 1)], 2: [(k, 2)]})
    keys = [(k, 2)]
    if past_key is not None and past_value is not None:
        past_key = fitted(build, past_key, {0: [(q, 0)], 1: [(k, 1)], 3: [(k, 3)]})
        past_value = fitted(build, past_value, {0: [(q, 0)], 1: [(k, 1)], 2: [(past_key, 2)], 3: [(v, 3)]})
        keys = [(k, 2), (past_key, 2)]
    if nonpad is not None:
        nonpad = fitted(build, nonpad, {0: [(q, 0)]})
    if mask is not None:
        mask = _fitted_mask(build, mask, q, keys)
    if past_key is not None and past_value is not None:
        k, v = write.concat([past_key, k], 2), write.concat([past_value, v], 2)
    wide = accumulator(dtype)
    heads, size = _lengths(q)[1], _lengths(q)[3]
    assert isinstance(size, int)
    scale = 1 / math.sqrt(max(size, 1)) if op.scale is None else op.scale
    left = write.mul(write.cast(q, wide), write.number(scale, wide))
    scores = _shared_product(write, left, write.transpose(write.cast(k, wide), (0, 1, 3, 2)))
    capped = scores
    if op.softcap > 0:
        cap = write.number(op.softcap, wide)
        capped = write.mul(write.node(Tanh(), write.node(Div(), scores, cap)), cap)
    bias = _Bias(write, op, q, k, past_key, wide).value(mask, nonpad)
    biased = capped if bias is None else write.add(capped, bias)
    weights = write.cast(write.node(Softmax(-1), write.cast(biased, op.softmax_precision or wide)), wide)
    if bias is not None:
        closed = write.cast(write.node(Equal(), bias, write.number(-math.inf, wide)), wide)
        least = write.node(ReduceMin(keepdims=1), closed, build.int64(-1))
        is_empty = write.node(Equal(), least, write.number(1, wide))
        weights = write.node(Where(), is_empty, write.number(0, wide), weights)
    y = write.cast(_shared_product(write, weights, write.cast(v, wide)), dtype)
    if rank == 3:
        batch, _, length, v_size = _lengths(y)
        y = write.reshape_lengths(write.transpose(y, (0, 2, 1, 3)), (batch, length, dims.product((heads, v_size))))
    stages = scores, capped, biased, weights
    return [y, k, v, write.cast(stages[op.qk_matmul_output_mode], dtype)]


def _fitted_mask(build: Builder, mask: Value, q: Value, keys: Sequence[tuple[Value, int]]) -> Value:
    """A mask that fits queries and keys; a length of 1 is for all."""
    own = _lengths(mask)
    missing = 4 - len(own)
    lengths = {n: [(q, n + missing)] for n, length in enumerate(own[:-1]) if length != 1}
    return fitted(build, mask, lengths | ({} if isinstance(own[-1], int) else {len(own) - 1: keys}))


def _by_heads(write: Writer, x: Value, heads: int | None) -> Value:
    """[batch, sequence, heads * size] as [batch, heads, sequence, size]; a tensor of rank 4 as it is."""
    shape = _lengths(x)
    if len(shape) == 4 or not heads:
        return x
    return write.transpose(write.reshape_lengths(x, (*shape[:2], heads, shape[2] // heads)), (0, 2, 1, 3))


def _shape_by_heads(x: Value, heads: int | None) -> tuple[Dim, ...]:
    """The shape that `_by_heads` gives."""
    shape = _lengths(x)
    if len(shape) == 4 or not heads:
        return shape
    return shape[0], heads, shape[1], shape[2] // heads


def _may_agree(
    q: tuple[Dim, ...],
    k: tuple[Dim, ...],
    v: tuple[Dim, ...],
    mask: Value | None,
    past_key: Value | None,
    past_value: Value | None,
    nonpad: Value | None,
) -> bool:
    """Whether lengths are equal or have names where the run may tell it; and numbers where heads are arranged."""
    past = (0, 0) if past_key is None or past_value is None else (_lengths(past_key)[2], _lengths(past_value)[2])
    pairs = [(k[0], q[0]), (v[0], q[0]), (v[1], k[1]), (k[3], q[3]), (v[2], k[2]), (past[1], past[0])]
    for each, new in ((past_key, k), (past_value, v)):
        if each is not None:
            pairs += [pair for n, pair in enumerate(zip(_lengths(each), (q[0], *new[1:]), strict=True)) if n != 2]
    if nonpad is not None:
        pairs.append((_lengths(nonpad)[0], q[0]))
    if mask is not None:
        scores, own = (q[0], q[1], q[2], k[2] + past[0]), _lengths(mask)
        with_scores = [*zip(own, scores[4 - len(own) :], strict=True)]
        pairs += [pair for pair in with_scores[:-1] if pair[0] != 1]
        if not all(isinstance(n, int) for n in (*own, scores[3])):  # else it may be for the first keys alone
            pairs.append(with_scores[-1])
    heads = q[1], q[3], k[1], v[3]
    return all(isinstance(n, int) for n in heads) and all(own == n or not isinstance(own, int) for own, n in pairs)


def _lengths(x: Value) -> tuple[Dim, ...]:
    return lengths_of(tensor(x))


def _shared_product(write: Writer, x: Value, y: Value) -> Value:
    """x @ y for [batch, heads, ...] matrices, where a run of heads of `x` shares one head of `y`."""
    batch, heads, rows, inner = _lengths(x)
    shared, columns = _lengths(y)[1], _lengths(y)[3]
    if heads == shared:
        return write.node(MatMul(), x, y)
    assert isinstance(heads, int) and isinstance(shared, int)
    rows_of_run = write.reshape_lengths(x, (batch, shared, heads // shared * rows, inner))
    return write.reshape_lengths(write.node(MatMul(), rows_of_run, y), (batch, heads, rows, columns))


class _Bias:
    """What is added to the scores: -inf where a key is out of reach, and a mask of floats."""

    def __init__(self, write: Writer, op: Any, q: Value, k: Value, past: Value | None, wide: np.dtype) -> None:
        self.write, self.op, self.wide = write, op, wide
        self.q, self.k, self.past, self.keys = q, k, past, _lengths(k)[2]

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
        if not op.is_causal and op.left_window_size < 0 and op.right_window_size < 0 and nonpad is None:
            return []
        key, queries = self._positions(self.k), self._length(self.q)
        position = write.unsqueeze(self._positions(self.q), 1)
        if self.past is not None:
            position = write.add(position, self._length(self.past))
        if nonpad is not None:
            nonpad = write.unsqueeze(write.cast(nonpad, INT64), 1, 2, 3)
            position = write.add(write.sub(nonpad, queries), position)
        if op.is_causal:
            conditions.append(write.node(LessOrEqual(), key, position))
        if op.left_window_size >= 0:
            reach = write.number(op.left_window_size, INT64)
            conditions.append(write.node(GreaterOrEqual(), key, write.sub(position, reach)))
        if op.right_window_size >= 0:
            reach = write.number(op.right_window_size, INT64)
            conditions.append(write.node(LessOrEqual(), key, write.add(position, reach)))
        if nonpad is not None:
            conditions.append(write.node(Less(), key, nonpad))
        return conditions

    def _length(self, x: Value) -> Value:
        """The length of the sequence of heads, an int64 scalar."""
        length = _lengths(x)[2]
        if isinstance(length, int):
            return self.write.number(length, INT64)
        return self.write.squeeze(self.write.node(Shape(2, 3), x), 0)

    def _positions(self, x: Value) -> Value:
        """The numbers of the elements of the sequence of heads."""
        length = _lengths(x)[2]
        if isinstance(length, int):
            return self.write.build.constant(np.arange(length))
        zero, one = (self.write.number(n, INT64) for n in (0, 1))
        return self.write.node(Range(), zero, self._length(x), one)

    def _whole(self, mask: Value) -> Value:
        """A mask for every key; those past its end may not be attended."""
        shape = _lengths(mask)
        missing = self.keys - shape[-1]
        if not isinstance(missing, int) or missing <= 0:
            return mask
        dtype = tensor(mask).dtype
        fill = np.zeros(1, dtype) if dtype == BOOL else np.full(1, -math.inf, dtype)
        rest = self.write.node(
            ConstantOfShape(fill), self.write.build.int64(*(n for n in shape[:-1] if isinstance(n, int)), missing)
        )
        return self.write.concat([mask, rest], len(shape) - 1)
