"""MDF in the registry of formats."""

from __future__ import annotations

import os
from pathlib import Path

from whorl.errors import LoadError
from whorl.formats.mdf.files import read_mdf
from whorl.formats.mdf.modeci_objects import model_of_objects
from whorl.formats.mdf.model import MdfModel
from whorl.formats.options import LoadOptions
from whorl.formats.sources import HasGraphs
from whorl.mdf.model import Model
from whorl.passes.context import Context


def load(path: str | os.PathLike[str] | bytes | HasGraphs, options: LoadOptions, folding: Context | None) -> MdfModel:
    if isinstance(path, bytes):
        raise LoadError("an MDF model is read from a file", fix="pass its path")
    match path:
        case str() | os.PathLike():
            document = read_mdf(Path(path))
        case Model():
            document = path
        case _:
            document = model_of_objects(path)
    return MdfModel(document, precision=options.precision, integrator=options.integrator)
