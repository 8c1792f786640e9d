"""Ops that trade channels of images for blocks of pixels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.movement.rearranging import Rearranging
from whorl.ops.native.index_maps import lengths, map_indices, ravel_index, require_lengths, reshape_view, transpose_view


def _check_image(fact: Fact, blocksize: int, mode: str) -> tuple[Dim, ...] | None:
    """The four dims of an image batch; None where unranked."""
    shape = tensor(fact).shape
    if mode not in ("DCR", "CRD"):
        raise TypeRuleError(f"mode is {mode!r}", fix="use 'DCR' or 'CRD'")
    if blocksize < 1:
        raise TypeRuleError(f"blocksize is {blocksize}, expected at least 1")
    if isinstance(shape, AnyShape):
        return None
    if len(shape) != 4:
        raise TypeRuleError(f"takes [N, C, H, W], got {tensor(fact)}")
    return shape


def _image_shape(x: np.ndarray) -> tuple[int, ...]:
    if x.ndim != 4:
        raise RunError(f"takes [N, C, H, W], got shape {list(x.shape)}")
    return x.shape


def _shared(length: Dim, by: int, what: str) -> Dim:
    if isinstance(length, int) and length % by:
        raise TypeRuleError(f"{what} {length} is not a multiple of {by}")
    return dims.call("floor", length, by)


class DepthToSpace(Rearranging, frozen=True):
    """Channels of [N, C, H, W] become blocks of b * b pixels: [N, C / (b * b), H * b, W * b].

    Channel (row, column, depth) in mode DCR, (depth, row, column) in mode CRD. Source: ONNX DepthToSpace-28.
    """

    any_length = True
    never_fails = True

    blocksize: int
    mode: str = "DCR"

    def infer(self, x: Fact) -> TensorType:
        shape, b = _check_image(x, self.blocksize, self.mode), self.blocksize
        if shape is None:
            return tensor(x).with_shape((UNKNOWN,) * 4)
        n, c, h, w = shape
        return tensor(x).with_shape((n, _shared(c, b * b, "depth"), h * b, w * b))

    def run(self, x: np.ndarray) -> np.ndarray:
        (n, c, h, w), b = _image_shape(x), self.blocksize
        if c % (b * b):
            raise RunError(f"depth {c} is not a multiple of {b * b}")
        depth = c // (b * b)
        if self.mode == "DCR":
            blocks = x.reshape(n, b, b, depth, h, w).transpose(0, 3, 4, 1, 5, 2)
        else:
            blocks = x.reshape(n, depth, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
        return blocks.reshape(n, depth, h * b, w * b)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x,), shape, b = inputs, lengths(outputs[0]), self.blocksize
        n, c, h, w = x.shape
        depth = shape[1]
        require_lengths(k, [c], [depth * (b * b)])
        split, order = (n, b, b, depth, h, w), (0, 3, 4, 1, 5, 2)
        if self.mode == "CRD":
            split, order = (n, depth, b, b, h, w), (0, 1, 4, 2, 5, 3)

        def channels(index: Index) -> Index:
            return (index[0], ravel_index(k, index[1:4], split[1:4]), *index[4:])

        return [reshape_view(k, transpose_view(k, map_indices(k, x, split, channels), order), shape)]


class SpaceToDepth(Rearranging, frozen=True):
    """Blocks of b * b pixels of [N, C, H, W] become channels: [N, C * b * b, H / b, W / b].

    Channel (row, column, depth) in mode DCR, (depth, row, column) in mode CRD. Source: ONNX SpaceToDepth-28.
    """

    any_length = True
    never_fails = True

    blocksize: int
    mode: str = "DCR"

    def infer(self, x: Fact) -> TensorType:
        shape, b = _check_image(x, self.blocksize, self.mode), self.blocksize
        if shape is None:
            return tensor(x).with_shape((UNKNOWN,) * 4)
        n, c, h, w = shape
        return tensor(x).with_shape((n, c * (b * b), _shared(h, b, "height"), _shared(w, b, "width")))

    def run(self, x: np.ndarray) -> np.ndarray:
        (n, c, h, w), b = _image_shape(x), self.blocksize
        if h % b or w % b:
            raise RunError(f"height {h} and width {w} are not multiples of {b}")
        blocks = x.reshape(n, c, h // b, b, w // b, b)
        order = (0, 3, 5, 1, 2, 4) if self.mode == "DCR" else (0, 1, 3, 5, 2, 4)
        return blocks.transpose(order).reshape(n, c * b * b, h // b, w // b)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x,), shape, b = inputs, lengths(outputs[0]), self.blocksize
        n, c, h, w = x.shape
        require_lengths(k, [h, w], [shape[2] * b, shape[3] * b])
        order = (0, 3, 5, 1, 2, 4) if self.mode == "DCR" else (0, 1, 3, 5, 2, 4)
        split = (n, c, shape[2], b, shape[3], b)

        def pixels(index: Index) -> Index:
            rows, columns = ravel_index(k, index[2:4], split[2:4]), ravel_index(k, index[4:], split[4:])
            return (*index[:2], rows, columns)

        return [reshape_view(k, transpose_view(k, map_indices(k, x, split, pixels), order), shape)]
