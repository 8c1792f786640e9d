"""Writes MDF files."""

from __future__ import annotations

from pathlib import Path

from whorl.formats.mdf.files import write_mdf
from whorl.formats.mdf.model import MdfModel
from whorl.formats.mdf.onnx.importer import model_from_onnx
from whorl.formats.onnx.saving import to_proto
from whorl.formats.options import SaveOptions
from whorl.ir.graph import Module


def save(model: Module | MdfModel, path: Path, options: SaveOptions) -> None:
    """Write an MDF model as it is, any other one with a node for each operator."""
    document = model.document if isinstance(model, MdfModel) else model_from_onnx(to_proto(model))
    write_mdf(document, path)
