"""MDF in the registry of formats."""

from __future__ import annotations

import os
from pathlib import Path

from whorl.errors import LoadError
from whorl.formats.mdf.files import read_mdf, write_mdf
from whorl.formats.mdf.model import MdfModel
from whorl.formats.mdf.onnx.importer import model_from_onnx
from whorl.formats.onnx.saving import to_proto
from whorl.formats.options import LoadOptions, SaveOptions
from whorl.ir.graph import Module
from whorl.passes.context import Context


def load(path: str | os.PathLike[str] | bytes, options: LoadOptions, folding: Context | None) -> MdfModel:
    if not isinstance(path, str | os.PathLike):
        raise LoadError("an MDF model is read from a file", fix="pass its path")
    return MdfModel(read_mdf(Path(path)), precision=options.precision)


def save(model: Module | MdfModel, path: Path, options: SaveOptions) -> None:
    """Write an MDF model as it is, any other one with a node for each operator."""
    document = model.document if isinstance(model, MdfModel) else model_from_onnx(to_proto(model))
    write_mdf(document, path)
