"""Loading, saving and running models in any format."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from whorl.errors import LoadError, SaveError
from whorl.formats.onnx.files import OnnxSource, bytes_in_one, load_onnx
from whorl.formats.onnx.frame import MAX_DEPTH, LoadOptions
from whorl.formats.onnx.saving import save_onnx, to_proto
from whorl.ir.graph import Module
from whorl.runtime.session import Session

Source = OnnxSource | Module
"""What `load` takes: a path, bytes, a proto, or a module."""


MLIR_SUFFIX, IR_SUFFIX = ".mlir", ".xml"


def is_mlir(source: Source) -> bool:
    """Whether a source is the path of MLIR text."""
    return isinstance(source, str | os.PathLike) and Path(source).suffix == MLIR_SUFFIX


def is_ir(source: Source) -> bool:
    """Whether a source is the path of OpenVINO IR, or the bytes of its XML."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source[:64]).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    return isinstance(source, str | os.PathLike) and Path(source).suffix == IR_SUFFIX


def onnx_bytes(path: str | os.PathLike[str]) -> bytes:
    """A model file as one piece of ONNX, for engines that take bytes. Errors: LoadError, SaveError."""
    is_onnx = not is_mlir(path) and not is_ir(path)
    return bytes_in_one(path) if is_onnx else to_proto(load(path)).SerializeToString()


def ir_bytes(path: str | os.PathLike[str]) -> bytes:
    """An `.xml` and its `.bin` in one piece: the text, a zero byte, the weights. Errors: LoadError."""
    weights = Path(path).with_suffix(".bin")
    try:
        return Path(path).read_bytes() + b"\0" + (weights.read_bytes() if weights.is_file() else b"")
    except OSError as error:
        raise LoadError(f"cannot read {str(path)!r}: {error.strerror or error}") from None


def mlir_part(name: str) -> ModuleType:
    """A module of `formats.mlir`. Errors: LoadError where xDSL, which it needs, is not installed."""
    try:
        return importlib.import_module(f"whorl.formats.mlir.{name}")
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != "xdsl":
            raise
        raise LoadError("MLIR text needs xDSL", fix="pip install 'whorl[mlir]'") from None


def load(
    source: Source,
    *,
    condition_when_omitted: str = "specification",
    max_depth: int = MAX_DEPTH,
    profile: str = "",
    weights: bytes = b"",
) -> Module:
    """Read a model: a path (`.onnx`, `.onnxtxt`, `.mlir`, OpenVINO's `.xml`), a file's bytes, a ModelProto or
    GraphProto, or a module.

    `condition_when_omitted` says what a Loop without a condition input does with the condition its body computes:
    "specification" ignores it, "honour" stops as onnxruntime does. `max_depth` bounds the nesting of graphs. For IR,
    `profile` "ov-cpu" imitates OpenVINO's CPU plugin, and `weights` are the bytes of the `.bin` of XML given as bytes.
    Errors: LoadError, UnsupportedError.
    """
    if isinstance(source, Module):
        return source
    if not isinstance(source, OnnxSource):
        raise LoadError(f"no model can be read from {type(source).__name__}", fix="pass a path, bytes or a ModelProto")
    if not isinstance(max_depth, int) or max_depth < 1:
        raise LoadError(f"max_depth is {max_depth!r}, expected a whole number of 1 or more")
    options = LoadOptions(condition_when_omitted, max_depth)
    if is_ir(source):
        files = importlib.import_module("whorl.formats.openvino.files")
        return files.load_ir(source, files.IrOptions(profile, max_depth), weights)
    if is_mlir(source):
        return mlir_part("reader").load_mlir(source, options)
    return load_onnx(source, options)


def save(
    source: Source, path: str | os.PathLike[str], *, opset: int | None = None, compress_to_fp16: bool = False
) -> None:
    """Write whatever `load` takes as `.onnx`, `.onnxtxt`, `.mlir` or OpenVINO `.xml` (with a `.bin` beside it).

    Weights over 1 GiB go into a file beside `.onnx`. `opset` is the version of ai.onnx to write; without it, the
    model's own or the lowest above that can say it all. `compress_to_fp16` keeps float32 weights of `.xml` as float16.
    Errors: LoadError; SaveError names the op and the opset that could say it.
    """
    match Path(path).suffix:
        case ".mlir":
            mlir_part("saving").save_mlir(load(source), Path(path))
        case ".xml":
            saving = importlib.import_module("whorl.formats.openvino.saving")
            saving.save_openvino(load(source), Path(path), compress=compress_to_fp16)
        case ".onnx" | ".onnxtxt":
            save_onnx(load(source), Path(path), opset)
        case _:
            fix = "end it in .onnx, .onnxtxt, .mlir or .xml"
            raise SaveError(f"{str(path)!r} has no ending whorl can write", fix=fix)


def run(model: Source, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """Load a model, run it once, and return its outputs by name. Errors: LoadError, RunError."""
    module = load(model)
    return dict(zip(module.visible_outputs, Session(module, once=True).execute(None, feeds), strict=True))
