"""What formats read."""

from __future__ import annotations

import os
from typing import Any, Protocol, runtime_checkable

from whorl.formats.onnx.protos import GraphProto, ModelProto

File = str | os.PathLike[str] | bytes | bytearray | memoryview | ModelProto | GraphProto
"""A path, the bytes of a file, or a proto of ONNX."""


@runtime_checkable
class HasGraphs(Protocol):
    """A model as objects of modeci_mdf, or as a document of MDF."""

    @property
    def id(self) -> Any: ...
    @property
    def graphs(self) -> Any: ...
