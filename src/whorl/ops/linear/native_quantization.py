"""Native forms of quantization: parameters along an axis or by blocks, and a scale that follows from the tensor."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.dims import Dim
from whorl.ir.dtypes import BY_NAME, FLOAT32
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View
from whorl.ir.types import TensorType
from whorl.ops.movement.lengths import ceil_div
from whorl.ops.native.index_maps import fit

UINT8 = BY_NAME["uint8"]


def spread_view(k: NativeBuilder, parameter: View, shape: Sequence[Dim], axis: int, block_size: int) -> View | None:
    """A scale or zero point as a view of this shape; None where it does not fit."""
    rank = len(shape)
    along = 0 if rank == 1 else axis % rank if -rank <= axis < rank else rank
    zeros = (k.const(0),) * len(parameter.shape)
    if parameter.size == 1:
        return k.view(parameter.dtype, shape, lambda index: parameter.at(zeros), parameter.cost)
    if along == rank or len(parameter.shape) != (rank if block_size else 1):
        return None
    if block_size:
        blocks = (*shape[:along], ceil_div(shape[along], block_size), *shape[along + 1 :])
        size = k.const(block_size)

        def of_block(index: Index) -> Expr:
            return parameter.at((*index[:along], k.div(index[along], size), *index[along + 1 :]))

        if not fit(k, parameter.shape, blocks):
            return None
        return k.view(parameter.dtype, shape, of_block, parameter.cost + 1)
    if not fit(k, parameter.shape, [shape[along]]):
        return None
    return k.view(parameter.dtype, shape, lambda index: parameter.at((index[along],)), parameter.cost)


def quantize_to_range(k: NativeBuilder, x: View) -> list[View] | None:
    """A float32 tensor as uint8, the scale that takes its range and 0 to 0..255, and the zero point."""
    x = k.materialise_costly(x)
    zero, top = k.const(0.0, FLOAT32), k.const(255.0, FLOAT32)
    low = k.reduce(x.shape, zero, lambda least, index: k.apply("minimum", least, x.at(index)))
    high = k.reduce(x.shape, zero, lambda largest, index: k.apply("maximum", largest, x.at(index)))
    span = k.div(k.sub(high, low), top)
    scale = k.let(k.select(k.compare("eq", low, high), k.const(1.0, FLOAT32), span))

    def clip(value: Expr) -> Expr:
        return k.apply("min", k.apply("max", value, zero), top)

    offset = k.let(k.apply("rint", clip(k.div(k.apply("neg", low), scale))))

    def quantize(k: NativeBuilder, element: Expr) -> Expr:
        return k.cast(clip(k.add(k.apply("rint", k.div(element, scale)), offset)), UINT8)

    whole = k.elementwise(quantize, [x], TensorType(UINT8, x.shape))
    return None if whole is None else [whole[0], k.scalar(scale), k.scalar(k.cast(offset, UINT8))]
