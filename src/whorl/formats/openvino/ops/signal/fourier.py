"""Fourier transforms: one hub node for each axis."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError, SaveError
from whorl.formats.openvino.ops.native_layer import NativeLayer
from whorl.formats.openvino.ops.nodes import cast, emit, integers_of
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import rewritten
from whorl.formats.openvino.writing.layers import ranked
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Value
from whorl.ir.types import TensorType, tensor
from whorl.ops.core.writer import Writer
from whorl.ops.elementwise.arithmetic import Add, Div, Mod, Sub
from whorl.ops.movement.axes import Concat, Slice, Transpose
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Squeeze, Unsqueeze
from whorl.ops.signal.fourier import DFT, STFT


def _axes(node: IrNode) -> list[tuple[int, int | None]]:
    """Axes with the lengths of their transforms, None for the axis' own; negative ones count the parts as well."""
    axes, sizes = integers_of(node.required(1)), node.input(2)
    lengths = None if sizes is None else integers_of(sizes)
    if axes is None or (sizes is not None and lengths is None):
        raise LoadError("has axes or sizes that are computed", node.title, "make them constants")
    own_lengths = [None if n < 0 else n for n in lengths or ()] or [None] * len(axes)
    return [(axis if axis >= 0 else axis - 1, n) for axis, n in zip(axes, own_lengths, strict=True)]


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


@rewritten(DFT)
def dft(op: DFT, build: Builder, x: Value, dft_length: Value | None = None, axis: Value | None = None) -> Value:
    """RDFT and IRDFT take and give real tensors without the axis of parts, the others complex ones."""
    write, shape = Writer(build), ranked(x, "the input")
    rank, parts = len(shape), shape[-1]
    if parts not in (1, 2):
        raise SaveError(f"transforms {x.type}, whose last axis may hold one part or two", fix="declare the shape")
    axis_row = _row(build, _axis_index(build, axis, rank))
    inputs = [axis_row]
    if dft_length is not None:
        inputs.append(_row(build, write.cast(dft_length, np.dtype(INT64))))
    result = op.infer(x, dft_length, axis)
    is_open = axis is not None and axis.known is None
    if op.onesided and is_open:
        return _first_half(op, build, x, inputs)
    if op.onesided and not op.inverse:
        real = build.add(Squeeze(), x, build.int64(-1))
        return build.add(NativeLayer("RDFT", 9, (result,)), real, *inputs)
    data = x if parts == 2 else build.add_many(Concat(-1), [x, write.sub(x, x)], ["complex"])[0]
    if not op.onesided:
        return build.add(NativeLayer("IDFT" if op.inverse else "DFT", 7, (result,)), data, *inputs)
    assert isinstance(result.shape, tuple)
    real = result.with_shape(result.shape[:-1])
    return build.add(Unsqueeze(), build.add(NativeLayer("IRDFT", 9, (real,)), data, *inputs), build.int64(-1))


def _first_half(op: DFT, build: Builder, x: Value, inputs: list[Value]) -> Value:
    """The transform of a real tensor without the bins that mirror others, along an axis that only the run knows."""
    if op.inverse:
        raise SaveError("inverts half a spectrum along an axis that is computed", fix="make the axis a constant")
    length = inputs[1] if len(inputs) > 1 else build.add(Gather(0), build.add(Shape(), x), inputs[0])
    data = build.add_many(Concat(-1), [x, build.add(Sub(), x, x)], ["complex"])[0]
    whole = build.add(NativeLayer("DFT", 7, (TensorType(tensor(x).dtype, tensor(data).shape),)), data, *inputs)
    bins = build.add(Add(), build.add(Div(), length, build.int64(2)), build.int64(1))
    return build.add(Slice(), whole, build.int64(0), bins, inputs[0])


def _axis_index(build: Builder, axis: Value | None, rank: int) -> Value:
    """The axis counted from the front."""
    if axis is None:
        return build.int64(rank - 2)
    if axis.known is not None and all(isinstance(n, int) for n in axis.known.flat):
        return build.int64(int(axis.known.reshape(-1)[0]) % rank)
    count = build.constant(np.array(rank, np.int64))
    return build.add(Mod(), build.add(Add(), Writer(build).cast(axis, np.dtype(INT64)), count), count)


def _row(build: Builder, number: Value) -> Value:
    return build.add(Reshape(), number, build.int64(1))


@rewritten(STFT)
def stft(
    op: STFT,
    build: Builder,
    signal: Value,
    frame_step: Value,
    window: Value | None = None,
    frame_length: Value | None = None,
) -> Value:
    write, shape = Writer(build), ranked(signal, "the signal")
    if shape[-1] != 1 or not op.onesided:
        raise SaveError("gives both sides of a spectrum", fix="OpenVINO has onesided=1 of real signals")
    if window is None:
        if frame_length is None:
            raise SaveError("has neither a window nor a length of frames", fix="give a window")
        window = build.add(Expand(), build.constant(np.ones(1, tensor(signal).dtype)), _row(build, frame_length))
    size = build.add(Shape(), window) if frame_length is None else frame_length
    sizes = [build.add(Reshape(), write.cast(value, np.dtype(INT64)), build.int64()) for value in (size, frame_step)]
    layer = NativeLayer(
        "STFT", 15, (op.infer(signal, frame_step, window, frame_length),), (("transpose_frames", False),)
    )
    return build.add(layer, build.add(Squeeze(), signal, build.int64(-1)), window, *sizes)
