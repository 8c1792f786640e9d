"""MLIR text in the registry of formats."""

from __future__ import annotations

import os

from whorl.formats.mlir.reader import load_mlir
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Module
from whorl.passes.context import Context


def load(path: str | os.PathLike[str], options: LoadOptions, folding: Context | None) -> Module:
    return load_mlir(path, options)
