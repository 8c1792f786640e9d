"""Elements moved, picked and padded: early forms of operators that onnx has, and of its neighbours."""

from __future__ import annotations

import numpy as np

from whorl.errors import UnsupportedError
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.formula import Formula, contributed
from whorl.ir.dtypes import BY_NAME, INT32, INT64, name_of
from whorl.ir.graph import Value
from whorl.ir.types import tensor

_END = 1 << 62


@contributed("Trilu")
def trilu(node: OnnxNode, f: Formula) -> Value:
    """As in ONNX."""
    k = node.input(1)
    return f("Trilu", node.required(0), None if k is None else f.scalar(k), upper=node.attribute("upper", 1))


@contributed("Unique")
def unique(node: OnnxNode, f: Formula) -> list[Value]:
    """The values in the order of their first occurrence, the index among them of each element, and their counts."""
    values, _, index, counts = f.many("Unique", 4, node.required(0), sorted=0)
    return [values, index, counts]


@contributed("Range")
def number_range(node: OnnxNode, f: Formula) -> Value:
    """Range of ONNX, by steps of 1 where no delta is there; its inputs are of one element."""
    start, limit, delta = (*node.inputs, None)[:3]
    assert start is not None and limit is not None
    step = f.build.constant(np.ones((), tensor(start).dtype)) if delta is None else f.scalar(delta)
    return f("Range", f.scalar(start), f.scalar(limit), step)


@contributed("ExpandDims")
def expand_dims(node: OnnxNode, f: Formula) -> Value:
    """Unsqueeze at one axis."""
    return f("Unsqueeze", node.required(0), f.reshape(f.cast(node.required(1), INT64), 1))


@contributed("GatherND")
def gather_nd(node: OnnxNode, f: Formula) -> Value:
    """As in ONNX, without axes of a batch."""
    return f("GatherND", node.required(0), f.cast(node.required(1), INT64))


@contributed("Pad")
def pad(node: OnnxNode, f: Formula) -> Value:
    """Pad of ONNX; the pads may be one row of a matrix."""
    value = node.input(2)
    pads = f.reshape(node.required(1), -1)
    return f(
        "Pad",
        node.required(0),
        pads,
        None if value is None else f.scalar(value),
        mode=node.attribute("mode", "constant"),
    )


@contributed("SampleOp")
def sample_op(node: OnnxNode, f: Formula) -> Value:
    """The input."""
    return f("Identity", node.required(0))


@contributed("UnfoldTensor")
def unfold_tensor(node: OnnxNode, f: Formula) -> Value:
    """All windows of an axis, every so many elements, in a new last axis."""
    x, axis = node.required(0), node.attribute("dim", -1)
    size, step = node.attribute("size"), node.attribute("step", 1)
    length = f.length(x, axis)
    ends = (f("Sub", length, size - 1 - k) for k in range(size))
    windows = [f("Slice", x, [k], end, [axis], [step]) for k, end in enumerate(ends)]
    return f("Concat", *(f("Unsqueeze", window, [-1]) for window in windows), axis=-1)


@contributed("NGramRepeatBlock")
def block_repeated_ngrams(node: OnnxNode, f: Formula) -> Value:
    """Scores, -inf for tokens that would end a run of `ngram_size` tokens that its row already has."""
    return lower_repeated(f, node.required(0), node.required(1), node.attribute("ngram_size"), -np.inf)


def lower_repeated(f: Formula, tokens: Value, scores: Value, size: int, low: float) -> Value:
    """Scores [rows, vocabulary], `low` for tokens that would end a run of so many tokens that their row already has."""
    length = f.length(tokens, 1)
    ends = f("Max", f("Sub", length, size - 1), np.zeros(1, np.int64))
    same = None
    for k in range(size - 1):
        start = f("Sub", length, size - 1 - k)
        last = f.slice(tokens, start, f("Add", start, 1), 1)
        equal = f("Equal", f.slice(tokens, k, f("Add", ends, k), 1), last)
        same = equal if same is None else f("And", same, equal)
    following = f.slice(tokens, size - 1, _END, 1)
    lowest, highest = np.array(low, np.float32), np.array(np.inf, np.float32)
    blocked = f("Expand", lowest, f("Shape", following)) if same is None else f("Where", same, lowest, highest)
    return f("ScatterElements", scores, following, blocked, axis=1, reduction="min")


_HASHED = frozenset(BY_NAME[name] for name in ("int32", "uint32", "int64", "uint64"))
_UINT32, _UINT64 = BY_NAME["uint32"], BY_NAME["uint64"]


@contributed("MurmurHash3")
def murmur_hash(node: OnnxNode, f: Formula) -> Value:
    """MurmurHash3 of 32 bits, of the bytes of each integer of 32 or 64 bits."""
    x = node.required(0)
    dtype = tensor(x).dtype
    if dtype not in _HASHED:
        raise UnsupportedError(f"hashes of {name_of(dtype)} are not implemented", node.title, "hash integers")
    if dtype.itemsize == 8:
        wide = f.cast(x, _UINT64)
        low = f.cast(f("BitwiseAnd", wide, 0xFFFFFFFF), _UINT32)
        words = [low, f.cast(f("BitShift", wide, 32, direction="RIGHT"), _UINT32)]
    else:
        words = [f.cast(x, _UINT32)]
    state = f("Expand", np.array(node.attribute("seed", 0), np.uint32), f("Shape", x))
    for word in words:
        word = f("Mul", _rotated_left(f, f("Mul", word, 0xCC9E2D51), 15), 0x1B873593)
        state = f("Add", f("Mul", _rotated_left(f, f("BitwiseXor", state, word), 13), 5), 0xE6546B64)
    state = f("BitwiseXor", state, dtype.itemsize)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = f("Mul", f("BitwiseXor", state, f("BitShift", state, shift, direction="RIGHT")), factor)
    state = f("BitwiseXor", state, f("BitShift", state, 16, direction="RIGHT"))
    return state if node.attribute("positive", 1) else f.cast(state, INT32)


def _rotated_left(f: Formula, x: Value, count: int) -> Value:
    left, right = f("BitShift", x, count, direction="LEFT"), f("BitShift", x, 32 - count, direction="RIGHT")
    return f("BitwiseOr", left, right)
