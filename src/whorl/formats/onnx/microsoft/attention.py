"""Attention over heads: with packed projections, of queries, keys and values, and quantised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.errors import UnsupportedError
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.formula import (
    Formula,
    contributed,
    rank_of,
    require_default,
    require_omitted,
)
from whorl.formats.onnx.microsoft.quantized import scaled_product
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Value
from whorl.ir.types import tensor

_LOWEST = float(np.finfo(np.float32).min)


class Heads(Struct):
    """Queries, keys and values [batch, heads, sequence, size]."""

    queries: Value
    keys: Value
    values: Value


def split_heads(f: Formula, x: Value, heads: int) -> Value:
    """[batch, sequence, heads * size] as [batch, heads, sequence, size]."""
    return f("Transpose", f.reshape(x, 0, 0, heads, -1), perm=(0, 2, 1, 3))


def merge_heads(f: Formula, y: Value) -> Value:
    """The reverse of `split_heads`."""
    return f.reshape(f("Transpose", y, perm=(0, 2, 1, 3)), 0, 0, -1)


def scaled_scores(f: Formula, queries: Value, keys: Value, scale: float) -> Value:
    """Products of queries and keys, scaled; by the root of the size of a head where the scale is 0."""
    scores = f("MatMul", queries, f.swap_last(keys))
    if scale:
        return f("Mul", scores, scale)
    return f("Div", scores, f("Sqrt", f.cast(f.scalar(f.length(queries, -1)), tensor(queries).dtype)))


def attend(node: OnnxNode, f: Formula, heads: Heads, biases: Sequence[Value | None]) -> Value:
    """[batch, sequence, heads * size] of values weighed by the softmax of the scores plus biases."""
    scores = scaled_scores(f, heads.queries, heads.keys, node.attribute("scale", 0.0))
    scores = f.add_if(scores, *biases)
    if node.attribute("unidirectional", 0):
        scores = f("Add", scores, _causal_bias(f, heads))
    return merge_heads(f, f("MatMul", f("Softmax", scores, axis=-1), heads.values))


def _causal_bias(f: Formula, heads: Heads) -> Value:
    """What keeps a query from keys behind it [queries, keys]; the last query and the last key belong together."""
    queries, keys = f.length(heads.queries, 2), f.length(heads.keys, 2)
    rows = f("Unsqueeze", f("Add", f.range(queries), f("Sub", keys, queries)), [1])
    return masked(f, f("Greater", f.range(keys), rows), _LOWEST)


def masked(f: Formula, is_out: Value, filter_value: float) -> Value:
    """The filter value where a key is out of reach, else 0."""
    return f("Where", is_out, np.array(filter_value, np.float32), np.zeros((), np.float32))


def mask_bias(node: OnnxNode, f: Formula, mask: Value | None, position: int, heads: Heads) -> Value | None:
    """The filter value where the mask leaves out a key; a mask is of numbers of keys, or of 0 and 1."""
    if mask is None:
        return None
    filter_value, rank = node.attribute("mask_filter_value", -10000.0), rank_of(node, position)
    if rank == 1:
        return _bias_of_lengths(f, f.cast(mask, INT64), heads, filter_value)
    if rank > 3:
        raise UnsupportedError(f"a mask of rank {rank} is not implemented", node.title)
    is_out = f("LessOrEqual", mask, 0) if tensor(mask).dtype != BOOL else f("Not", mask)
    return masked(f, f("Unsqueeze", is_out, [1, 2] if rank == 2 else [1]), filter_value)


def _bias_of_lengths(f: Formula, mask: Value, heads: Heads, filter_value: float) -> Value:
    """Of the first key past the end of each row, and behind these of the first key of each row."""
    batch, keys = f.length(heads.queries, 0), f.range(f.length(heads.keys, 2))
    padded = f("Concat", mask, f("Expand", f.build.int64(0), batch), axis=0)
    ends = f("Unsqueeze", f.slice(padded, 0, batch, 0), [1])
    starts = f("Unsqueeze", f.slice(padded, batch, f("Add", batch, batch), 0), [1])
    is_out = f("Or", f("GreaterOrEqual", keys, ends), f("Less", keys, starts))
    return masked(f, f("Unsqueeze", is_out, [1, 2]), filter_value)


# ---- one projection of all three -----------------------------------------------------------------------------------


@contributed("Attention")
def attention(node: OnnxNode, f: Formula) -> list[Value]:
    """Attention of the projections of one input, with the past before the keys and values; outputs the present, too."""
    require_default(node, do_rotary=0, past_present_share_buffer=0)
    require_omitted(node, past_sequence_length=6)
    x, weights, bias, mask, past, scores = (*node.inputs, None, None, None, None)[:6]
    projected = f.add_if(f("MatMul", x, weights), bias)
    return _packed_attention(node, f, projected, (mask, 3), past, scores)


@contributed("QAttention")
def quantized_attention(node: OnnxNode, f: Formula) -> list[Value]:
    """Attention of the projections of one quantised input by quantised weights."""
    require_default(node, do_rotary=0, past_present_share_buffer=0)
    padded = (*node.inputs, None, None, None, None)[:9]
    x, weights, bias, x_scale, scale, mask, x_zero, zero, past = padded
    projected = scaled_product(f, (x, weights), (x_scale, scale), (x_zero, zero), bias)
    return _packed_attention(node, f, projected, (mask, 5), past, None)


def _packed_attention(
    node: OnnxNode, f: Formula, projected: Value, mask: tuple[Value | None, int], past: Value | None, bias: Value | None
) -> list[Value]:
    count, sizes = node.attribute("num_heads"), node.attribute("qkv_hidden_sizes")
    if sizes:
        parts = f.many("Split", 3, projected, list(sizes), axis=2)
        heads = Heads(*(split_heads(f, part, count) for part in parts))
    else:
        heads = _thirds(f, f("Transpose", f.reshape(projected, 0, 0, 3, count, -1), perm=(2, 0, 3, 1, 4)))
    if past is not None:
        earlier = (f("Gather", past, np.array(k, np.int64), axis=0) for k in range(2))
        heads.keys, heads.values = (
            f("Concat", before, now, axis=2) for before, now in zip(earlier, (heads.keys, heads.values), strict=True)
        )
    y = attend(node, f, heads, [mask_bias(node, f, *mask, heads), bias])
    if len(node.outputs) == 1:
        return [y]
    return [y, f("Concat", f("Unsqueeze", heads.keys, [0]), f("Unsqueeze", heads.values, [0]), axis=0)]


def _thirds(f: Formula, stacked: Value) -> Heads:
    """The three tensors of a first axis of length 3."""
    return Heads(*(f("Gather", stacked, np.array(k, np.int64), axis=0) for k in range(3)))


# ---- queries, keys and values --------------------------------------------------------------------------------------


@contributed("MultiHeadAttention")
def multi_head_attention(node: OnnxNode, f: Formula) -> list[Value]:
    """Attention of queries, keys and values, which may be packed, behind past ones; outputs the present, too."""
    require_omitted(node, past_sequence_length=8, cache_indirection=9)
    bias, mask, scores, past_key, past_value = (*node.inputs, *(None,) * 8)[3:8]
    heads = _separate_heads(node, f, bias)
    if past_key is not None:
        heads.keys = f("Concat", past_key, heads.keys, axis=2)
        heads.values = f("Concat", past_value, heads.values, axis=2)
    y = attend(node, f, heads, [mask_bias(node, f, mask, 4, heads), scores])
    if len(node.outputs) > 3:
        raise UnsupportedError("output 3 (qk) is not implemented", node.title)
    return [y, heads.keys, heads.values]


def _separate_heads(node: OnnxNode, f: Formula, bias: Value | None) -> Heads:
    """The heads of queries, keys and values of any layout, plus the bias."""
    query, key, value = (*node.inputs, None, None)[:3]
    count = node.attribute("num_heads")
    assert query is not None
    if key is None:
        return _thirds(f, f("Transpose", _packed(node, f, query, bias, 3), perm=(3, 0, 2, 1, 4)))
    if value is None:
        pair = f("Transpose", _packed(node, f, key, None, 2), perm=(3, 0, 2, 1, 4))
        if bias is not None:
            raise UnsupportedError("a bias beside packed keys and values is not implemented", node.title)
        halves = (f("Gather", pair, np.array(k, np.int64), axis=0) for k in range(2))
        return Heads(split_heads(f, query, count), *halves)
    if rank_of(node, 1) == 4:
        if bias is not None:
            query = f("Add", query, f.slice(bias, 0, f.length(query, 2), 0))
        return Heads(split_heads(f, query, count), key, value)
    parts: list[Value] = [query, key, value]
    if bias is not None:
        width = f.length(query, 2)
        ends = [f.build.int64(0), width, f("Add", width, width), f.build.int64(1 << 62)]
        parts = [f("Add", part, f.slice(bias, ends[k], ends[k + 1], 0)) for k, part in enumerate(parts)]
    return Heads(*(split_heads(f, part, count) for part in parts))


def _packed(node: OnnxNode, f: Formula, x: Value, bias: Value | None, count: int) -> Value:
    """A tensor [batch, sequence, heads, count, size], plus the bias, whose heads come behind the three kinds."""
    if bias is None:
        return x
    heads = node.attribute("num_heads")
    return f("Add", x, f("Transpose", f.reshape(bias, count, heads, -1), perm=(1, 0, 2)))


# ---- recurrences ---------------------------------------------------------------------------------------------------


@contributed("LinearAttention")
def linear_attention(node: OnnxNode, f: Formula) -> list[Value]:
    """As in ONNX 27, without windows of states."""
    require_default(node, state_window=0)
    attributes = {k: v for k, v in node.attributes.items() if k != "state_window"}
    return f.many("LinearAttention", 2, *node.inputs, **attributes)


@contributed("CausalConvWithState")
def causal_conv_with_state(node: OnnxNode, f: Formula) -> list[Value]:
    """As in ONNX 27: over one axis, channels before it, no dilation, without windows of states."""
    require_default(node, state_window=0, channels_last=0, dilation=1, ndim=1)
    return f.many("CausalConvWithState", 2, *node.inputs, activation=node.attribute("activation", "none"))
