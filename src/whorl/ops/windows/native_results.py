"""Where native convolutions write their results, and what follows them at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.native.builder import Address, NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import View
from whorl.ops.native.index_maps import embed_array


class Ending(Struct, frozen=True):
    """What follows a convolution at once: a tensor of the same shape is added, and the sum is kept within bounds.

    `into` is a buffer [N, features, axes...] of more features, and the first one there that is to be written.
    """

    added: View | None = None
    bounds: tuple[float, float] | None = None
    into: tuple[Buffer, int] | None = None


class Result(Struct, frozen=True):
    """Where a convolution is written: memory of its own, what is added to it, or features of a larger tensor."""

    k: NativeBuilder
    shape: tuple[Dim, ...]
    buffer: Buffer
    start: int = 0
    addend: Address | None = None
    is_over: bool = False
    is_part: bool = False

    @staticmethod
    def of(k: NativeBuilder, dtype: np.dtype, shape: tuple[Dim, ...], ending: Ending) -> Result:
        over = None if ending.added is None or ending.into is not None else k.overwritable(ending.added)
        if over is not None:
            return Result(k, shape, over, is_over=True)
        addend = None if ending.added is None else k.address(ending.added)
        if ending.into is not None:
            return Result(k, shape, *ending.into, addend, is_part=True)
        return Result(k, shape, k.reusable(dtype, shape), 0, addend)

    def address(self, n: Expr, feature: Expr) -> Address:
        """That of the results of an image from a feature on."""
        k = self.k
        return self.buffer, (n, k.add(feature, k.const(self.start)), *(k.const(0) for _ in self.shape[2:]))

    def added(self, n: Expr, feature: Expr) -> list[Address]:
        """That of what is added to them, if anything."""
        if self.is_over:
            return [self.address(n, feature)]
        if self.addend is None:
            return []
        k, (_, features, *lengths) = self.k, self.shape
        plane = k.add(k.mul(n, k.const(features)), feature)
        return [moved(k, self.addend, k.mul(plane, k.const(dims.product(lengths))))]

    def view(self) -> View:
        return self.k.view_of(self.buffer) if self.is_part else self.k.view_of(self.buffer, self.shape)


def when_windows(k: NativeBuilder, counts: Sequence[Dim]) -> AbstractContextManager[None]:
    """Statements that run only where there are windows."""
    if all(map(k.is_positive, counts)):
        return nullcontext()
    return k.when(k.compare("gt", k.length(dims.product(counts)), k.const(0)))


def moved(k: NativeBuilder, address: Address, distance: Expr) -> Address:
    """An address so many elements further."""
    buffer, index = address
    return buffer, (*index[:-1], k.add(index[-1], distance))


def limits_of(k: NativeBuilder, dtype: np.dtype, ending: Ending) -> Address | None:
    if ending.bounds is None:
        return None
    return k.address(embed_array(k, np.array(ending.bounds, dtype)))
