"""MDF in the registry of formats."""

from __future__ import annotations

import os
from pathlib import Path

from whorl.errors import LoadError
from whorl.formats.mdf.files import read_mdf
from whorl.formats.mdf.model import MdfModel
from whorl.formats.options import LoadOptions
from whorl.passes.context import Context


def load(path: str | os.PathLike[str] | bytes, options: LoadOptions, folding: Context | None) -> MdfModel:
    if not isinstance(path, str | os.PathLike):
        raise LoadError("an MDF model is read from a file", fix="pass its path")
    return MdfModel(read_mdf(Path(path)), precision=options.precision, integrator=options.integrator)
