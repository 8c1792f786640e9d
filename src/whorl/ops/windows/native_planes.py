"""Native forms of depthwise convolutions and pools of an image that lies channel by channel, as ONNX has it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from whorl.ir import dims
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import View, fixed
from whorl.ops.native.index_maps import broadcast_scalar
from whorl.ops.windows.native_results import Ending, Result, limits_of, moved, when_windows
from whorl.ops.windows.run_time_layout import Axis, numbers_of

MOST_TAPS = 81
"""Taps of a window up to which a kernel has code for each."""
SINGLE = 1, 1, 1, 1, 0, 1
"""The numbers of an axis of one element."""


def goes_by_planes(tracks: Sequence[Axis], depth: int, features: int) -> bool:
    """Whether a kernel computes windows like these over each channel: of groups of such a depth and so many features.

    Channels are floats.
    """
    return depth == features == 1 and have_code(tracks)


def have_code(tracks: Sequence[Axis]) -> bool:
    """Whether windows are of so many axes, and of so few taps, that kernels have code for each tap."""
    taps = math.prod(axis.kernel for axis in tracks)
    return 0 < len(tracks) <= 2 and 0 < taps <= MOST_TAPS and tracks[-1].stride <= 2


def convolve_planes(
    k: NativeBuilder, x: View, filters: View, bias: View | None, tracks: Sequence[Axis], ending: Ending
) -> View:
    """Windows over each channel of x [N, C, axes...] times its own filter of filters [C, taps]."""
    batch, channels, dtype = x.shape[0], fixed(x.shape[1]), x.dtype
    result = Result.of(k, dtype, (batch, channels, *(axis.count for axis in tracks)), ending)
    source, packed = k.address(x), k.address(filters)
    term = k.address(broadcast_scalar(k, k.const(0, dtype), (channels,)) if bias is None else bias)
    limits, zero = limits_of(k, dtype, ending) or term, k.const(0)
    numbers = channels, int(ending.bounds is not None), *windows_of(k, tracks)
    name = "depthwise_convolution" if ending.added is None else "depthwise_convolution_sum"
    with when_windows(k, [axis.count for axis in tracks]), k.loop(batch) as n:
        size = dims.product((channels, *(axis.length for axis in tracks)))
        image = moved(k, source, k.mul(n, k.length(size)))
        operands = [result.address(n, zero), image, packed, term, limits, *result.added(n, zero)]
        k.call(name, operands, numbers)
    return result.view()


def windows_of(k: NativeBuilder, tracks: Sequence[Axis]) -> tuple[int | Expr, ...]:
    """Windows along one or two axes as kernels take them."""
    fields = [(a.length, a.kernel, a.stride, a.dilation, a.begin, a.count) for a in tracks]
    rows, columns = fields if len(tracks) == 2 else (SINGLE, *fields)
    return numbers_of(k, [n for pair in zip(rows, columns, strict=True) for n in pair])


def pool_planes(k: NativeBuilder, x: View, tracks: Sequence[Axis], largest: bool) -> View:
    """The largest elements, or the sums, of windows over each channel of x [N, C, axes...]."""
    result = k.temporary(x.dtype, (*x.shape[:2], *(axis.count for axis in tracks)))
    source, zero = k.address(x), k.const(0)
    numbers = numbers_of(k, [dims.product(x.shape[:2])]) + windows_of(k, tracks)
    with when_windows(k, [axis.count for axis in tracks]):
        target = result, tuple(zero for _ in result.shape)
        k.call("window_maxima" if largest else "window_sums", [target, source], numbers)
    return k.view_of(result)
