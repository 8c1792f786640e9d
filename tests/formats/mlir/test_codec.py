"""MLIR text in the registry of formats."""

from pathlib import Path

import numpy as np

import whorl
from whorl.formats.mlir.codec import load
from whorl.formats.options import LoadOptions
from whorl.passes.context import Context

TEXT = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  onnx.Return %x : tensor<2xf32>\n}\n"


def test_file_is_read_as_it_stands_whether_constants_are_folded_or_not(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(TEXT)
    for folding in (None, Context()):
        module = load(path, LoadOptions(), folding)
        assert [value.name for value in module.main.arguments] == ["x"]
        assert whorl.run(module, {"x": np.ones(2, np.float32)})["output_0"].tolist() == [1, 1]
