"""Attention whose query heads share key heads, over a buffer of past keys; and rotary positions."""

from __future__ import annotations

import numpy as np

from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.attention import Heads, masked, merge_heads, scaled_scores, split_heads
from whorl.formats.onnx.microsoft.formula import Formula, contributed, rank_of, require_default, require_omitted
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Value
from whorl.ir.types import tensor

_ALL = 1 << 62


@contributed("RotaryEmbedding")
def rotary_embedding(node: OnnxNode, f: Formula) -> Value:
    """RotaryEmbedding of ONNX; position ids may be one offset of all rows."""
    require_default(node, is_packed_batching=0, scale=1.0)
    x, positions, cos, sin = (node.required(k) for k in range(4))
    heads, is_flat = node.attribute("num_heads", 0), rank_of(node, 0) == 3
    if is_flat and heads:
        x = split_heads(f, x, heads)
    elif is_flat:
        size = f("Mul", f.length(cos, 1), [2])
        x = f("Transpose", f.reshape(x, 0, 0, -1, size), perm=(0, 2, 1, 3))
    if rank_of(node, 1) == 1:
        steps = f("Unsqueeze", f("Add", f.range(f.length(x, 2)), f.cast(positions, INT64)), [0])
        positions = f("Expand", steps, f("Concat", f.length(x, 0), f.length(x, 2), axis=0))
    y = rotated(f, x, positions, (cos, sin), node.attribute("interleaved", 0))
    return merge_heads(f, y) if is_flat else y


def rotated(f: Formula, x: Value, positions: Value, caches: tuple[Value, Value], interleaved: int) -> Value:
    """The first elements of each head [batch, heads, sequence, size], twice as many as caches have columns, rotated."""
    width = f("Mul", f.length(caches[0], 1), [2])
    part, rest = f.slice(x, 0, width, 3), f.slice(x, width, _ALL, 3)
    return f("Concat", f("RotaryEmbedding", part, *caches, positions, interleaved=interleaved), rest, axis=3)


@contributed("GroupQueryAttention")
def group_query_attention(node: OnnxNode, f: Formula) -> list[Value]:
    """Causal attention over a buffer of keys, into which the new ones of each row go behind its past ones."""
    require_omitted(node, k_scale=12, v_scale=13, q_norm_weight=14, k_norm_weight=15)
    require_default(node, causal=1, kv_cache_bit_width=0, qk_output=0, sliding_window_cache=0)
    require_default(node, k_quant_type="NONE", v_quant_type="NONE")
    heads = _new_heads(node, f)
    lengths, total = f.cast(node.required(5), INT64), f.cast(node.required(6), INT64)
    count = f.length(heads.queries, 2)
    zero = np.zeros(1, np.int64)
    past = f("Max", f("Sub", f("Add", f.reshape(lengths, -1), 1), count), zero)
    if node.attribute("do_rotary", 0):
        _rotate(node, f, heads, past, count)
    length = f.reshape(total, 1)
    if node.input(3) is not None:
        length = f("Max", length, f.length(node.required(3), 2))
    heads.keys = _scattered(f, node.input(3), heads.keys, past, length)
    heads.values = _scattered(f, node.input(4), heads.values, past, length)
    return [_grouped(node, f, heads, past), heads.keys, heads.values]


def _new_heads(node: OnnxNode, f: Formula) -> Heads:
    """The heads of the new tokens; without keys and values the query has all three."""
    query, key, value = node.inputs[:3]
    count, shared = node.attribute("num_heads"), node.attribute("kv_num_heads")
    assert query is not None
    if key is not None and value is not None:
        return Heads(split_heads(f, query, count), split_heads(f, key, shared), split_heads(f, value, shared))
    everything = split_heads(f, query, count + 2 * shared)
    ends = 0, count, count + shared, _ALL
    return Heads(*(f.slice(everything, ends[k], ends[k + 1], 1) for k in range(3)))


def _rotate(node: OnnxNode, f: Formula, heads: Heads, past: Value, count: Value) -> None:
    """Rotate the new queries and keys by their positions."""
    caches, positions = (node.required(7), node.required(8)), node.input(9)
    if positions is None:
        positions = f("Add", f("Unsqueeze", past, [1]), f.range(count))
    interleaved = node.attribute("rotary_interleaved", 0)
    heads.queries = rotated(f, heads.queries, positions, caches, interleaved)
    heads.keys = rotated(f, heads.keys, positions, caches, interleaved)


def _scattered(f: Formula, buffer: Value | None, new: Value, past: Value, length: Value) -> Value:
    """A buffer of a length [batch, heads, length, size] with the new rows of a batch behind past ones, then 0."""
    count = f.length(new, 2)
    index = f("Sub", f.range(length), f("Unsqueeze", past, [1]))
    is_new = f("And", f("GreaterOrEqual", index, 0), f("Less", index, count))
    nearest = f("Max", f("Min", index, f("Sub", count, [1])), np.zeros(1, np.int64))
    rows = f("GatherND", f("Transpose", new, perm=(0, 2, 1, 3)), f("Unsqueeze", nearest, [2]), batch_dims=1)
    rows = f("Transpose", rows, perm=(0, 2, 1, 3))
    if buffer is None:
        old = f.build.constant(np.zeros((), tensor(new).dtype))
    else:
        more = f("Sub", length, f.length(buffer, 2))
        old = f("Pad", buffer, f("Concat", f.build.int64(*[0] * 6), more, f.build.int64(0), axis=0))
    after = f("Where", f("Unsqueeze", is_new, [1, 3]), rows, f.build.constant(np.zeros((), tensor(new).dtype)))
    return f("Where", f("Unsqueeze", f("Less", index, 0), [1, 3]), old, after)


def _grouped(node: OnnxNode, f: Formula, heads: Heads, past: Value) -> Value:
    """Attention in which a run of query heads shares a key head."""
    count, shared = node.attribute("num_heads"), node.attribute("kv_num_heads")
    queries = f(
        "Reshape",
        heads.queries,
        f("Concat", f.build.int64(0, shared, count // shared), f("Shape", heads.queries, start=2), axis=0),
    )
    scores = scaled_scores(f, queries, f("Unsqueeze", heads.keys, [2]), node.attribute("scale", 0.0))
    cap = node.attribute("softcap", 0.0)
    if cap:
        scores = f("Mul", f("Tanh", f("Div", scores, cap)), cap)
    ends = f("Add", f("Unsqueeze", past, [1]), f.range(f.length(queries, 3)))
    keys, ends = f.range(f.length(heads.keys, 2)), f("Unsqueeze", ends, [1, 2, 4])
    is_out = f("Greater", keys, ends)
    window = node.attribute("local_window_size", -1)
    if window > 0:
        is_out = f("Or", is_out, f("LessOrEqual", keys, f("Sub", ends, window)))
    scores = f("Add", scores, masked(f, is_out, -np.inf))
    if node.input(10) is not None:
        bias = node.required(10)
        scores = f("Reshape", f("Add", f("Reshape", scores, _by_head(f, scores, count)), bias), f("Shape", scores))
    weights = _softmax(node, f, scores)
    y = f("MatMul", weights, f("Unsqueeze", heads.values, [2]))
    return merge_heads(f, f("Reshape", y, _by_head(f, y, count)))


def _by_head(f: Formula, x: Value, count: int) -> Value:
    """The shape [batch, heads, ...] of a tensor [batch, shared heads, group, ...]."""
    return f("Concat", f.length(x, 0), f.build.int64(count), f("Shape", x, start=3), axis=0)


def _softmax(node: OnnxNode, f: Formula, scores: Value) -> Value:
    """Softmax over the keys, and over one more score that no value belongs to: 0, or that of the head."""
    sink = node.input(11)
    if sink is None and node.attribute("smooth_softmax", 0) != 1:
        return f("Softmax", scores, axis=-1)
    if sink is None:
        column = f.build.constant(np.zeros((1, 1, 1, 1, 1), np.float32))
    else:
        column = f("Unsqueeze", f.reshape(sink, node.attribute("kv_num_heads"), -1), [0, 3, 4])
    shape = f("Concat", f("Shape", scores, end=4), f.build.int64(1), axis=0)
    wide = f("Softmax", f("Concat", scores, f("Expand", column, shape), axis=4), axis=-1)
    return f.slice(wide, 0, f.length(scores, 4), 4)
