"""Loading, saving and running models in any format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whorl.errors import LoadError, SaveError
from whorl.formats.onnx.files import OnnxSource, load_onnx
from whorl.formats.onnx.frame import MAX_DEPTH, LoadOptions
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
    """Read a model: a path (`.onnx`, `.onnxtxt`), a file's bytes, a ModelProto or GraphProto; a module is returned.

    `condition_when_omitted` says what a Loop without a condition input does with the condition its body computes:
    "specification" ignores it, "honour" stops as onnxruntime does. `max_depth` bounds the nesting of graphs.
    Errors: LoadError, UnsupportedError.
    """
    if isinstance(source, Module):
        return source
    if not isinstance(source, OnnxSource):
        raise LoadError(f"no model can be read from {type(source).__name__}", fix="pass a path, bytes or a ModelProto")
    if not isinstance(max_depth, int) or max_depth < 1:
        raise LoadError(f"max_depth is {max_depth!r}, expected a whole number of 1 or more")
    return load_onnx(source, LoadOptions(condition_when_omitted, max_depth))


def save(source: Source, path: str | os.PathLike[str], *, opset: int | None = None) -> None:
    """Write whatever `load` takes as `.onnx` or `.onnxtxt`; weights over 1 GiB go into a file beside it.

    `opset` is the version of ai.onnx to write; without it, the model's own or the lowest above that can say it all.
    Errors: LoadError; SaveError names the op and the opset that could say it.
    """
    if Path(path).suffix not in (".onnx", ".onnxtxt"):
        raise SaveError(f"{str(path)!r} has no ending whorl can write", fix="end it in .onnx or .onnxtxt")
    save_onnx(load(source), Path(path), opset)


def run(model: Source, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """Load a model, run it once, and return its outputs by name. Errors: LoadError, RunError."""
    module = load(model)
    return dict(zip(module.output_names, Session(module).execute(None, feeds), strict=True))
