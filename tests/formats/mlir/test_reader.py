"""MLIR files in: a module for each function."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import whorl
from whorl.formats.mlir.parser import parse_program
from whorl.formats.mlir.reader import load_mlir, read_function
from whorl.formats.options import LoadOptions
from whorl.ir.text import print_module
from whorl.ir.types import TensorType

CAPTURES = """
module {
  func.func @main_graph(%x: tensor<?x3xf32> {onnx.dim_params = "0:batch", onnx.name = "x"}, %n: tensor<i64>)
      -> (tensor<?x3xf32> {onnx.name = "y"}) {
    %w = onnx.Constant dense<[1.0, -2.0, 3.0]> : tensor<3xf32>
    %t = onnx.Constant dense<true> : tensor<i1>
    %r = "onnx.Loop"(%n, %t, %x) ({
    ^bb0(%i: tensor<i64>, %g: tensor<i1>, %s: tensor<?x3xf32>):
      %q = "onnx.Mul"(%s, %w) : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
      %p = "onnx.If"(%g) ({
        %a = "onnx.Add"(%q, %x) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
        onnx.Yield %a : tensor<?x3xf32>
      }, {
        onnx.Yield %q : tensor<?x3xf32>
      }) : (tensor<i1>) -> tensor<?x3xf32>
      onnx.Yield %g, %p : tensor<i1>, tensor<?x3xf32>
    }) : (tensor<i64>, tensor<i1>, tensor<?x3xf32>) -> tensor<?x3xf32>
    onnx.Return %r : tensor<?x3xf32>
  }
  "onnx.EntryPoint"() {func = @main_graph} : () -> ()
}
"""


def written(folder: Path, text: str, name: str = "model.mlir") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def body(*lines: str, arguments: str = "%x: tensor<2x3xf32>", result: str = "%x : tensor<2x3xf32>") -> str:
    inside = "\n".join(f"  {line}" for line in lines)
    return f"func.func @f({arguments}) -> {result.partition(' : ')[2]} {{\n{inside}\n  onnx.Return {result}\n}}\n"


def test_captured_values_become_operands_and_run(tmp_path: Path) -> None:
    module = whorl.load(written(tmp_path, CAPTURES))
    assert [value.name for value in module.main.arguments] == ["x", "n"] and module.output_names == ["y"]
    (loop,) = [node for node in module.main.nodes if node.op.name == "Loop"]
    assert len(loop.inputs) == 5 and len(loop.regions[0].arguments) == 5
    x = np.array([[1, 2, 3]], np.float32)
    after = x * [1, -2, 3] + x
    result = whorl.run(module, {"x": x, "n": np.array(2)})["y"]
    assert np.array_equal(result, after * [1, -2, 3] + x)
    assert str(module.main.arguments[0].type) == "float32[batch, 3]"


def test_path_is_read_and_shown(tmp_path: Path) -> None:
    module = load_mlir(written(tmp_path, CAPTURES), LoadOptions())
    assert "Loop(%n, %t, %x" in print_module(module)


def test_regions_nested_too_deep_are_refused() -> None:
    depth = 80
    open_ifs = "".join(f'%a{k} = "onnx.If"(%c) ({{\n' for k in range(depth))
    close_ifs = "".join(
        "onnx.Yield %c : tensor<i1>\n}, {\nonnx.Yield %c : tensor<i1>\n}) : (tensor<i1>) -> tensor<i1>\n"
        for _ in range(depth)
    )
    text = f"func.func @f(%c: tensor<i1>) -> tensor<i1> {{\n{open_ifs}{close_ifs}onnx.Return %c : tensor<i1>\n}}"
    program = parse_program(text, "m.mlir")
    with pytest.raises(whorl.LoadError, match="nested deeper"):
        read_function(program, program.functions[0], LoadOptions())


def test_several_functions_need_an_entry_point(tmp_path: Path) -> None:
    one = body().replace("@f", "@one")
    two = body('%y = "onnx.Neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>', result="%y : tensor<2x3xf32>").replace(
        "@f", "@two"
    )
    with pytest.raises(whorl.LoadError, match=r"m\.mlir has 2 functions and no entry points"):
        whorl.load(written(tmp_path, one + two, "m.mlir"))
    module = whorl.load(written(tmp_path, one + two + '"onnx.EntryPoint"() {func = @two} : () -> ()', "m.mlir"))
    assert [node.op.name for node in module.main.nodes] == ["Neg"]
    with pytest.raises(whorl.LoadError, match="the entry point @three is no function"):
        whorl.load(written(tmp_path, one + '"onnx.EntryPoint"() {func = @three} : () -> ()', "m.mlir"))


def test_types_of_the_text_are_retained_where_inference_knows_less() -> None:
    text = body(
        '%a = "onnx.Squeeze"(%x, %i) : (tensor<*xf32>, tensor<1xi64>) -> tensor<?x5xf32>',
        arguments="%x: tensor<*xf32>, %i: tensor<1xi64>",
        result="%a : tensor<?x5xf32>",
    )
    program = parse_program(text, "m.mlir")
    (value,) = read_function(program, program.functions[0], LoadOptions()).module.main.results
    assert isinstance(value.type, TensorType) and value.type.shape[1] == 5


def test_missing_file_is_an_error_of_loading(tmp_path: Path) -> None:
    with pytest.raises(whorl.LoadError, match="cannot read"):
        whorl.load(tmp_path / "none.mlir")
    (tmp_path / "bytes.mlir").write_bytes(b"\xff\xfe")
    with pytest.raises(whorl.LoadError, match="is not UTF-8"):
        whorl.load(tmp_path / "bytes.mlir")


def test_without_xdsl_the_error_says_what_to_install(tmp_path: Path) -> None:
    path = written(tmp_path, CAPTURES)
    program = f"import sys; sys.modules['xdsl'] = None; import whorl; whorl.load({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert "LoadError: MLIR text needs xDSL" in done.stderr and "pip install 'whorl[mlir]'" in done.stderr
