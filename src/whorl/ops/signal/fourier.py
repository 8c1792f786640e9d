"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.graph import NodeBuilder, Op, Value
from whorl.ir.types import AnyShape, Fact, TensorType, lengths_of, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    check_types,
    dims_of,
    known_dims,
    known_ints,
    normal_axis,
    one_element,
    require_dtype,
    same_dtype,
    unify_lengths,
    widen,
)
from whorl.ops.core.writer import has_elements
from whorl.ops.movement.lengths import nonnegative
from whorl.ops.signal.written_out import is_short, write_frames, write_transform


class DFT(Op, frozen=True):
    """X[k] = sum_n exp(-2 pi j k n / N) x[n] along an axis; with `inverse` exp(+...) and 1/N.

    Inputs: x, whose last axis holds (re) or (re, im); N as dft_length, to which x is cut or zero-padded (default: the
    length of x, 2 (length - 1) for a onesided inverse); axis (default -2). `onesided` keeps k <= N / 2 of a real x, and
    its inverse takes those and gives a real result. 16-bit floats are computed in float32. Source: ONNX DFT-20.
    """

    inverse: int = 0
    onesided: int = 0

    def infer(self, x: Fact, dft_length: Fact | None = None, axis: Fact | None = None) -> TensorType:
        operand = tensor(x)
        require_dtype(operand.dtype, COMPUTED_FLOATS)
        if isinstance(operand.shape, AnyShape):
            return operand
        parts = operand.shape[-1] if operand.shape else UNKNOWN
        if len(operand.shape) < 2 or (dims.differ(parts, 1) and dims.differ(parts, 2)):
            raise TypeRuleError(f"x has shape {list(operand.shape)}, expected [..., signal, 1 or 2]")
        if self.onesided and dims.differ(parts, 2 if self.inverse else 1):
            kind = "inverse takes complex" if self.inverse else "transform takes real"
            raise TypeRuleError(f"the onesided {kind} input, the last axis has length {parts}", fix="set onesided=0")
        last = 1 if self.onesided and self.inverse else 2
        axes = (-2,) if axis is None else known_ints(axis)
        if axes is None:
            return operand.with_shape((UNKNOWN,) * (len(operand.shape) - 1) + (last,))
        at = _signal_axis(axes[0], len(operand.shape))
        length = self._length(operand.shape[at], dft_length)
        return operand.with_shape((*operand.shape[:at], self._bins(length), *operand.shape[at + 1 : -1], last))

    def _bins(self, length: Dim) -> Dim:
        return length // 2 + 1 if self.onesided and not self.inverse else length

    def _length(self, signal: Dim, dft_length: Fact | None) -> Dim:
        if dft_length is None:
            return 2 * (signal - 1) if self.onesided and self.inverse else signal
        known = known_dims(dft_length)
        return known[0] if known else UNKNOWN

    def run(self, x: np.ndarray, dft_length: np.ndarray | None = None, axis: np.ndarray | None = None) -> np.ndarray:
        check_types(self, x, dft_length, axis)
        at = _signal_axis(-2 if axis is None else int(one_element(axis, "axis")), x.ndim)
        irfft = bool(self.onesided and self.inverse)
        default = 2 * (x.shape[at] - 1) if irfft else x.shape[at]
        length = default if dft_length is None else int(one_element(dft_length, "dft_length"))
        if length < 1:
            raise RunError(f"the transform has length {length}, expected 1 or more")
        signal = _complex(x)
        if irfft:
            return np.fft.irfft(signal, length, at)[..., None].astype(x.dtype)
        result = np.fft.ifft(signal, length, at) if self.inverse else np.fft.fft(signal, length, at)
        if self.onesided:
            result = result[(slice(None),) * at + (slice(length // 2 + 1),)]
        return _parts(result, x.dtype)

    def decompose(self, inputs: Sequence[Value | None], build: NodeBuilder) -> list[Value] | None:
        x, dft_length, axis = (*inputs, None, None)[:3]
        axes = (-2,) if axis is None else known_ints(axis)
        if self.inverse:  # ONNX's tests expect zeros to be what NumPy's roundings leave of them
            return None
        if x is None or axes is None or not has_elements(x):
            return None
        shape = lengths_of(tensor(x))
        at = _signal_axis(axes[0], len(shape))
        sizes = (self._length(shape[at], None),) if dft_length is None else known_ints(dft_length)
        size, (length, parts) = sizes[0] if sizes else UNKNOWN, (shape[at], shape[-1])
        if not isinstance(length, int) or not isinstance(parts, int) or not isinstance(size, int):
            return None
        if not is_short(length, parts, self._bins(size)):
            return None
        return [write_transform(build, x, at, self.matrix(length, parts, size))]

    def matrix(self, length: int, parts: int, size: int) -> np.ndarray:
        """What becomes of each element of a signal alone: [length, parts, bins, 1 or 2]."""
        alone = np.eye(length * parts).reshape(length, parts, length, parts)
        return self.run(alone, np.array(size), np.array(2))


class STFT(Op, frozen=True):
    """The DFT of every frame of a signal: frame f holds window[n] * signal[f * frame_step + n].

    Inputs: signal [batch, length, 1 or 2], frame_step, window [frame_length], frame_length (default: the window's
    length, else the signal's). Output: [batch, frames, bins, 2], frames = (length - frame_length) // frame_step + 1,
    bins = frame_length, or frame_length // 2 + 1 if `onesided`. 16-bit floats are computed in float32.
    Source: ONNX STFT-17.
    """

    onesided: int = 1

    def infer(
        self, signal: Fact, frame_step: Fact, window: Fact | None = None, frame_length: Fact | None = None
    ) -> TensorType:
        dtype = same_dtype(signal, window)
        require_dtype(dtype, COMPUTED_FLOATS)
        batch, length, parts = dims_of(signal, 3, "signal")
        if dims.differ(parts, 1) and dims.differ(parts, 2):
            raise TypeRuleError(f"the last axis of signal has length {parts}, expected 1 or 2")
        axes, step = known_dims(frame_length), known_dims(frame_step)
        sizes = [dims_of(window, 1, "window")[0]] if window is not None else []
        sizes += [axes[0] if axes else UNKNOWN] if frame_length is not None else []
        frame = unify_lengths("frame length", *sizes or [length])
        frames = _frames(length, frame, step[0] if step else UNKNOWN)
        return TensorType(dtype, (batch, frames, self._bins(frame), 2))

    def run(
        self,
        signal: np.ndarray,
        frame_step: np.ndarray,
        window: np.ndarray | None = None,
        frame_length: np.ndarray | None = None,
    ) -> np.ndarray:
        check_types(self, signal, frame_step, window, frame_length)
        step, size = int(one_element(frame_step, "frame_step")), signal.shape[1]
        if window is not None:
            size = len(window)
        if frame_length is not None:
            size = int(one_element(frame_length, "frame_length"))
        if step < 1 or size < 1:
            raise RunError(f"frame_step is {step} and frame_length {size}, expected 1 or more")
        starts = np.arange(0, max(0, signal.shape[1] - size + 1), step)
        frames = _complex(signal)[:, starts[:, None] + np.arange(size)]
        weighted = frames if window is None else frames * widen(window)
        result = np.fft.fft(weighted, axis=2)
        return _parts(result[..., : size // 2 + 1] if self.onesided else result, signal.dtype)

    def decompose(self, inputs: Sequence[Value | None], build: NodeBuilder) -> list[Value] | None:
        signal, step, window, frame = (*inputs, None, None)[:4]
        steps = known_ints(step)
        if signal is None or not steps or steps[0] < 1 or not has_elements(signal):
            return None
        _, length, parts = lengths_of(tensor(signal))
        sizes = (lengths_of(tensor(window))[0],) if window is not None else (length,)
        if frame is not None and (known := known_ints(frame)) != sizes:
            sizes = known if window is None else None
        size = sizes[0] if sizes else UNKNOWN
        if not isinstance(size, int) or not isinstance(parts, int) or (isinstance(length, int) and length < size):
            return None
        if not is_short(size, parts, self._bins(size)):
            return None
        matrix = DFT().matrix(size, parts, size)
        return [
            write_frames(build, signal, steps[0], window, matrix[:, :, : size // 2 + 1] if self.onesided else matrix)
        ]

    def _bins(self, frame: Dim) -> Dim:
        return frame // 2 + 1 if self.onesided else frame


def _signal_axis(axis: int, rank: int) -> int:
    """An axis of the signal, counted from the front; the last axis of the tensor is none."""
    at = normal_axis(axis, rank)
    if at == rank - 1:
        raise TypeRuleError(f"axis {axis} holds the real and imaginary parts", fix="name an axis of the signal")
    return at


def _frames(length: Dim, frame: Dim, step: Dim) -> Dim:
    """How many frames fit into a signal."""
    if isinstance(step, int) and step < 1:
        raise TypeRuleError(f"frame_step is {step}, expected 1 or more")
    if dims.equal(length, frame):
        return 1
    return nonnegative((length - frame) // step + 1)


def _complex(x: np.ndarray) -> np.ndarray:
    """(re) or (re, im) along the last axis as complex numbers."""
    result = x[..., 0].astype(np.result_type(accumulator(x.dtype), np.complex64))
    if x.shape[-1] == 2:
        result.imag = x[..., 1]
    return result


def _parts(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Complex numbers as (re, im) along a new last axis."""
    return np.stack([np.real(x), np.imag(x)], axis=-1).astype(dtype)
