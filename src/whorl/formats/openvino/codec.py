"""OpenVINO IR in the registry of formats."""

from __future__ import annotations

import os

from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Module
from whorl.passes.context import Context


def load(source: str | os.PathLike[str] | bytes, options: LoadOptions, folding: Context | None) -> Module:
    return load_ir(source, IrOptions(options.compat, options.max_depth), options.weights)
