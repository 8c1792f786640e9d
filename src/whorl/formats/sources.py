"""What formats read."""

from __future__ import annotations

import os

from whorl.formats.onnx.protos import GraphProto, ModelProto

File = str | os.PathLike[str] | bytes | bytearray | memoryview | ModelProto | GraphProto
"""A path, the bytes of a file, or a proto of ONNX."""
