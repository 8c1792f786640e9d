"""ONNX's numbers of the element types."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.onnx.protos import TensorProto
from whorl.ir.dtypes import BY_NAME

_ONNX_NAMES = {
    "float": "float32",
    "double": "float64",
}
FROM_ONNX: dict[int, np.dtype] = {
    number: BY_NAME[_ONNX_NAMES.get(text.lower(), text.lower())]
    for text, number in TensorProto.DataType.items()
    if text != "UNDEFINED"
}
TO_ONNX: dict[np.dtype, int] = {dtype: number for number, dtype in FROM_ONNX.items()}


def from_onnx(number: int, what: str) -> np.dtype:
    """The element type with ONNX's number, or a LoadError that says where it stood."""
    if number not in FROM_ONNX:
        raise LoadError(f"{what} has element type number {number}, which ONNX does not define")
    return FROM_ONNX[number]
