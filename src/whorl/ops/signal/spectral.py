"""Window functions, and the weights that turn a spectrum into mel bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import Fact, TensorType
from whorl.ops.core.base import known_dims, one_element
from whorl.ops.native.index_maps import read_int64


class CosineWindow(Op, frozen=True):
    """A sum of cosines of 2 pi n / N for n < size, where N is size if `periodic`, else size - 1."""

    abstract: ClassVar[bool] = True

    any_length = True

    output_datatype: np.dtype = FLOAT32
    periodic: int = 1

    def infer(self, size: Fact) -> TensorType:
        known = known_dims(size)
        if known and isinstance(known[0], int) and known[0] < 0:
            raise TypeRuleError(f"size is {known[0]}, expected 0 or more")
        return TensorType(self.output_datatype, (known[0] if known else UNKNOWN,))

    def run(self, size: np.ndarray) -> np.ndarray:
        count = int(one_element(size, "size"))
        if count < 0:
            raise RunError(f"size is {count}, expected 0 or more")
        if count == 1 and not self.periodic:
            return np.ones(1, self.output_datatype)
        angle = 2 * np.pi * np.arange(count) / (count if self.periodic else count - 1)
        return self.value(angle).astype(self.output_datatype)

    def value(self, angle: np.ndarray) -> np.ndarray:
        """The window at angles 2 pi n / N."""
        raise NotImplementedError

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        count = k.let(read_int64(k, inputs[0]))
        k.fail_unless(k.compare("ge", count, k.const(0)))
        length = k.new_length(count)
        period = k.let(k.cast(count if self.periodic else k.sub(count, k.const(1)), FLOAT64))
        one = k.const(1.0, FLOAT64)

        def at(index: Index) -> Expr:
            angle = k.div(k.mul(k.const(2 * np.pi, FLOAT64), k.cast(index[0], FLOAT64)), period)
            value = self.formula(k, angle)
            if not self.periodic:
                value = k.select(k.compare("eq", count, k.const(1)), one, value)
            return k.cast(value, self.output_datatype)

        return [k.view(self.output_datatype, (length,), at, 20)]

    def formula(self, k: NativeBuilder, angle: Expr) -> Expr:
        """Native form of `value`."""
        raise NotImplementedError


class HannWindow(CosineWindow, frozen=True):
    """sin(pi n / N)^2 = 0.5 - 0.5 cos(2 pi n / N). Source: ONNX HannWindow-17."""

    def value(self, angle: np.ndarray) -> np.ndarray:
        return np.sin(angle / 2) ** 2

    def formula(self, k: NativeBuilder, angle: Expr) -> Expr:
        sine = k.let(k.apply("sin", k.mul(angle, k.const(0.5, FLOAT64))))
        return k.mul(sine, sine)


class HammingWindow(CosineWindow, frozen=True):
    """25/46 - 21/46 cos(2 pi n / N). Source: ONNX HammingWindow-17."""

    def value(self, angle: np.ndarray) -> np.ndarray:
        return 25 / 46 - 21 / 46 * np.cos(angle)

    def formula(self, k: NativeBuilder, angle: Expr) -> Expr:
        return k.sub(k.const(25 / 46, FLOAT64), k.mul(k.const(21 / 46, FLOAT64), k.apply("cos", angle)))


class BlackmanWindow(CosineWindow, frozen=True):
    """0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N). Source: ONNX BlackmanWindow-17."""

    def value(self, angle: np.ndarray) -> np.ndarray:
        return 0.42 - 0.5 * np.cos(angle) + 0.08 * np.cos(2 * angle)

    def formula(self, k: NativeBuilder, angle: Expr) -> Expr:
        half, eighth = k.const(0.5, FLOAT64), k.const(0.08, FLOAT64)
        first = k.sub(k.const(0.42, FLOAT64), k.mul(half, k.apply("cos", angle)))
        return k.add(first, k.mul(eighth, k.apply("cos", k.mul(k.const(2.0, FLOAT64), angle))))


class MelWeightMatrix(Op, frozen=True):
    """[dft_length // 2 + 1, bands] weights: each band is a triangle with peak 1 over the spectrum bins.

    Inputs, one element each: num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz. The corners lie
    at equal steps of mel(f) = 2595 log10(1 + f / 700), of which there are bands + 2 between the edges, as in onnx's own
    reference. Source: ONNX MelWeightMatrix-17.
    """

    output_datatype: np.dtype = FLOAT32

    def infer(self, bands: Fact, dft_length: Fact, rate: Fact, lower: Fact, upper: Fact) -> TensorType:
        count, length = known_dims(bands), known_dims(dft_length)
        bins = length[0] // 2 + 1 if length else UNKNOWN
        return TensorType(self.output_datatype, (bins, count[0] if count else UNKNOWN))

    def run(
        self, bands: np.ndarray, dft_length: np.ndarray, rate: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> np.ndarray:
        count, length = int(one_element(bands, "num_mel_bins")), int(one_element(dft_length, "dft_length"))
        if count < 0 or length < 0:
            raise RunError(f"num_mel_bins is {count} and dft_length {length}, expected 0 or more")
        corners, bins = _corners(count, length, rate, lower, upper), length // 2 + 1
        if count and (corners.min() < 0 or corners[:-1].max() >= bins or corners[-1] > bins):
            raise RunError(f"the bands reach from bin {corners.min()} to {corners.max()} of {bins} bins")
        weights = np.zeros((bins, count))
        for band in range(count):
            low, center, high = corners[band : band + 3]
            if low == center:
                weights[center, band] = 1
            else:
                weights[low : center + 1, band] = np.arange(center - low + 1) / (center - low)
            if high > center:
                weights[center:high, band] = np.arange(high - center, 0, -1) / (high - center)
        return weights.astype(self.output_datatype)


def _corners(count: int, length: int, rate: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The spectrum bins of the corners of the triangles."""
    edges = np.array([one_element(lower, "lower_edge_hertz"), one_element(upper, "upper_edge_hertz")], np.float64)
    low, high = 2595 * np.log10(1 + edges / 700)
    hertz = 700 * (10 ** ((low + np.arange(count + 2) * (high - low) / (count + 2)) / 2595) - 1)
    return ((length + 1) * hertz // int(one_element(rate, "sample_rate"))).astype(np.int64)
