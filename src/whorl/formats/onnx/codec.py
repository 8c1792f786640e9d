"""ONNX in the registry of formats."""

from __future__ import annotations

from pathlib import Path

from whorl.formats.onnx.files import load_onnx
from whorl.formats.onnx.saving import save_onnx
from whorl.formats.options import File, LoadOptions, SaveOptions
from whorl.ir.graph import Module
from whorl.passes.context import Context


def load(source: File, options: LoadOptions, folding: Context | None) -> Module:
    return load_onnx(source, options, folding)


def save(module: Module, path: Path, options: SaveOptions) -> None:
    save_onnx(module, path, options.opset)
