"""Weights of few bits, packed into bytes: unpacked, scaled by blocks, multiplied or gathered."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.formula import Formula, contributed
from whorl.ir.dtypes import BY_NAME, INT32
from whorl.ir.graph import Value
from whorl.ir.types import tensor

_UINT8 = BY_NAME["uint8"]
_FP4 = np.array([0, 0.0625, 8, 12, 4, 6, 2, 3], np.float32) / 12
_FP4_TABLE = np.concatenate([_FP4, -_FP4]).astype(np.float32)
_NF4_TABLE = np.array(
    [
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    ],
    np.float32,
)


def unpack(f: Formula, packed: Value, bits: int, is_low_first: bool = True) -> Value:
    """The numbers of so many bits in each byte, in a new last axis."""
    if bits == 8:
        return f("Unsqueeze", packed, [-1])
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    shifted = f(
        "BitShift", f("Unsqueeze", packed, [-1]), shifts if is_low_first else shifts[::-1].copy(), direction="RIGHT"
    )
    return f("BitwiseAnd", shifted, np.array((1 << bits) - 1, np.uint8))


@contributed("MatMulNBits")
def matmul_n_bits(node: OnnxNode, f: Formula) -> Value:
    """A times the transposed weights [N, K] of 2, 4 or 8 bits, with scale and zero point for each block of a row."""
    a, packed, scales, zero_points, groups, bias = (*node.inputs, None, None, None)[:6]
    assert a is not None and packed is not None and scales is not None
    rows, columns, bits = node.attribute("N"), node.attribute("K"), node.attribute("bits", 4)
    if bits not in (2, 4, 8):
        raise LoadError(f"has weights of {bits} bits", node.title, "2, 4 or 8")
    size = node.attribute("block_size")
    blocks = -(-columns // size)
    dtype = tensor(a).dtype
    scale = f.reshape(scales, rows, blocks)
    zeros = None
    if zero_points is not None:
        zeros = _zeros(f, zero_points, bits, rows, blocks)
    weights = f.cast(f.reshape(unpack(f, packed, bits), rows, blocks * size), dtype)
    weights = f.slice(weights, 0, columns, 1)
    if groups is None:
        groups = f.build.constant((np.arange(columns) // size).astype(np.int64))
    scale = f("Gather", scale, groups, axis=1)
    if zeros is None:
        weights = f("Sub", weights, float(1 << (bits - 1)))
    else:
        weights = f("Sub", weights, f("Gather", f.cast(zeros, dtype), groups, axis=1))
    return f.add_if(f("MatMul", a, f("Transpose", f("Mul", weights, scale), perm=(1, 0))), bias)


def _zeros(f: Formula, zero_points: Value, bits: int, rows: int, blocks: int) -> Value:
    """The zero points [rows, blocks]: packed by rows, or numbers of another type."""
    if tensor(zero_points).dtype != _UINT8:
        return f.reshape(zero_points, rows, blocks)
    return f.slice(f.reshape(unpack(f, zero_points, bits), rows, -1), 0, blocks, 1)


@contributed("MatMulBnb4")
def matmul_bnb4(node: OnnxNode, f: Formula) -> Value:
    """A times the transposed weights [N, K] of 4 bits by a table of numbers, with a scale for each block of all."""
    a, packed, scales = node.required(0), node.required(1), node.required(2)
    rows, columns, size = node.attribute("N"), node.attribute("K"), node.attribute("block_size")
    table = _NF4_TABLE if node.attribute("quant_type", 1) == 1 else _FP4_TABLE
    index = f.slice(f.reshape(unpack(f, packed, 4, is_low_first=False), -1), 0, rows * columns, 0)
    numbers = f("Gather", table, f.cast(index, INT32))
    blocks = f.build.constant((np.arange(rows * columns) // size).astype(np.int64))
    weights = f.reshape(f("Mul", numbers, f("Gather", scales, blocks)), rows, columns)
    return f("MatMul", a, f("Transpose", weights, perm=(1, 0)))


@contributed("GatherBlockQuantized")
def gather_block_quantized(node: OnnxNode, f: Formula) -> Value:
    """Gather of DequantizeLinear by blocks; weights of bytes may be packed, with their middle as zero."""
    data, indices, scales, zero_points = (*node.inputs, None)[:4]
    assert data is not None and indices is not None and scales is not None
    axis, size = node.attribute("quantize_axis", 1), node.attribute("block_size", 128)
    dtype = tensor(scales).dtype
    if tensor(data).dtype == _UINT8:
        bits = node.attribute("bits", 4)
        data = _spread(f, data, bits)
        zeros = f.build.constant(np.array(1 << (bits - 1), np.uint8)) if zero_points is None else None
        if zero_points is not None:
            zeros = f("Slice", _spread(f, zero_points, bits), [0], f.length(scales, -1), [-1])
        zeros = f("Expand", zeros, f("Shape", scales))
    else:
        zeros = zero_points
    numbers = f("DequantizeLinear", data, scales, zeros, axis=axis, block_size=size)
    return f("Gather", f.cast(numbers, dtype), indices, axis=node.attribute("gather_axis", 0))


def _spread(f: Formula, packed: Value, bits: int) -> Value:
    """The numbers in the bytes of the last axis, one behind the other."""
    if bits == 8:
        return packed
    shape = f("Concat", f.slice(f("Shape", packed), 0, -1, 0), f.build.int64(-1), axis=0)
    return f("Reshape", unpack(f, packed, bits), shape)
