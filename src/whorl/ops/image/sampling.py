"""Reading an image at fractional positions: the sampling grid of an affine map, and sampling by a grid."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import COMPLEX, FLOAT64, FLOATS, INT64, STRING, is_float
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import UNRANKED, Fact, TensorType, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    check_types,
    dims_of,
    known_dims,
    known_length,
    require_dtype,
    unify_lengths,
    widen,
)
from whorl.ops.image.native_sampling import FAR, Sampling, element_positions
from whorl.ops.image.resampling import Filter, real_dtype
from whorl.ops.native.index_maps import cast_view, lengths, widen_view
from whorl.ops.native.run_time_lengths import read_lengths
from whorl.ops.windows.geometry import spatial_rank


class GridSample(Op, frozen=True):
    """Y[n, c, o] is X[n, c] interpolated at grid[n, o], where -1 and 1 are the ends of an axis of X.

    X [N, C, axes...], grid [N, lengths..., rank] with the last axis of X first, Y [N, C, lengths...]. The ends are the
    centres of the outer elements with `align_corners`, else their outer edges. Outside X are zeros, its border, or its
    reflection at the ends. A position that is NaN lies far before the axis. 16-bit floats are computed in float32,
    integers in float64 and then truncated. Source: ONNX GridSample-22.
    """

    any_length = True

    align_corners: int = 0
    mode: str = "linear"
    padding_mode: str = "zeros"

    def infer(self, x: Fact, grid: Fact) -> TensorType:
        dtype = tensor(x).dtype
        require_dtype(tensor(grid).dtype, COMPUTED_FLOATS)
        self._check_attributes(dtype)
        rank = spatial_rank(x, grid)
        if rank is None:
            return TensorType(dtype, UNRANKED)
        batch, channels, *_ = dims_of(x, rank + 2, "X")
        rows, *lengths, width = dims_of(grid, rank + 2, "grid")
        unify_lengths("the last axis of grid", rank, width)
        return TensorType(dtype, (unify_lengths("the batch", batch, rows), channels, *lengths))

    def _check_attributes(self, dtype: np.dtype) -> None:
        allowed = {"mode": ("linear", "nearest", "cubic"), "padding_mode": ("zeros", "border", "reflection")}
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise TypeRuleError(f"{name} is {getattr(self, name)!r}", fix=f"one of {', '.join(values)}")
        if dtype == STRING and self.mode != "nearest":
            raise TypeRuleError(f"cannot interpolate strings with mode {self.mode}", fix="mode nearest")

    def run(self, x: np.ndarray, grid: np.ndarray) -> np.ndarray:
        check_types(self, x, grid)
        exact = self.mode == "nearest"
        image = x if exact else widen(x) if x.dtype in FLOATS | COMPLEX else x.astype(FLOAT64)
        y = np.empty((len(x), x.shape[1], *grid.shape[1:-1]), image.dtype)
        for picture, positions, result in zip(image, widen(grid), y, strict=True):
            axes = zip(picture.shape[1:], np.moveaxis(positions, -1, 0)[::-1], strict=True)
            taps = [self._taps(length, position.reshape(-1)) for length, position in axes]
            result[...] = weighted(picture, taps).reshape(result.shape)
        return y.astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, grid = inputs
        exact = self.mode == "nearest"
        wide = x if exact else widen_view(k, x) if is_float(x.dtype) else cast_view(k, x, FLOAT64)
        sampling = Sampling(k, self.mode, self.padding_mode, bool(self.align_corners))
        y = sampling.sampled(k.materialise(wide), k.materialise_reread(widen_view(k, grid)))
        return None if y is None else [cast_view(k, y, x.dtype)]

    def _taps(self, length: int, normalised: np.ndarray) -> Taps:
        """The elements along one axis that each position reads, and their weights."""
        if self.align_corners:
            low, high, position = 0.0, length - 1.0, (normalised + 1) / 2 * (length - 1)
        else:
            low, high, position = -0.5, length - 0.5, ((normalised + 1) * length - 1) / 2
        position = within_reach(position)
        position = np.rint(position) if self.mode == "nearest" else position
        if self.padding_mode == "reflection":
            position = np.where((position < low) | (position > high), reflected(position, low, high), position)
        elements, weights = spread(position, self.mode)
        if self.padding_mode == "zeros":
            return elements, weights, length
        if self.padding_mode == "reflection":
            elements = np.where((elements < low) | (elements > high), reflected(elements, low, high), elements)
        return np.clip(elements, 0, length - 1), weights, length


Taps = tuple[np.ndarray, np.ndarray, int]
"""Elements (whole, maybe outside the axis) and weights along an axis, both [taps, positions]; the axis length."""


def spread(position: np.ndarray, mode: str) -> tuple[np.ndarray, np.ndarray]:
    """The elements around each position and their weights, both [taps, positions]."""
    if mode == "nearest":
        return position[None], np.ones_like(position)[None]
    reach = 2 if mode == "cubic" else 1
    elements = np.floor(position) + np.arange(1 - reach, 1 + reach, dtype=position.dtype)[:, None]
    return elements, Filter(mode == "cubic").weigh(elements - position).astype(position.dtype)


def reflected(position: np.ndarray, low: float, high: float) -> np.ndarray:
    """The position thrown back at both ends until it is between them."""
    width = high - low
    if width <= 0:
        return np.full_like(position, low)
    turn = np.mod(position - low, 2 * width)
    return (low + np.minimum(turn, 2 * width - turn)).astype(position.dtype)


def within_reach(positions: np.ndarray) -> np.ndarray:
    """Places held inside [-FAR, FAR]; one that is NaN lies far before the axis."""
    return np.clip(np.where(np.isnan(positions), -FAR, positions), -FAR, FAR)


def weighted(image: np.ndarray, axes: Sequence[Taps]) -> np.ndarray:
    """Image [C, axes...] -> [C, positions]: the weighted sum of the elements that the taps of all axes cross at.

    Elements outside the image count as 0. With a single tap the element itself is given, of any type.
    """
    flat = image.reshape(len(image), math.prod(image.shape[1:]))
    total: np.ndarray | None = None
    for crossing in itertools.product(*(range(len(elements)) for elements, _, _ in axes)):
        index, inside, weight = np.zeros(1, np.intp), np.ones(1, np.bool_), np.ones(1, np.float32)
        for tap, (elements, weights, length) in zip(crossing, axes, strict=True):
            chosen = elements[tap]
            inside = inside & (chosen >= 0) & (chosen < length)
            index = index * length + np.clip(chosen, 0, max(0, length - 1)).astype(np.intp)
            weight = weight * weights[tap]
        values = _inside(flat, index, inside)
        if all(len(elements) == 1 for elements, _, _ in axes):
            return values
        term = values * weight.astype(real_dtype(image.dtype))
        total = term if total is None else total + term
    return flat if total is None else total


def _inside(flat: np.ndarray, index: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The elements at the positions inside, and zero (an empty string) elsewhere."""
    zero = "" if flat.dtype == STRING else np.zeros((), flat.dtype)
    if not flat.shape[1]:
        return np.full((len(flat), len(index)), zero, flat.dtype)
    return np.where(inside, flat[:, index], zero).astype(flat.dtype, copy=False)


class AffineGrid(Op, frozen=True):
    """grid[n, position] = theta[n] applied to (x, y, 1) or (x, y, z, 1); x runs from -1 to 1 over the last axis.

    Inputs: theta [N, 2, 3] or [N, 3, 4], size [N, C, (D,) H, W]; output [N, (D,) H, W, 2 or 3]. The ends are element
    centres with `align_corners`, else outer edges. 16-bit floats are computed in float32. Source: ONNX AffineGrid-20.
    """

    any_length = True

    align_corners: int = 0

    def infer(self, theta: Fact, size: Fact) -> TensorType:
        dtype = tensor(theta).dtype
        require_dtype(dtype, COMPUTED_FLOATS)
        require_dtype(tensor(size).dtype, frozenset((INT64,)))
        batch, height, width = dims_of(theta, 3, "theta")
        entries = known_length(size)
        rank = height if isinstance(height, int) else None if entries is None else entries - 2
        if rank is None:
            return TensorType(dtype, UNRANKED)
        if rank not in (2, 3):
            raise TypeRuleError(f"theta has {rank} rows, expected 2 or 3")
        unify_lengths("the number of columns of theta", rank + 1, width)
        unify_lengths("the length of size", rank + 2, UNKNOWN if entries is None else entries)
        lengths = known_dims(size) or (UNKNOWN,) * (rank + 2)
        return TensorType(dtype, (unify_lengths("the batch", batch, lengths[0]), *lengths[2:], rank))

    def run(self, theta: np.ndarray, size: np.ndarray) -> np.ndarray:
        check_types(self, theta, size)
        dtype = accumulator(theta.dtype)
        axes = [self._axis_positions(length) for length in size[2:].tolist()]
        positions = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(tuple(map(len, axes)))], axis=-1)
        grid = np.einsum("nij,...j->n...i", theta.astype(dtype, copy=False), positions.astype(dtype))
        return grid.astype(theta.dtype, copy=False)

    def _axis_positions(self, length: int) -> np.ndarray:
        """The positions of the elements of an axis; the middle of a single one."""
        if length == 1:
            return np.zeros(1)
        ends = np.linspace(-1, 1, length)
        return ends if self.align_corners else ends * (length - 1) / length

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        theta, size = widen_view(k, inputs[0]), inputs[1]
        if theta.shape[1:] not in ((2, 3), (3, 4)) or size.shape != (theta.shape[1] + 2,):
            return None
        shape = read_lengths(k, size, (theta.shape[0], UNKNOWN, *lengths(outputs[0])[1:-1]))
        axes = [element_positions(k, n, theta.dtype, bool(self.align_corners)) for n in shape[2:]]
        source = k.materialise_reread(theta)

        def at(index: Index) -> Expr:
            batch, *spots, row = index
            coordinates = [axis.at((i,)) for axis, i in zip(axes, spots, strict=True)][::-1]
            total = k.mul(source.at((batch, row, k.const(0))), coordinates[0])
            for column, coordinate in enumerate(coordinates[1:], 1):
                total = k.add(total, k.mul(source.at((batch, row, k.const(column))), coordinate))
            return k.add(total, source.at((batch, row, k.const(len(coordinates)))))

        full = (theta.shape[0], *shape[2:], theta.shape[1])
        return [cast_view(k, k.view(theta.dtype, full, at, 12), inputs[0].dtype)]
