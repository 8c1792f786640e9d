"""Folders of test data as ONNX has them: inputs and outputs of a model, a file each."""

from __future__ import annotations

from pathlib import Path

from whorl.api.extracting import Extracted
from whorl.errors import SaveError
from whorl.formats.onnx.values import bytes_of

DATA = "test_data_set_0"
"""The folder beside a model that `whorl run` compares."""


def write_data(folder: Path, extracted: Extracted) -> None:
    """Write inputs and outputs as a folder of test data. Errors: SaveError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind, values in (("input", extracted.inputs), ("output", extracted.outputs)):
            for k, (name, value) in enumerate(values.items()):
                (folder / f"{kind}_{k}.pb").write_bytes(bytes_of(value, name))
    except OSError as error:
        raise SaveError(f"cannot write {str(folder)!r}: {error.strerror or error}") from None
