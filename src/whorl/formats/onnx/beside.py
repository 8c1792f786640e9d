"""Files beside an ONNX model that its tensors lie in, brought to where a copy of the model is written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from whorl.formats.onnx.protos import GraphProto, ModelProto, TensorProto


def locations(model: ModelProto) -> list[str]:
    """The files that initializers lie in, as the model names them, each once."""
    entries = (entry for tensor in _tensors(model.graph) for entry in tensor.external_data)
    return list(dict.fromkeys(entry.value for entry in entries if entry.key == "location"))


def bring_files(model: ModelProto, source: Path | None, target: Path) -> None:
    """Link the files that a model needs from its folder into another one; copy them where that cannot be."""
    if source is None or source.resolve() == target.resolve():
        return
    for location in locations(model):
        original, copy = source / location, target / location
        copy.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            copy.unlink()
        try:
            os.link(original.resolve(), copy)
        except OSError:
            shutil.copyfile(original, copy)


def _tensors(graph: GraphProto) -> Iterator[TensorProto]:
    """Initializers and constants that lie outside, in regions too."""
    pending = [graph]
    while pending:
        current = pending.pop()
        yield from (tensor for tensor in current.initializer if tensor.data_location == TensorProto.EXTERNAL)
        for node in current.node:
            for attribute in node.attribute:
                pending.extend([attribute.g] if attribute.HasField("g") else attribute.graphs)
                if attribute.HasField("t") and attribute.t.data_location == TensorProto.EXTERNAL:
                    yield attribute.t
