"""ONNX files: binary or text, by path, bytes or proto; what is damaged ends as a LoadError."""

from __future__ import annotations

import os
import re
from pathlib import Path

from google.protobuf.message import DecodeError, EncodeError

import whorl.formats.onnx.control
from whorl.errors import LoadError
from whorl.formats.onnx.protos import GraphProto, ModelProto, OperatorSetIdProto
from whorl.formats.onnx.reader import read_model
from whorl.formats.onnx.signatures import NEWEST
from whorl.formats.onnx.wire import LARGE, skeleton, skeleton_of
from whorl.formats.options import LoadOptions
from whorl.formats.sources import File
from whorl.ir.graph import Module
from whorl.kernels.aligned import read_aligned
from whorl.passes.context import Context

assert whorl.formats.onnx.control

TEXT_SUFFIXES = (".onnxtxt", ".onnxtext")
MAX_IR_VERSION = 14
TEXT_DEPTH = 200
_BRACKETS = re.compile(r'"(?:\\.|[^"\\])*"|#[^\n]*|[(){}]')


def load_onnx(source: File, options: LoadOptions, folding: Context | None = None) -> Module:
    """A module from a path (`.onnx`, `.onnxtxt`), the bytes of a file, or a proto of a model or graph.

    External data is looked up beside the path, inside its folder only. With `folding`, nodes of constants are computed
    while the file is read.
    """
    if isinstance(source, ModelProto | GraphProto):
        return _read(read_proto(source), options, None, folding)
    if isinstance(source, bytes | bytearray | memoryview):
        with skeleton_of(_as_bytes(source)) as data:
            return _read(parse_binary(data, "the bytes given"), options, None, folding)
    path = Path(source)
    if path.suffix in TEXT_SUFFIXES:
        return _read(read_proto(path), options, path.parent, folding)
    if not options.memory_map:
        with skeleton_of(_contents(path)) as data:
            return _read(parse_binary(data, repr(path.name)), options, path.parent, folding)
    try:
        with skeleton(path) as data:
            return _read(parse_binary(data, repr(path.name)), options, path.parent, folding)
    except OSError as error:
        raise LoadError(f"cannot read {str(path)!r}: {error.strerror or error}") from None


def _as_bytes(source: bytes | bytearray | memoryview) -> memoryview:
    """Bytes one after the other, which a view of something else need not be."""
    view = memoryview(source)
    return view if view.format == "B" and view.ndim == 1 and view.c_contiguous else memoryview(bytes(view))


def _contents(path: Path) -> memoryview:
    try:
        with path.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            return read_aligned(file, size) if size >= LARGE else memoryview(file.readall())
    except OSError as error:
        raise LoadError(f"cannot read {str(path)!r}: {error.strerror or error}") from None


def read_proto(source: File) -> ModelProto:
    """The ModelProto in a file, in bytes, or as it is; a graph alone is one of the newest opset."""
    if isinstance(source, ModelProto):
        return source
    if isinstance(source, GraphProto):
        imports = [OperatorSetIdProto(domain="", version=NEWEST[""])]
        return ModelProto(ir_version=MAX_IR_VERSION, opset_import=imports, graph=source)
    if isinstance(source, bytes | bytearray | memoryview):
        return parse_binary(bytes(source), "the bytes given")
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LoadError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    return parse_text(data, path.name) if path.suffix in TEXT_SUFFIXES else parse_binary(data, repr(path.name))


def bytes_in_one(path: str | os.PathLike[str]) -> bytes:
    """A model file in binary form, text too, with the weights from beside it inside; for engines that take bytes."""
    from onnx.external_data_helper import load_external_data_for_model

    proto = read_proto(path)
    try:
        load_external_data_for_model(proto, str(Path(path).parent))
        return proto.SerializeToString()
    except (ValueError, EncodeError) as error:
        raise LoadError(f"{str(path)!r} does not fit into one piece of protobuf: {error}") from None


def parse_binary(data: bytes, what: str) -> ModelProto:
    """Protobuf bytes as a ModelProto."""
    proto = ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise LoadError(
            f"{what} is not an ONNX model: {error}",
            fix="the file is truncated, damaged, nested too deep, or another format",
        ) from None
    return proto


def parse_text(data: bytes, what: str) -> ModelProto:
    """ONNX text as a ModelProto."""
    from onnx import parser

    try:
        text = data.decode("utf-8")
        if _nesting(text) > TEXT_DEPTH:
            raise LoadError(f"{what!r} has brackets nested deeper than {TEXT_DEPTH}", fix="nest fewer graphs")
        return parser.parse_model(text)
    except UnicodeDecodeError as error:
        raise LoadError(f"{what!r} is not ONNX text: {error}") from None
    except parser.ParseError as error:
        detail = error.args[0]
        reason = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
        raise LoadError(f"{what!r} is not ONNX text: {reason}") from None
    except DecodeError:
        raise LoadError(f"{what!r} is nested deeper than protobuf allows", fix="nest fewer graphs") from None


def _nesting(text: str) -> int:
    """How deep round brackets and braces are nested outside of strings and comments; onnx's parser has no limit."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(match[0], 0)
        deepest = max(deepest, depth)
    return deepest


def require_graph(proto: ModelProto) -> None:
    """LoadError for what protobuf reads of an empty file."""
    if not proto.HasField("graph"):
        raise LoadError("the model has no graph", fix="the file is empty, truncated or of another format")


def _read(proto: ModelProto, options: LoadOptions, folder: Path | None, folding: Context | None) -> Module:
    require_graph(proto)
    if proto.ir_version > MAX_IR_VERSION:
        raise LoadError(f"the model has IR version {proto.ir_version}; versions up to {MAX_IR_VERSION} are known")
    try:
        return read_model(proto, options, folder, folding=folding)
    except RecursionError:
        raise LoadError("the model is nested too deep", fix="lower max_depth") from None
    except UnicodeDecodeError as error:
        raise LoadError(f"a name in the model is not UTF-8: {error}", fix="the file is damaged") from None
