"""Products fused with transposes, sums and activations; distances, and convolutions over characters."""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.errors import LoadError
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.activations import activated
from whorl.formats.onnx.microsoft.formula import Formula, contributed
from whorl.ir.dtypes import INT32, INT64
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, tensor

_TRANSPOSED = {(0, 0): "", (1, 0): "...ij->...ji", (0, 1): "i...j->...ij", (1, 1): "i...j->...ji"}
"""The equation of an operand by whether its matrix is transposed, and whether the rows come before the batch."""


@contributed("FusedMatMul", "TransposeMatMul")
def fused_matmul(node: OnnxNode, f: Formula) -> Value:
    """alpha times the product of matrices that may be transposed, or whose rows may be the first axis of all."""
    operands = []
    for position, letter in enumerate("AB"):
        kind = node.attribute(f"trans{letter}", 0), node.attribute(f"transBatch{letter}", 0)
        equation = _TRANSPOSED[bool(kind[0]), bool(kind[1])]
        x = node.required(position)
        operands.append(f("Einsum", x, equation=equation) if equation else x)
    y = f("MatMul", *operands)
    alpha = node.attribute("alpha", 1.0)
    return y if alpha == 1 else f("Mul", y, alpha)


_CONVOLUTION = "auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"


@contributed("FusedConv")
def fused_conv(node: OnnxNode, f: Formula) -> Value:
    """The activation of a convolution plus Z."""
    y = f("Conv", node.required(0), node.required(1), node.input(2), **picked(node, *_CONVOLUTION))
    return activated(node, f, f.add_if(y, node.input(3)))


@contributed("FusedGemm")
def fused_gemm(node: OnnxNode, f: Formula) -> Value:
    """The activation of a Gemm."""
    attributes = picked(node, "alpha", "beta", "transA", "transB")
    return activated(node, f, f("Gemm", node.required(0), node.required(1), node.input(2), **attributes))


def picked(node: OnnxNode, *names: str) -> dict[str, Any]:
    """Those attributes of a node that it has."""
    return {name: node.attributes[name] for name in names if name in node.attributes}


@contributed("WordConvEmbedding")
def word_embedding(node: OnnxNode, f: Formula) -> Value:
    """The largest tanh of convolutions over the embedded characters of each word, of windows that begin in the word.

    A word ends where no more characters above 0 come; of words of none the result is 0.
    """
    words, weights, bias, embeddings = (node.required(n) for n in range(4))
    for name, x, axis in (("embedding_size", weights, 0), ("conv_window_size", weights, 2)):
        _require_length(node, name, x, axis)
    _require_length(node, "char_embedding_size", embeddings, 1)
    characters = f("Gather", embeddings, words, axis=0)
    windows = f("Tanh", f("Squeeze", f("Conv", f("Unsqueeze", characters, [1]), weights, bias), [3]))
    counts = f("ReduceSum", f.cast(f("Greater", words, 0), INT64), [1], keepdims=1)
    last = f("Max", f("Sub", counts, f.length(weights, 2)), np.zeros(1, np.int64))
    is_in = f("LessOrEqual", f.range(f.length(windows, 2)), last)
    inside = f("Where", f("Unsqueeze", is_in, [1]), windows, np.array(-np.inf, np.float32))
    begins = f("Greater", f.slice(words, 0, 1, 1), 0)
    return f("Where", begins, f("ReduceMax", inside, [2], keepdims=0), np.zeros((), np.float32))


def _require_length(node: OnnxNode, name: str, x: Value, axis: int) -> None:
    """Refuse an attribute that contradicts the length of an input."""
    length, shape = node.attribute(name, -1), tensor(x).shape
    if length != -1 and not isinstance(shape, AnyShape) and isinstance(shape[axis], int) and shape[axis] != length:
        raise LoadError(f"attribute {name!r} is {length}, its input has length {shape[axis]}", node.title)


@contributed("MatMulInteger16")
def matmul_integer_16(node: OnnxNode, f: Formula) -> Value:
    """The product in int32."""
    return f("MatMul", f.cast(node.required(0), INT32), f.cast(node.required(1), INT32))


@contributed("CDist")
def distances(node: OnnxNode, f: Formula) -> Value:
    """The distance of each row of A to each row of B, by the sum of squares or its root."""
    rows, columns = f("Unsqueeze", node.required(0), [1]), f("Unsqueeze", node.required(1), [0])
    kind = node.attribute("metric", "sqeuclidean")
    if kind not in ("euclidean", "sqeuclidean"):
        raise LoadError(f"metric {kind!r} is not known", node.title, "euclidean or sqeuclidean")
    total = f("ReduceSumSquare", f("Sub", rows, columns), [2], keepdims=0)
    return f("Sqrt", total) if kind == "euclidean" else total


@contributed("ConvTransposeWithDynamicPads")
def conv_transpose_with_dynamic_pads(node: OnnxNode, f: Formula) -> Value:
    """ConvTranspose without pads, of which as much is cut off as the pads say."""
    x, w, pads, b = (*node.inputs, None, None)[:4]
    names = "auto_pad", "dilations", "group", "kernel_shape", "output_padding", "strides"
    y = f("ConvTranspose", x, w, b, **picked(node, *names))
    if pads is None:
        return y
    half = f("Div", f("Shape", pads), [2])
    axes = f("Add", f.range(half), 2)
    ends = f("Sub", f.slice(f("Shape", y), 2, 1 << 31, 0), f.slice(pads, half, 1 << 31, 0))
    return f("Slice", y, f.slice(pads, 0, half, 0), ends, axes)
