"""Native forms of convolutions by 3 x 3 taps around every element, by filters that were transformed."""

from __future__ import annotations

from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import View, fixed
from whorl.kernels.winograd.layout import POINTS
from whorl.kernels.winograd.meaning import working_extents
from whorl.ops.windows.native_results import Ending, Result, limits_of, moved


def winograd_convolution(k: NativeBuilder, x: View, filters: View, bias: View, features: int, ending: Ending) -> View:
    """Windows around all elements of x [N, C, rows, columns] times filters [group, features / group * 16 * C / group].

    `bias` has an element a feature.
    """
    batch, channels, group = x.shape[0], fixed(x.shape[1]), fixed(filters.shape[0])
    rows, columns = map(fixed, x.shape[2:])
    depth, each, dtype = channels // group, features // group, x.dtype
    result = Result.of(k, dtype, (batch, features, rows, columns), ending)
    source, packed, term = k.address(x), k.address(filters), k.address(bias)
    limits = limits_of(k, dtype, ending) or term
    zero, numbers = k.const(0), (each, depth, int(ending.bounds is not None), rows, columns)
    patches, planes = (k.temporary(dtype, (n,)) for n in working_extents(depth, rows, columns, dtype))
    name = "winograd_convolution" if ending.added is None else "winograd_convolution_sum"
    with k.loop(batch) as n, k.loop(group) as g:
        channel = k.add(k.mul(n, k.const(channels)), k.mul(g, k.const(depth)))
        image = moved(k, source, k.mul(channel, k.const(rows * columns)))
        first = k.mul(g, k.const(each))
        own = moved(k, packed, k.mul(g, k.const(each * depth * POINTS)))
        memory = [result.address(n, first), (patches, (zero,)), (planes, (zero,))]
        operands = [*memory, image, own, moved(k, term, first), limits, *result.added(n, first)]
        k.call(name, operands, numbers)
    return result.view()
