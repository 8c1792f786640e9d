"""Resize and Interpolate: one layer where both mean the same, else weighed sums of gathered elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from whorl.errors import LoadError, SaveError, UnsupportedError
from whorl.formats.openvino.ops.image.resize_axis import Axis, Resampler, scalar
from whorl.formats.openvino.ops.nodes import cast, emit, integers_of, length_of, like, listed
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.layers import ranked
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.dtypes import FLOAT32, INT64, is_float, is_integer
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.core.writer import Writer
from whorl.ops.elementwise.arithmetic import Add, Clip, Div, Floor, Max, Min, Mul, Round
from whorl.ops.elementwise.comparison import Less, Where
from whorl.ops.elementwise.logic import Or
from whorl.ops.image.resampling import ROUNDINGS, AxisResize, Filter, pick
from whorl.ops.image.resize import Resize
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Reshape, Shape

MODES = {
    "nearest": "nearest",
    "linear": "linear",
    "linear_onnx": "linear",
    "cubic": "cubic",
    "bilinear_pillow": "linear",
    "bicubic_pillow": "cubic",
}
COORDINATES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
_WITHOUT_SHIFT = "tf_half_pixel_for_nn"


def _axes(node: IrNode, index: int) -> tuple[int, ...] | None:
    """The axes of an input that is a constant, all where there is none."""
    value = node.input(index)
    if value is None:
        return None
    axes = integers_of(value)
    if axes is None:
        raise LoadError("has axes that are computed", node.title, "make them a constant")
    return tuple(axes)


def _padded(node: IrNode, build: Builder, x: Value) -> Value:
    """x with zeros around it."""
    begins, ends = node.integers("pads_begin", (0,)), node.integers("pads_end", (0,))
    if not any(begins) and not any(ends):
        return x
    rank = tensor(x).rank or max(len(begins), len(ends))
    pads = [*begins, *(0,) * (rank - len(begins)), *ends, *(0,) * (rank - len(ends))]
    return build.add(Pad(), x, build.int64(*pads), like(build, x, 0))


@importer("Interpolate", 4)
def interpolate_4(node: IrNode, build: Builder) -> list[Value]:
    sizes, scales = node.required(1), node.required(2)
    by_sizes = node.text("shape_calculation_mode", choices=("sizes", "scales")) == "sizes"
    return _resized(node, build, sizes if by_sizes else scales, by_sizes, _axes(node, 3))


@importer("Interpolate", 11)
def interpolate_11(node: IrNode, build: Builder) -> list[Value]:
    by_sizes = node.text("shape_calculation_mode", choices=("sizes", "scales")) == "sizes"
    return _resized(node, build, node.required(1), by_sizes, _axes(node, 2))


def _resized(node: IrNode, build: Builder, extents: Value, by_sizes: bool, axes: tuple[int, ...] | None) -> list[Value]:
    """The CPU plugin widens its filter in the modes of Pillow alone, whatever `antialias` is."""
    x, mode = _padded(node, build, node.required(0)), node.text("mode", choices=tuple(MODES))
    coordinates = node.text("coordinate_transformation_mode", "half_pixel", (*COORDINATES, _WITHOUT_SHIFT))
    rounding = node.text("nearest_mode", "round_prefer_floor", (*ROUNDINGS, "simple"))
    extents = listed(build, extents) if by_sizes else cast(build, extents, FLOAT32)
    is_pillow = mode.endswith("_pillow")
    if not by_sizes and (is_pillow or coordinates == "align_corners"):
        extents, by_sizes = _sizes(build, x, extents, axes), True
    op = Resize(
        antialias=int(is_pillow),
        axes=axes,
        coordinate_transformation_mode=coordinates,
        cubic_coeff_a=-0.5 if is_pillow else node.number("cube_coeff", -0.75),
        exclude_outside=int(is_pillow),
        mode=MODES[mode],
        nearest_mode=rounding,
    )
    if coordinates == _WITHOUT_SHIFT or (rounding == "simple" and mode == "nearest"):
        return [_written_out(node, build, op, x, extents, by_sizes)]
    op = replace(op, nearest_mode=rounding if mode == "nearest" else "floor")
    return emit(node, build, op, x, None, *((None, extents) if by_sizes else (extents,)))


def _sizes(build: Builder, x: Value, scales: Value, axes: tuple[int, ...] | None) -> Value:
    """The whole lengths that scales give."""
    lengths = build.add(Shape(), x)
    lengths = lengths if axes is None else build.add(Gather(0), lengths, build.int64(*axes))
    return cast(build, build.add(Floor(), build.add(Mul(), cast(build, lengths, FLOAT32), scales)), INT64)


def _written_out(node: IrNode, build: Builder, op: Resize, x: Value, extents: Value, by_sizes: bool) -> Value:
    """What the hub's op has no name for, as nodes."""
    axes = op.axes if op.axes is not None else tuple(range(length_of(extents) or 0))
    resampler, shape = Resampler(build), build.add(Shape(), x)
    kernel = Filter(op.mode == "cubic", op.cubic_coeff_a)
    if op.antialias or (op.mode != "nearest" and tensor(x).rank is None):
        raise UnsupportedError(f"interpolates by {_WITHOUT_SHIFT} in a way that has no form", node.title)
    for k, index in enumerate(axes):
        length, requested = scalar(build, shape, index), scalar(build, extents, k)
        scale = build.add(Div(), requested, length) if by_sizes else requested
        count = requested if by_sizes else build.add(Floor(), build.add(Mul(), length, scale))
        axis = Axis(index % (tensor(x).rank or 1 << 30), length, count, scale, count)
        points = resampler.coordinates(axis, op.coordinate_transformation_mode)
        if op.mode == "nearest":
            x = resampler.nearest(x, axis, points, op.nearest_mode)
        else:
            x = resampler.weighed(x, axis, points, kernel)
    return x


@importer("Interpolate", 1)
def interpolate_1(node: IrNode, build: Builder) -> list[Value]:
    """Corners are aligned, or elements are as wide as what they show."""
    x, mode = _padded(node, build, node.required(0)), node.text("mode", choices=("nearest", "linear", "cubic"))
    axes, sizes = node.integers("axes"), listed(build, node.required(1))
    coordinates = "align_corners" if node.flag("align_corners", True) else "asymmetric"
    op = Resize(axes=axes, coordinate_transformation_mode=coordinates, mode=mode, nearest_mode="simple")
    if mode == "nearest":
        return [_written_out(node, build, op, x, sizes, True)]
    return emit(node, build, replace(op, nearest_mode="floor"), x, None, None, sizes)


_NAMES = {"nearest": "nearest", "linear": "linear_onnx", "cubic": "cubic"}


@exporter(Resize)
def resize(op: Resize, node: Node, write: NetWriter) -> list[Source]:
    x = node.inputs[0]
    assert x is not None
    shape = ranked(x, "the input")
    roi, scales, sizes = (_unless_empty(value) for value in (*node.inputs, None, None)[1:4])
    axes = [axis % len(shape) for axis in (range(len(shape)) if op.axes is None else op.axes)]
    known = [None if value is None else write.constant_value(value) for value in (roi, scales, sizes)]
    is_known = all(array is not None for array, value in zip(known, (roi, scales, sizes), strict=True) if value)
    target = ranked(node.outputs[0], "the result")
    resamplings = None
    if is_known and all(isinstance(dim, int) for dim in (*shape, *target)):
        resamplings = op.axis_resizes(shape, target, *known)  # type: ignore[arg-type]
    requested = _image_axes(shape, axes, known[1], known[2])
    if requested is None and sorted(axes) == [2, 3]:
        requested = dict(zip(axes, (None, None), strict=True))
    if requested and _is_native(op, x, scales is not None) and (resamplings is None or _is_steady(op, resamplings)):
        return [_interpolated(node, write, requested, scales, sizes)]
    if resamplings is not None:
        return write.through(node, lambda build, value, *_: _Fixed(op, build).resized(value, resamplings))
    if op.antialias:
        raise SaveError("widens its filter by lengths that are not known", fix="antialias 0, or fixed lengths")
    return write.through(node, lambda build, *inputs: _Open(op, build, axes).resized(*inputs))


def _unless_empty(value: Value | None) -> Value | None:
    """An input, unless it is an empty one that stands for none."""
    if value is None:
        return None
    shape = tensor(value).shape
    return None if shape == (0,) else value


def _image_axes(
    shape: Sequence[Dim], axes: Sequence[int], scales: np.ndarray | None, sizes: np.ndarray | None
) -> Mapping[int, Dim | float | None] | None:
    """Rows and columns with their requested sizes or scales, where all other axes are known to be unchanged."""
    extents = scales if scales is not None else sizes
    if extents is None:
        return None
    requested: dict[int, Dim | float | None] = {axis: value.item() for axis, value in zip(axes, extents, strict=True)}
    for axis in (2, 3):
        requested.setdefault(axis, 1.0 if scales is not None else shape[axis] if axis < len(shape) else 0)
    unchanged = [
        value == (1.0 if scales is not None else shape[axis]) for axis, value in requested.items() if axis not in (2, 3)
    ]
    return {axis: requested[axis] for axis in (2, 3)} if all(unchanged) else None


def _is_native(op: Resize, x: Value, has_scales: bool) -> bool:
    """Whether Interpolate means the same; of a scale it makes a whole length before it aligns corners."""
    if op.coordinate_transformation_mode not in COORDINATES or op.keep_aspect_ratio_policy != "stretch":
        return False
    if has_scales and op.coordinate_transformation_mode in ("align_corners", "pytorch_half_pixel"):
        return False
    if op.antialias or op.exclude_outside or tensor(x).dtype != FLOAT32:
        return False
    return tensor(x).rank == 4


def _is_steady(op: Resize, resamplings: dict[int, AxisResize]) -> bool:
    """Whether the nearest elements are the same in float32 arithmetic, however it divides by the scale."""
    if op.mode != "nearest":
        return True
    coordinates, rounding = op.coordinate_transformation_mode, op.nearest_mode
    for resampling in resamplings.values():
        chosen = pick(np.arange(resampling.length), 0, resampling, coordinates, rounding)
        for points in _coordinates_in_float32(resampling, coordinates):
            if not np.array_equal(chosen, np.clip(ROUNDINGS[rounding](points), 0, resampling.length - 1)):
                return False
    return True


def _coordinates_in_float32(resampling: AxisResize, coordinates: str) -> list[np.ndarray]:
    x, one, scale = np.arange(resampling.count, dtype=FLOAT32), np.float32(1), np.float32(resampling.factor)
    if coordinates == "align_corners":
        last, wide = np.float32(resampling.length - 1), np.float32(max(1, resampling.count - 1))
        return [x * (last / wide), x * last / wide]
    shift = np.float32(0 if coordinates == "asymmetric" else 0.5)
    points = [(x + shift) / scale - shift, (x + shift) * (one / scale) - shift]
    return [p * 0 for p in points] if coordinates == "pytorch_half_pixel" and resampling.count == 1 else points


def _interpolated(
    node: Node,
    write: NetWriter,
    requested: Mapping[int, Dim | float | None],
    scales: Value | None,
    sizes: Value | None,
) -> Source:
    op, extents = node.op, scales or sizes
    assert isinstance(op, Resize) and extents is not None
    attributes = {
        "mode": _NAMES[op.mode],
        "shape_calculation_mode": "sizes" if scales is None else "scales",
        "coordinate_transformation_mode": op.coordinate_transformation_mode,
        "nearest_mode": op.nearest_mode,
        "antialias": False,
        "pads_begin": (0,) * 4,
        "pads_end": (0,) * 4,
        "cube_coeff": float(op.cubic_coeff_a),
    }
    values = list(requested.values())
    numbers = write.source(extents) if None in values else write.constant(np.array(values, tensor(extents).dtype))
    inputs = [write.source(node.inputs[0]), numbers, write.constant(np.array(list(requested), np.int64))]
    return write.layer("Interpolate", 11, inputs, [tensor(node.outputs[0])], node.name, **attributes)[0]


class _Resizing:
    """What is done before and after the axes: small and whole numbers are interpolated as float32."""

    def __init__(self, op: Resize, build: Builder) -> None:
        self.op, self.build, self.write = op, build, Writer(build)
        self.kernel = Filter(op.mode == "cubic", op.cubic_coeff_a, bool(op.antialias), bool(op.exclude_outside))

    def widened(self, x: Value) -> Value:
        return x if self.op.mode == "nearest" else self.write.cast(x, FLOAT32)

    def rounded(self, y: Value, dtype: np.dtype) -> Value:
        if tensor(y).dtype == dtype or is_float(dtype):
            return self.write.cast(y, dtype)
        if not is_integer(dtype):
            raise SaveError("interpolates what is no number", fix="mode nearest")
        limits = np.iinfo(dtype)
        low, high = (self.write.number(float(n), FLOAT32) for n in (limits.min, limits.max))
        return self.write.cast(self.build.add(Clip(), self.build.add(Round(), y), low, high), dtype)

    def extrapolated(self, y: Value, outside: Value) -> Value:
        """y with the elements outside replaced."""
        value = np.array(self.op.extrapolation_value).astype(tensor(y).dtype)
        return self.build.add(Where(), outside, self.build.constant(value), y)


class _Fixed(_Resizing):
    """Known lengths: which elements are taken, and their weights, are constants."""

    def resized(self, x: Value, resamplings: dict[int, AxisResize]) -> Value:
        op, rank = self.op, len(ranked(x, "the input"))
        mode, y = op.coordinate_transformation_mode, self.widened(x)
        changing = {axis: s for axis, s in resamplings.items() if not s.is_identity(mode)}
        for axis, resampling in changing.items():
            y = self._nearest(y, axis, resampling) if op.mode == "nearest" else self._weighed(y, axis, resampling)
        y = self.rounded(y, tensor(x).dtype)
        outside = np.zeros((1,) * rank, np.bool_)
        for axis, resampling in changing.items():
            outside = outside | resampling.outside(mode).reshape(-1, *(1,) * (rank - axis - 1))
        return self.extrapolated(y, self.build.constant(outside)) if outside.any() else y

    def _taken(self, x: Value, axis: int, elements: np.ndarray) -> Value:
        return self.build.add(Gather(axis), x, self.build.constant(elements.astype(np.int64)))

    def _nearest(self, x: Value, axis: int, resampling: AxisResize) -> Value:
        op, points = self.op, np.arange(resampling.length)
        return self._taken(x, axis, pick(points, 0, resampling, op.coordinate_transformation_mode, op.nearest_mode))

    def _weighed(self, x: Value, axis: int, resampling: AxisResize) -> Value:
        column = (-1, *(1,) * (len(ranked(x, "the input")) - axis - 1))
        total: Value | None = None
        for chosen, weight in zip(*self.kernel.taps(resampling, self.op.coordinate_transformation_mode), strict=True):
            factor = self.build.constant(weight.astype(FLOAT32).reshape(column))
            part = self.write.mul(self._taken(x, axis, chosen), factor)
            total = part if total is None else self.write.add(total, part)
        assert total is not None
        return total


class _Open(_Resizing):
    """Lengths that only the run knows."""

    def __init__(self, op: Resize, build: Builder, axes: Sequence[int]) -> None:
        super().__init__(op, build)
        self.axes = axes

    def resized(
        self, x: Value, roi: Value | None = None, scales: Value | None = None, sizes: Value | None = None
    ) -> Value:
        op, y, resampler = self.op, self.widened(x), Resampler(self.build)
        axes = self._axes(x, roi, _unless_empty(scales), _unless_empty(sizes))
        outside: Value | None = None
        for axis in axes:
            points = resampler.coordinates(axis, op.coordinate_transformation_mode)
            if op.mode == "nearest":
                y = resampler.nearest(y, axis, points, op.nearest_mode)
            else:
                y = resampler.weighed(y, axis, points, self.kernel)
            if op.coordinate_transformation_mode == "tf_crop_and_resize":
                beyond = self._outside(axis, points, len(ranked(x, "the input")))
                outside = beyond if outside is None else self.build.add(Or(), outside, beyond)
        y = self.rounded(y, tensor(x).dtype)
        return y if outside is None else self.extrapolated(y, outside)

    def _outside(self, axis: Axis, points: Value, rank: int) -> Value:
        """Where elements lie outside the axis, shaped to broadcast."""
        column = self.build.add(Reshape(), points, self.build.int64(-1, *(1,) * (rank - axis.index - 1)))
        last = self.write.sub(axis.length, self.write.number(1, FLOAT32))
        low = self.build.add(Less(), column, self.write.number(0, FLOAT32))
        return self.build.add(Or(), low, self.build.add(Less(), last, column))

    def _axes(self, x: Value, roi: Value | None, scales: Value | None, sizes: Value | None) -> list[Axis]:
        shape = self.build.add(Shape(), x)
        lengths = [scalar(self.build, shape, axis) for axis in self.axes]
        if sizes is not None:
            counts = [scalar(self.build, sizes, k) for k in range(len(lengths))]
            factors = [self.build.add(Div(), count, length) for count, length in zip(counts, lengths, strict=True)]
            resized = counts
            if self.op.keep_aspect_ratio_policy != "stretch":
                factors = [self._common(factors)] * len(lengths)
                resized = [self.write.mul(f, length) for f, length in zip(factors, lengths, strict=True)]
                half = self.write.number(0.5, FLOAT32)
                counts = [self.build.add(Floor(), self.build.add(Add(), length, half)) for length in resized]
        else:
            assert scales is not None
            factors = [scalar(self.build, scales, k) for k in range(len(lengths))]
            resized = [self.write.mul(f, length) for f, length in zip(factors, lengths, strict=True)]
            counts = [self.build.add(Floor(), length) for length in resized]
        rows = zip(self.axes, lengths, counts, factors, resized, strict=True)
        return [Axis(*row, self._part(roi, k)) for k, row in enumerate(rows)]

    def _common(self, factors: Sequence[Value]) -> Value:
        """The one scale of a policy that keeps the aspect ratio."""
        op = Min() if self.op.keep_aspect_ratio_policy == "not_larger" else Max()
        return self.build.add_many(op, factors, ["scale"])[0]

    def _part(self, roi: Value | None, k: int) -> tuple[Value, Value] | None:
        if roi is None or self.op.coordinate_transformation_mode != "tf_crop_and_resize":
            return None
        return scalar(self.build, roi, k), scalar(self.build, roi, k + len(self.axes))
