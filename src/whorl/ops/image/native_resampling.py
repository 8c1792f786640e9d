"""Native forms of resampling along an axis, on the views that a kernel builder `k` makes: nests over index tables."""

from __future__ import annotations

import numpy as np

from whorl.ir.dtypes import BOOL, FLOAT32, INT64, is_integer
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View, fixed
from whorl.ops.image.native_axes import RunAxis
from whorl.ops.image.resampling import ROUNDINGS, AxisResize, Filter
from whorl.ops.native.index_maps import clamp_index, embed_numbers, map_indices, replace_at

LONGEST = 1 << 13
"""The most numbers that a program writes into one table."""
EXACT_BITS = 32
"""Integers of so many bits are exact as float64."""


AnyAxis = AxisResize | RunAxis


def picked(k: NativeBuilder, x: View, index: int, axis: AnyAxis, mode: str, rounding: str) -> View:
    """Native form of `pick`: the nearest elements along one axis."""
    if isinstance(axis, RunAxis):
        chosen = axis.nearest(rounding)
    else:
        positions = axis.positions(mode, np.float32)
        nearest = ROUNDINGS[rounding](positions if axis.scale is None else positions.astype(np.float32))
        elements = np.clip(nearest, 0, axis.length - 1).astype(np.int64)
        chosen = embed_numbers(k, elements.tolist(), INT64, (axis.count,))
    shape = replace_at(x.shape, index, axis.count)
    return map_indices(k, x, shape, lambda at: replace_at(at, index, chosen.at((at[index],))), chosen.cost + 1)


def resampled(k: NativeBuilder, x: View, index: int, axis: AnyAxis, kernel: Filter, mode: str) -> View | None:
    """Native form of `resample`: one axis interpolated, kept in memory; None where it has too many taps for a table."""
    tables = axis.taps(kernel, x.dtype) if isinstance(axis, RunAxis) else _tables(k, axis, kernel, mode, x.dtype)
    if tables is None:
        return None
    chosen, factors = tables
    source = k.materialise_reread(x)
    unchanged = axis.is_unchanged() if isinstance(axis, RunAxis) else k.const(False, BOOL)

    def at(coordinates: Index) -> Expr:
        total = k.const(0, x.dtype)
        for tap in range(fixed(chosen.shape[0])):
            own = (k.const(tap), coordinates[index])
            total = k.add(total, k.mul(source.at(replace_at(coordinates, index, chosen.at(own))), factors.at(own)))
        same = replace_at(coordinates, index, clamp_index(k, coordinates[index], 0, source.shape[index] - 1))
        return k.select(unchanged, source.at(same), total)

    shape = replace_at(x.shape, index, axis.count)
    return k.materialise(k.view(x.dtype, shape, at, 4 * fixed(chosen.shape[0])))


def _tables(k: NativeBuilder, axis: AxisResize, kernel: Filter, mode: str, dtype: np.dtype) -> tuple[View, View] | None:
    """Input elements and their weights, both [taps, output elements], as numbers of the program."""
    elements, weights = kernel.taps(axis, mode)
    if elements.size > LONGEST:
        return None
    chosen = embed_numbers(k, elements.reshape(-1).tolist(), INT64, elements.shape)
    return chosen, embed_numbers(k, weights.astype(dtype).reshape(-1).tolist(), dtype, elements.shape)


def rounded_view(k: NativeBuilder, x: View, dtype: np.dtype) -> View:
    """Native form of `rounded`: interpolated numbers in an element type of at most 32 bits, or a float."""

    def convert(value: Expr) -> Expr:
        if dtype == BOOL:
            return k.compare("ne", k.apply("rint", value), k.const(0, value.dtype))
        if not is_integer(dtype):
            return k.cast(value, dtype)
        limits = np.iinfo(dtype)
        low, high = k.const(limits.min, value.dtype), k.const(limits.max, value.dtype)
        return k.cast(k.apply("min", k.apply("max", k.apply("rint", value), low), high), dtype)

    return k.view(dtype, x.shape, lambda index: convert(x.at(index)), x.cost + 4)


def extrapolated(k: NativeBuilder, x: View, outside: dict[int, View], value: float) -> View:
    """x with the elements replaced that lie outside along any axis."""
    if not outside:
        return x
    fill = k.const(np.array(value).astype(x.dtype).item(), x.dtype)

    def at(index: Index) -> Expr:
        chosen = k.const(False, BOOL)
        for axis, mask in outside.items():
            chosen = k.apply("or", chosen, mask.at((index[axis],)))
        return k.select(chosen, fill, x.at(index))

    return k.view(x.dtype, x.shape, at, x.cost + 3)


def outside_of(k: NativeBuilder, axes: dict[int, AnyAxis], mode: str) -> dict[int, View]:
    """For each axis, which output elements lie outside the input, if any may."""
    masks: dict[int, View] = {}
    for n, axis in axes.items():
        if isinstance(axis, RunAxis):
            view = axis.outside()
        else:
            mask = axis.outside(mode)
            view = embed_numbers(k, mask.tolist(), BOOL, mask.shape) if mask.any() else None
        if view is not None:
            masks[n] = view
    return masks


def numbers(view: View | None, dtype: np.dtype = FLOAT32) -> np.ndarray | None:
    """The elements of a small tensor, if all are known numbers."""
    if view is None or view.known is None or not all(isinstance(e, int | float) for e in view.known.flat):
        return None
    return np.array(view.known.tolist(), dtype)
