"""Fourier transforms read: one hub node for each axis."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import cast, emit, integers_of
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Value
from whorl.ops.elementwise.arithmetic import Div, Sub
from whorl.ops.movement.axes import Concat, Transpose
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Reshape, Shape, Squeeze, Unsqueeze
from whorl.ops.signal.fourier import DFT, STFT


def _axes(node: IrNode) -> list[tuple[int, int | None]]:
    """Axes with the lengths of their transforms, None for the axis' own; negative ones count the parts as well."""
    axes, sizes = integers_of(node.required(1)), node.input(2)
    lengths = None if sizes is None else integers_of(sizes)
    if axes is None or (sizes is not None and lengths is None):
        raise LoadError("has axes or sizes that are computed", node.title, "make them constants")
    found = [None if n < 0 else n for n in lengths or ()] or [None] * len(axes)
    return [(axis if axis >= 0 else axis - 1, n) for axis, n in zip(axes, found, strict=True)]


def _transformed(build: Builder, op: DFT, x: Value, axis: int, length: int | None) -> Value:
    size = None if length is None else build.constant(np.array(length, np.int64))
    return build.add(op, x, size, build.constant(np.array(axis, np.int64)))


@importer("DFT", 7)
@importer("IDFT", 7)
def dft_7(node: IrNode, build: Builder) -> list[Value]:
    x, op = node.required(0), DFT(inverse=int(node.type.lower() == "idft"))
    for axis, length in _axes(node):
        x = _transformed(build, op, x, axis, length)
    return [x]


@importer("RDFT", 9)
def rdft_9(node: IrNode, build: Builder) -> list[Value]:
    """The last axis of the list is the one whose spectrum is cut in half."""
    *others, last = _axes(node)
    x = build.add(Unsqueeze(), node.required(0), build.int64(-1))
    x = _transformed(build, DFT(onesided=1), x, *last)
    for axis, length in others:
        x = _transformed(build, DFT(), x, axis, length)
    return [x]


@importer("IRDFT", 9)
def irdft_9(node: IrNode, build: Builder) -> list[Value]:
    *others, last = _axes(node)
    x = node.required(0)
    for axis, length in others:
        x = _transformed(build, DFT(inverse=1), x, axis, length)
    return emit(node, build, Squeeze(), _transformed(build, DFT(inverse=1, onesided=1), x, *last), build.int64(-1))


@importer("STFT", 15)
def stft_15(node: IrNode, build: Builder) -> list[Value]:
    """A window that is shorter than a frame stands in its middle."""
    signal, window, size, step = (node.required(n) for n in range(4))
    length, shown = cast(build, size, INT64), build.add(Shape(), window)
    missing = build.add(Sub(), build.add(Reshape(), length, build.int64(1)), shown)
    before = build.add(Div(), missing, build.int64(2))
    pads = build.add_many(Concat(0), [before, build.add(Sub(), missing, before)], ["pads"])[0]
    framed = build.add(Pad(), window, pads)
    whole = build.add(Unsqueeze(), signal, build.int64(-1))
    y = build.add(STFT(), whole, cast(build, step, INT64), framed, length)
    if not node.flag("transpose_frames", False):
        return [y]
    return emit(node, build, Transpose((0, 2, 1, 3)), y)
