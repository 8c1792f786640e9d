"""Sequences as the rows of one tensor: OpenVINO has only tensors."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.writing.layers import concatenate, unsqueeze
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Rows, Stored
from whorl.ir.dims import equal
from whorl.ir.types import AnyShape, TensorType

_FIX = "OpenVINO has only tensors: use elements of one fixed shape"


def rows_of(stored: Stored, write: NetWriter, element: TensorType | None = None) -> Rows:
    """The sequence as one tensor; `element` is the type of elements that an empty one would have.

    Errors: SaveError where elements may differ in shape, or theirs is unknown.
    """
    if isinstance(stored, Rows):
        return stored
    if not stored.sources:
        dims = None if element is None or isinstance(element.shape, AnyShape) else element.shape
        numbers = [dim for dim in dims or () if isinstance(dim, int)]
        if element is None or dims is None or len(numbers) < len(dims):
            raise SaveError("an empty sequence has elements of a shape that nothing tells", fix=_FIX)
        return Rows(write.constant(np.zeros((0, *numbers), element.dtype)))
    first = stored.sources[0].type
    for other in stored.sources[1:]:
        if not same_shape(first, other.type):
            raise SaveError(f"a sequence holds {first} and {other.type}", fix=_FIX)
    return Rows(concatenate(write, [unsqueeze(write, source, 0) for source in stored.sources], 0))


def same_shape(a: TensorType, b: TensorType) -> bool:
    """Whether two types are proved to have one shape."""
    if isinstance(a.shape, AnyShape) or isinstance(b.shape, AnyShape) or len(a.shape) != len(b.shape):
        return False
    return all(equal(x, y) for x, y in zip(a.shape, b.shape, strict=True))
