"""Interpolate read."""

from __future__ import annotations

from dataclasses import replace

from whorl.errors import LoadError, UnsupportedError
from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import cast, emit, integers_of, length_of, like, listed
from whorl.formats.openvino.ops.resize_nodes import Axis, Resampler, scalar
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Div, Floor, Mul
from whorl.ops.image.resampling import ROUNDINGS, Filter
from whorl.ops.image.resize import Resize
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Shape

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


def _resized(node: IrNode, build: Builder, given: Value, by_sizes: bool, axes: tuple[int, ...] | None) -> list[Value]:
    """The CPU plugin widens its filter in the modes of Pillow alone, whatever `antialias` says."""
    x, mode = _padded(node, build, node.required(0)), node.text("mode", choices=tuple(MODES))
    coordinates = node.text("coordinate_transformation_mode", "half_pixel", (*COORDINATES, _WITHOUT_SHIFT))
    rounding = node.text("nearest_mode", "round_prefer_floor", (*ROUNDINGS, "simple"))
    given = listed(build, given) if by_sizes else cast(build, given, FLOAT32)
    is_pillow = mode.endswith("_pillow")
    if not by_sizes and (is_pillow or coordinates == "align_corners"):
        given, by_sizes = _sizes(build, x, given, axes), True
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
        return [_written_out(node, build, op, x, given, by_sizes)]
    op = replace(op, nearest_mode=rounding if mode == "nearest" else "floor")
    return emit(node, build, op, x, None, *((None, given) if by_sizes else (given,)))


def _sizes(build: Builder, x: Value, scales: Value, axes: tuple[int, ...] | None) -> Value:
    """The whole lengths that scales give."""
    lengths = build.add(Shape(), x)
    lengths = lengths if axes is None else build.add(Gather(0), lengths, build.int64(*axes))
    return cast(build, build.add(Floor(), build.add(Mul(), cast(build, lengths, FLOAT32), scales)), INT64)


def _written_out(node: IrNode, build: Builder, op: Resize, x: Value, given: Value, by_sizes: bool) -> Value:
    """What the hub's op has no name for, as nodes."""
    axes = op.axes if op.axes is not None else tuple(range(length_of(given) or 0))
    resampler, shape = Resampler(build), build.add(Shape(), x)
    kernel = Filter(op.mode == "cubic", op.cubic_coeff_a)
    if op.antialias or (op.mode != "nearest" and tensor(x).rank is None):
        raise UnsupportedError(f"interpolates by {_WITHOUT_SHIFT} in a way that has no form", node.title)
    for k, index in enumerate(axes):
        length, asked = scalar(build, shape, index), scalar(build, given, k)
        scale = build.add(Div(), asked, length) if by_sizes else asked
        count = asked if by_sizes else build.add(Floor(), build.add(Mul(), length, scale))
        axis = Axis(index % (tensor(x).rank or 1 << 30), length, count, scale, count)
        places = resampler.places(axis, op.coordinate_transformation_mode)
        if op.mode == "nearest":
            x = resampler.nearest(x, axis, places, op.nearest_mode)
        else:
            x = resampler.weighed(x, axis, places, kernel)
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
