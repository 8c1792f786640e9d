"""Convolutions by constant filters of bytes as sums of dot products of four channels (`linear/byte_products`).

What lies around the image is its zero point, so the sums are less by the zero point times all taps everywhere alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from msgspec.structs import replace

from whorl.ir.constants import Constant
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BY_NAME, INT32
from whorl.ir.graph import Node, Op, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, lengths_of, tensor
from whorl.kernels.convolution.layout import pack_filters
from whorl.kernels.product.layout import WORD, word_count, words_of
from whorl.ops.core.writer import Writer
from whorl.ops.native.index_maps import read_element
from whorl.ops.windows.native_convolution import convolution, is_native

if TYPE_CHECKING:
    from whorl.ops.windows.convolution import Convolution

_INT8, _UINT8 = BY_NAME["int8"], BY_NAME["uint8"]
_OFFSET = 128
"""What makes a byte with sign one without."""
LEAST_CHANNELS, LEAST_FEATURES = 8, 4
"""Channels and features from which dot products pay."""


def with_sign(w: np.ndarray) -> np.ndarray:
    """Bytes as int8, less 128 where they have no sign."""
    return (w ^ np.uint8(_OFFSET)).view(_INT8) if w.dtype == _UINT8 else w


class FilterWords(Op, frozen=True):
    """Filters of bytes [M, C, kernel...] as packed filters of words, each of four channels with sign."""

    abstract: ClassVar[bool] = True

    def infer(self, w: Fact) -> TensorType:
        features, channels, *kernel = (int(n) for n in lengths_of(tensor(w)) if isinstance(n, int))
        return TensorType(INT32, (1, features * word_count(channels) * int(np.prod(kernel))))

    def run(self, w: np.ndarray) -> np.ndarray:
        features, channels = w.shape[:2]
        rows = with_sign(w).reshape(features, channels, -1).swapaxes(0, 1).reshape(channels, -1)
        words = words_of(np.ascontiguousarray(rows)).reshape(word_count(channels), features, -1)
        return pack_filters(np.ascontiguousarray(words.swapaxes(0, 1)).reshape(1, features, -1))


class FilterSums(Op, frozen=True):
    """The sum of each filter of bytes with sign, an int32."""

    abstract: ClassVar[bool] = True

    def infer(self, w: Fact) -> TensorType:
        return TensorType(INT32, lengths_of(tensor(w))[:1])

    def run(self, w: np.ndarray) -> np.ndarray:
        return with_sign(w).reshape(len(w), -1).sum(1, dtype=np.int32)


class ByteConvolution(Op, frozen=True):
    """The sums of a convolution of X less a zero point by filters of bytes, less 128 where these have no sign: int32.

    Inputs: X, its zero point or None, the filters, their words and their sums.
    """

    abstract: ClassVar[bool] = True
    any_length = True

    op: Convolution

    def infer(self, x: Fact, zero: Fact | None, w: Fact, words: Fact, sums: Fact) -> TensorType:
        return TensorType(INT32, self.op.shape(x, w, None))

    def run(
        self, x: np.ndarray, zero: np.ndarray | None, w: np.ndarray, words: np.ndarray, sums: np.ndarray
    ) -> np.ndarray:
        return self.op.sums(x, with_sign(w), zero).astype(np.int32)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, zero, w, words, sums = inputs[0], inputs.optional(1), inputs[2], inputs[3], inputs[4]
        point = k.const(0, INT32) if zero is None else k.cast(read_element(k, zero), INT32)
        point = k.let(k.add(point, k.const(_OFFSET, INT32)) if x.dtype == _INT8 else point)
        image = _padded_words(k, k.materialise_costly(x), point, around(self.op, len(x.shape) - 2))
        tracks = unpadded(self.op).axes(image.shape, w.fixed_shape)
        bias = k.view(INT32, sums.shape, lambda index: k.apply("neg", k.mul(point, sums.at(index))), 2)
        return [convolution(k, image, words, bias, tracks, w.fixed_shape[0])]


def around(op: Convolution, rank: int) -> list[tuple[int, int]]:
    """The padding before and after each axis."""
    pads = op.pads if op.pads and op.auto_pad == "NOTSET" else (0,) * (2 * rank)
    return [*zip(pads[:rank], pads[rank:], strict=True)]


def unpadded(op: Convolution) -> Convolution:
    """The same convolution of an image with its padding."""
    return replace(op, pads=None, auto_pad="NOTSET")


def _padded_words(k: NativeBuilder, x: View, point: Expr, pads: Sequence[tuple[int, int]]) -> View:
    """X [N, C, axes...] in words of four channels of bytes without sign, the zero point around it."""
    batch, channels, *lengths = x.shape
    assert isinstance(channels, int)
    depth = word_count(channels)
    shape: tuple[Dim, ...] = (
        batch,
        depth,
        *(n + before + after for n, (before, after) in zip(lengths, pads, strict=True)),
    )
    words = k.temporary(INT32, shape)
    if any(map(any, pads)):
        fill = k.let(k.mul(point, k.const(0x01010101, INT32)))
        with k.nest(shape) as index:
            k.store(words, index, fill)
    whole, rest = divmod(channels, WORD)
    for first, count, size in ((0, whole, WORD), (whole, 1, rest)):
        if not size or not count:
            continue
        with k.nest((batch, count, *lengths)) as (n, number, *inside):
            word = k.add(number, k.const(first))
            start, total = k.mul(word, k.const(WORD)), k.const(0, INT32)
            for channel in range(size):
                byte = k.cast(x.at((n, k.add(start, k.const(channel)), *inside)), INT32)
                byte = k.add(byte, k.const(_OFFSET, INT32)) if x.dtype == _INT8 else byte
                total = k.add(total, k.mul(byte, k.const(1 << 8 * channel, INT32)))
            target = [k.add(i, k.const(before)) for i, (before, _) in zip(inside, pads, strict=True)]
            k.store(words, (n, word, *target), total)
    return k.view_of(words, shape)


# ---- as nodes ------------------------------------------------------------------------------------------------


def write_byte_convolution(
    write: Writer, op: Convolution, x: Value, w: Value, x_zero: Value | None, w_zero: Value | None
) -> Value | None:
    """The sums of products of X - x_zero and W - w_zero as int32; None where kernels of words do not compute them."""
    if not _has_words(op, x, w) or not _is_centre(w, w_zero):
        return None
    if x_zero is not None and lengths_of(tensor(x_zero)) not in ((), (1,)):
        return None
    words, sums = write.node(FilterWords(), w), write.node(FilterSums(), w)
    return write.build.add_many(ByteConvolution(op), [x, x_zero, w, words, sums], ["sums"])[0]


def _has_words(op: Convolution, x: Value, w: Value) -> bool:
    """Whether filters are a constant, large enough, and kernels take windows like these."""
    if not isinstance(w.owner, Node) or not isinstance(w.owner.op, Constant) or isinstance(tensor(x).shape, AnyShape):
        return False
    left, right = lengths_of(tensor(x)), lengths_of(tensor(w))
    sizes = [n for n in right if isinstance(n, int)]
    if op.group != 1 or op.auto_pad not in ("NOTSET", "VALID") or len(left) != len(right) or left[1] != right[1]:
        return False
    if len(right) < 3 or sizes[0] < LEAST_FEATURES or sizes[1] < LEAST_CHANNELS or 0 in sizes or 0 in left:
        return False
    pads = around(op, len(right) - 2)
    if any(n < 0 for pair in pads for n in pair):
        return False
    padded = (*left[:2], *(n + before + after for n, (before, after) in zip(left[2:], pads, strict=True)))
    return is_native(unpadded(op).axes(padded, sizes), word_count(sizes[1]), INT32.itemsize)


def _is_centre(w: Value, zero: Value | None) -> bool:
    """Whether a zero point is known to be what `with_sign` takes from filters."""
    centre = _OFFSET if tensor(w).dtype == _UINT8 else 0
    return not centre if zero is None else zero.known is not None and all(n == centre for n in zero.known.flat)
