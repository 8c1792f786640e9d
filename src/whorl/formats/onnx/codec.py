"""ONNX in the registry of formats."""

from __future__ import annotations

from whorl.formats.onnx.files import load_onnx
from whorl.formats.options import LoadOptions
from whorl.formats.sources import File
from whorl.ir.graph import Module
from whorl.passes.context import Context


def load(source: File, options: LoadOptions, folding: Context | None) -> Module:
    return load_onnx(source, options, folding)
