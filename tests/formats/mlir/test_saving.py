"""MLIR files out: a module as the function `main_graph`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import whorl
from whorl.errors import SaveError
from whorl.formats.mlir.parser import parse_program
from whorl.formats.mlir.reader import read_function
from whorl.formats.mlir.saving import print_mlir, save_mlir
from whorl.formats.options import LoadOptions
from whorl.ir.build import Builder
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference

MODEL = """<ir_version: 10, opset_import: ["": 21]>
g (float[batch, 2] x, float[2] unused) => (float[batch, 2] y, int64[2] s)
<float[2] w = {1, 0.5}> { y = Mul(x, w)  s = Shape(y) }"""
PRINTED = """module {
  func.func @main_graph(%arg0: tensor<?x2xf32> {onnx.dim_params = "0:batch", onnx.name = "x"}, \
%arg1: tensor<2xf32> {onnx.name = "unused"}) \
-> (tensor<?x2xf32> {onnx.dim_params = "0:batch", onnx.name = "y"}, tensor<2xi64> {onnx.name = "s"}) {
    %0 = onnx.Constant dense<[1.000000e+00, 5.000000e-01]> : tensor<2xf32>
    %1 = "onnx.Mul"(%arg0, %0) : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
    %2 = "onnx.Shape"(%1) <{start = 0 : si64}> : (tensor<?x2xf32>) -> tensor<2xi64>
    onnx.Return %1, %2 : tensor<?x2xf32>, tensor<2xi64>
  }
  "onnx.EntryPoint"() {func = @main_graph} : () -> ()
}
"""


def test_model_is_printed_with_its_names() -> None:
    assert print_mlir(whorl.load(onnx.parser.parse_model(MODEL))) == PRINTED


def constant_module(value: np.ndarray) -> Module:
    region = Region("main")
    region.results = [Builder(region, Inference()).constant(value, "c")]
    return Module(region, ["y"])


def test_large_constants_that_repeat_are_short_and_read_back() -> None:
    rows = np.broadcast_to(np.arange(4, dtype=np.float32), (2048, 4))
    splat = np.broadcast_to(np.float32(2), (1 << 28,))
    texts = [print_mlir(constant_module(value)) for value in (rows, splat)]
    assert all(len(text) < 1000 for text in texts)
    assert "onnx.Expand" in texts[0] and "dense<2.000000e+00> : tensor<268435456xf32>" in texts[1]
    program = parse_program(texts[0], "rows.mlir")
    module = read_function(program, program.functions[0], LoadOptions()).module
    assert np.array_equal(whorl.run(module, {})["y"], rows)


def test_default_of_an_input_is_retained(tmp_path: Path) -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
    g (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Add(x, w) }"""
    module = whorl.load(onnx.parser.parse_model(text))
    whorl.save(module, tmp_path / "m.mlir")
    again = whorl.load(tmp_path / "m.mlir")
    assert np.array_equal(again.defaults["w"], [1, 2])
    assert np.array_equal(whorl.run(again, {"x": np.zeros(2, np.float32)})["y"], [1, 2])


def test_default_that_is_a_sequence_is_refused() -> None:
    text = (
        '<ir_version: 10, opset_import: ["": 21]> g (int64 i, seq(float[2]) w) => (float[2] y) { y = SequenceAt(w, i) }'
    )
    module = whorl.load(onnx.parser.parse_model(text))
    module.defaults["w"] = [np.ones(2, np.float32)]
    with pytest.raises(SaveError) as refused:
        print_mlir(module)
    assert str(refused.value) == "the default of 'w' is a sequence\n  fix: MLIR has defaults that are tensors"


def test_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "m.mlir"
    with pytest.raises(SaveError) as refused:
        save_mlir(whorl.load(onnx.parser.parse_model(MODEL)), path)
    assert str(refused.value) == f"cannot write {str(path)!r}: No such file or directory"
