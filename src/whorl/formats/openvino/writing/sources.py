"""What layers read: an output port, or the tensors that a sequence is stored as."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.types import AnyShape, TensorType

Attribute = bool | int | float | str | np.dtype | np.ndarray | Sequence[int] | Sequence[float] | None
"""An attribute of a layer before it is text; None leaves it out."""


class Source(Struct, frozen=True):
    """An output port of a layer that is written: where edges come from, and the type there."""

    layer: int
    port: int
    type: TensorType


class Items(Struct, frozen=True):
    """A sequence as so many tensors."""

    sources: tuple[Source, ...]


class Rows(Struct, frozen=True):
    """A sequence of tensors of one shape, stacked on axis 0 of one tensor."""

    source: Source

    @property
    def element(self) -> TensorType:
        """The type of each element."""
        type = self.source.type
        return type if isinstance(type.shape, AnyShape) else type.with_shape(type.shape[1:])


Stored = Items | Rows
Sources = Source | Sequence[Source | None]
"""Where the outputs of a node come from; None for a sequence, which `NetWriter.sequences` stores."""
