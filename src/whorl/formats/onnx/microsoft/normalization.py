"""Normalisation fused with what comes before it: sums of a skip and a bias, embeddings, gates."""

from __future__ import annotations

from whorl.errors import LoadError
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.formula import Formula, contributed
from whorl.ir.dtypes import FLOAT32, INT32, INT64
from whorl.ir.graph import Value
from whorl.ir.types import tensor


@contributed("SimplifiedLayerNormalization", domain="")
def simplified_layer_normalization(node: OnnxNode, f: Formula) -> list[Value]:
    """RMSNormalization, with the inverse of the root mean square beside it."""
    x, scale = node.required(0), node.required(1)
    axis, epsilon = node.attribute("axis", -1), node.attribute("epsilon", 1e-5)
    y = f("RMSNormalization", x, scale, axis=axis, epsilon=epsilon)
    return [y] if len(node.outputs) == 1 else [y, _inverse_root(f, x, axis, epsilon)]


def _inverse_root(f: Formula, x: Value, axis: int, epsilon: float) -> Value:
    """1 / sqrt(mean(x^2) + epsilon) over the axes from `axis` on."""
    rank = f("Shape", f("Shape", x))
    first = f.build.int64(axis) if axis >= 0 else f("Add", rank, [axis])
    wide = f.cast(x, FLOAT32)
    mean = f("ReduceMean", f("Mul", wide, wide), f.range(rank, first))
    return f("Reciprocal", f("Sqrt", f("Add", mean, epsilon)))


@contributed("SkipLayerNormalization")
def skip_layer_normalization(node: OnnxNode, f: Formula) -> list[Value]:
    """LayerNormalization of x + skip + bias; the sum is the fourth output."""
    gamma, beta = node.required(2), node.input(3)
    total = f.add_if(node.required(0), node.required(1), node.input(4))
    epsilon = node.attribute("epsilon", 1e-12)
    y, mean, deviation = f.many("LayerNormalization", 3, total, gamma, beta, epsilon=epsilon)
    return [y, mean, deviation, total]


@contributed("SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(node: OnnxNode, f: Formula) -> list[Value]:
    """RMSNormalization of x + skip + bias; the sum is the fourth output."""
    total = f.add_if(node.required(0), node.required(1), node.input(3))
    epsilon = node.attribute("epsilon", 1e-5)
    y = f("RMSNormalization", total, node.required(2), epsilon=epsilon)
    if len(node.outputs) == 1:
        return [y]
    wide = f.cast(total, FLOAT32)
    return [y, f("ReduceMean", wide, [-1]), _inverse_root(f, total, -1, epsilon), total]


@contributed("EmbedLayerNormalization")
def embed_layer_normalization(node: OnnxNode, f: Formula) -> list[Value]:
    """LayerNormalization of the sum of the rows of words, positions and segments; then lengths by the mask, the sum."""
    ids, segments, words, positions, table, gamma, beta, mask, order = (*node.inputs, None, None)[:9]
    assert ids is not None and words is not None and positions is not None
    total = f("Gather", words, ids)
    rows = f("Gather", positions, order) if order is not None else f.slice(positions, 0, f.length(ids, 1), 0)
    total = f("Add", total, rows)
    if segments is not None and table is not None:
        total = f("Add", total, f("Gather", table, segments))
    return [*embedded(node, f, ids, total, (gamma, beta), mask), total]


def embedded(
    node: OnnxNode, f: Formula, ids: Value, total: Value, weights: tuple[Value | None, Value | None], mask: Value | None
) -> list[Value]:
    """The normalised sum of embeddings, and how many words of each row the mask says are there."""
    y = f("LayerNormalization", total, *weights, epsilon=node.attribute("epsilon", 1e-12))
    if mask is None:
        lengths = f("Sub", f.length(ids, 0), f.length(ids, 0))
        return [y, f("Expand", f("Cast", lengths, to=INT32), f.length(ids, 0))]
    ones = f("Cast", f("Equal", mask, 1), to=INT64)
    return [y, f("Cast", f("ReduceSum", ones, [1], keepdims=0), to=INT32)]


@contributed("GatedRMSNorm")
def gated_rms_norm(node: OnnxNode, f: Formula) -> Value:
    """RMS normalisation of groups of as many elements as the scale has, times the activated gate, in float32."""
    x, scale, gate = (f.cast(node.required(k), FLOAT32) for k in range(3))
    shape = f("Shape", x)
    groups = f("Reshape", x, f("Concat", f.slice(shape, 0, -1, 0), f.build.int64(-1), f("Shape", scale), axis=0))
    y = f("RMSNormalization", groups, scale, epsilon=node.attribute("epsilon", 1e-5))
    y = f("Reshape", y, shape, allowzero=1)
    kind = node.attribute("activation", "silu")
    if kind not in ("silu", "swish", "sigmoid"):
        raise LoadError(f"activation {kind!r} is not known", node.title, "silu, swish or sigmoid")
    factor = f("Sigmoid", gate)
    if kind != "sigmoid":
        factor = f("Mul", gate, factor)
    return f.cast(f("Mul", y, factor), tensor(node.required(0)).dtype)
