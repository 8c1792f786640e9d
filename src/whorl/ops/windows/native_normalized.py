"""Native forms of convolutions by one tap over channels that are normalized while windows are gathered."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from whorl.ir import dims
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import View, fixed
from whorl.kernels.machine import SAME_FEATURES, SAME_WINDOWS
from whorl.ops.windows.native_results import Ending, Result, limits_of, moved
from whorl.ops.windows.run_time_layout import Axis, fixed_axes


class Normalization(Struct, frozen=True):
    """`terms` [C, 3] are the centre of each channel, its factor, and what is added to the product.

    Then, if it `is_rectified`, numbers below 0 are 0.
    """

    terms: View
    is_rectified: bool


def takes_in_normalization(axes: Sequence[Axis], features: int) -> bool:
    """Whether windows are the elements themselves, and gathering them pays."""
    known = fixed_axes(axes)
    if known is None or features < SAME_FEATURES or math.prod(a.count for a in known) < SAME_WINDOWS:
        return False
    return all(a.kernel == a.stride == 1 and a.begin == 0 and a.count == a.length for a in known)


def normalized_convolution(
    k: NativeBuilder,
    x: View,
    filters: View,
    bias: View,
    features: int,
    normalization: Normalization,
    ending: Ending,
) -> View:
    """x [N, C, axes...], normalized, times filters in blocks [1, features * C]; `bias` has an element a feature."""
    batch, channels, dtype = x.shape[0], fixed(x.shape[1]), x.dtype
    windows = fixed(dims.product(x.shape[2:]))
    result = Result.of(k, dtype, (batch, features, *x.shape[2:]), ending)
    source, terms = k.address(x), k.address(normalization.terms)
    packed, term = k.address(filters), k.address(bias)
    limits, zero = limits_of(k, dtype, ending) or term, k.const(0)
    numbers = features, channels, int(ending.bounds is not None), int(normalization.is_rectified), windows
    name = "normalized_convolution" if ending.added is None else "normalized_convolution_sum"
    with k.loop(batch) as n:
        image = moved(k, source, k.mul(n, k.const(channels * windows)))
        operands = [result.address(n, zero), image, terms, packed, term, limits, *result.added(n, zero)]
        k.call(name, operands, numbers)
    return result.view()
