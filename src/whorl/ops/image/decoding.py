"""Reading image files inside a model."""

from __future__ import annotations

import io

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BY_NAME
from whorl.ir.graph import Op
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.core.base import check_types, dims_of, require_dtype

UINT8 = BY_NAME["uint8"]
CHANNELS = {"RGB": 3, "BGR": 3, "Grayscale": 1}


class ImageDecoder(Op, frozen=True):
    """The bytes of an image file as pixels [height, width, channels]; none where they cannot be decoded.

    Source: ONNX ImageDecoder-20. Decoding is Pillow's.
    """

    pixel_format: str = "RGB"

    def infer(self, stream: Fact) -> TensorType:
        require_dtype(tensor(stream).dtype, frozenset((UINT8,)))
        dims_of(stream, 1, "the encoded stream")
        if self.pixel_format not in CHANNELS:
            raise TypeRuleError(f"pixel_format is {self.pixel_format!r}", fix=f"one of {', '.join(CHANNELS)}")
        return TensorType(UINT8, (UNKNOWN, UNKNOWN, CHANNELS[self.pixel_format]))

    def run(self, stream: np.ndarray) -> np.ndarray:
        check_types(self, stream)
        try:
            from PIL import Image  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise RunError("decoding images needs Pillow", fix="pip install pillow") from None
        channels = CHANNELS[self.pixel_format]
        try:
            with Image.open(io.BytesIO(stream.tobytes())) as image:
                pixels = np.array(image.convert("L" if channels == 1 else "RGB"))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return np.empty((0, 0, channels), np.uint8)
        pixels = pixels.reshape(*pixels.shape[:2], channels)
        return pixels[:, :, ::-1] if self.pixel_format == "BGR" else pixels
