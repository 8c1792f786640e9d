"""Loading, saving and running models in any format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whorl.errors import SaveError
from whorl.formats.onnx.files import OnnxSource, load_onnx
from whorl.formats.onnx.reader import MAX_DEPTH, LoadOptions
from whorl.formats.onnx.saving import save_onnx
from whorl.ir.graph import Module
from whorl.runtime.session import Session

Source = OnnxSource | Module
"""What `load` takes: a path, bytes, a proto, or a module."""


def load(
    source: Source,
    *,
    condition_when_omitted: str = "specification",
    max_depth: int = MAX_DEPTH,
) -> Module:
    """Read a model: a path (`.onnx`, `.onnxtxt`), the bytes of a file, a ModelProto or GraphProto; a module is returned.

    `condition_when_omitted` says what a Loop without a condition input does with the condition its body computes:
    "specification" ignores it, "honour" stops as onnxruntime does. Errors: LoadError, UnsupportedError.
    """
    if isinstance(source, Module):
        return source
    return load_onnx(source, LoadOptions(condition_when_omitted, max_depth))


def save(module: Module, path: str | Path, *, opset: int | None = None) -> None:
    """Write a module as `.onnx` or `.onnxtxt`; weights over 1 GiB go into a file beside it.

    `opset` is the version of ai.onnx to write; without it, the model's own or the lowest above that can say it all.
    Errors: SaveError names the op and the opset that could say it.
    """
    if Path(path).suffix not in (".onnx", ".onnxtxt"):
        raise SaveError(f"{str(path)!r} has no ending whorl can write", fix="end it in .onnx or .onnxtxt")
    save_onnx(module, Path(path), opset)


def run(model: Source, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """Load a model, run it once, and return its outputs by name. Errors: LoadError, RunError."""
    module = load(model)
    return dict(zip(module.output_names, Session(module).execute(None, feeds), strict=True))
