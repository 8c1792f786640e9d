"""Reading MLIR text: what values become, what is refused, and where the message says it is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
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


def constant(text: str, type: str) -> np.ndarray:
    """The elements of a constant."""
    program = parse_program(
        f"func.func @f() -> {type} {{\n%a = onnx.Constant {text} : {type}\nonnx.Return %a : {type}\n}}", "c"
    )
    return whorl.run(read_function(program, program.functions[0], LoadOptions()).module, {})["output_0"]


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


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        ("dense<1.5>", "tensor<2xf32>", np.array([1.5, 1.5], np.float32)),
        ("dense<[[1, -2], [0x0F, 4]]>", "tensor<2x2xi32>", np.array([[1, -2], [15, 4]], np.int32)),
        ("dense<0xFFFFFFFF>", "tensor<i32>", np.array(-1, np.int32)),
        ("dense<[0x7FC0, 0xFF80]>", "tensor<2xbf16>", None),
        ("dense<[true, false, true]>", "tensor<3xi1>", np.array([True, False, True])),
        ('dense<"0x05">', "tensor<3xi1>", np.array([True, False, True])),
        ('dense<"0x01000100">', "tensor<2xi16>", np.array([1, 1], np.int16)),
        ("dense<[-8, 7]>", "tensor<2xi4>", None),
        ("dense<[(1.0,2.0), (0.5,-0.0)]>", "tensor<2xcomplex<f32>>", np.array([1 + 2j, 0.5], np.complex64)),
        ("dense<(1.0,2.0)>", "tensor<1xcomplex<f64>>", np.array([1 + 2j], np.complex128)),
        ('dense<["a", "\\C3\\A9\\22\\\\"]>', "tensor<2x!onnx.String>", np.array(["a", 'é"\\'], object)),
        ("dense<>", "tensor<0x4xf64>", np.zeros((0, 4))),
        ("dense<[[], []]>", "tensor<2x0xi8>", np.zeros((2, 0), np.int8)),
        ("sparse<[[0, 1]], 5>", "tensor<2x2xi64>", np.array([[0, 5], [0, 0]])),
        ("sparse<>", "tensor<2xf16>", np.zeros(2, np.float16)),
    ],
)
def test_elements_of_constants(text: str, type: str, expected: np.ndarray | None) -> None:
    found = constant(text, type)
    if expected is not None:
        assert found.dtype == expected.dtype and np.array_equal(found, expected) and found.shape == expected.shape
    else:
        assert found.size == 2


def read_functions(text: str) -> None:
    program = parse_program(text, "m.mlir")
    for function in program.functions:
        read_function(program, function, LoadOptions())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            body("%a = onnx.Constant dense<[[1, 2], [3]]> : tensor<2x2xi32>"),
            "m.mlir:2:28: 3 elements are given, the type has 4",
        ),
        (
            body("%a = onnx.Constant dense<[1, 2, 3, 4]> : tensor<2x2xi32>"),
            "m.mlir:2:28: the lists are not nested as [2, 2] says",
        ),
        (
            body("%a = onnx.Constant dense<[[1, 2, 3], [4]]> : tensor<2x2xi32>"),
            "m.mlir:2:28: a list does not have 2 elements",
        ),
        (body("%a = onnx.Constant dense<300> : tensor<i8>"), "m.mlir:2:28: an element does not fit into 8 bits"),
        (
            body("%a = onnx.Constant dense<1> : tensor<?xi8>"),
            "m.mlir:2:28: a tensor that is written out needs a static shape",
        ),
        (body('%a = onnx.Constant dense<"0x0102"> : tensor<3xi8>'), "m.mlir:2:28: 2 bytes are given, the type has 3"),
        (body("%a = onnx.Constant dense<[1, 2"), "m.mlir:2:28: this list is not closed by '>'"),
        (
            body("%a = onnx.Constant dense_resource<a> : tensor<3xi8>"),
            "m.mlir:2:36: there is no resource 'a' in the text",
        ),
        (
            body("%a = onnx.Constant dense_resource<__elided__> : tensor<3xi8>"),
            "m.mlir:2:36: the elements were left out when this text was printed",
        ),
        (
            body('%a = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf64>'),
            "m.mlir:2:8: Relu 'a': gives float32[2, 3], which is declared float64[2, 3]",
        ),
        (
            body('%a = "onnx.Relu"(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>'),
            "m.mlir:2:8: %y is used before it is defined",
        ),
        (
            body('%x = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>'),
            "m.mlir:2:8: %x is defined a second time",
        ),
        (
            body('%a = "onnx.Relu"(%x) : (tensor<2x3xf32>, none) -> tensor<2x3xf32>'),
            "m.mlir:2:8: has 1 operands of 2 types",
        ),
        (
            body('%a, %b = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>'),
            "m.mlir:2:12: has 2 results of 1 types",
        ),
        (
            body('%a = "onnx.Nothing"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>'),
            "m.mlir:2:8: onnx.Nothing is no operator that is known",
        ),
        (body('%a = "onnx.GeluV3"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>'), "m.mlir:2:8: Gelu has no version 3"),
        (
            body('%a = "krnl.load"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>'),
            "m.mlir:2:8: krnl.load is no operation of the onnx dialect",
        ),
        (
            body('%a = "onnx.Concat"(%x) {axis = "b"} : (tensor<2x3xf32>) -> tensor<2x3xf32>'),
            "m.mlir:2:8: attribute 'axis' is not what ONNX expects: INT",
        ),
        (
            body('%a = "onnx.Concat"(%x) {axis = 7 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>'),
            "m.mlir:2:8: Concat 'a': axis 7 is outside [-2, 2)",
        ),
        (
            body('%a = "onnx.Relu"(%x) {a = 1, a = 2} : (tensor<2x3xf32>) -> tensor<2x3xf32>'),
            "m.mlir:2:32: attribute 'a' is given twice",
        ),
        (body('%a = "onnx.Relu"(%x) : (memref<2xf32>) -> tensor<2x3xf32>'), "m.mlir:2:27: a value has to be a tensor"),
        (
            body('%a = "onnx.Relu"(%x) : (tensor<2xindex>) -> tensor<2x3xf32>'),
            "m.mlir:2:36: this is no element type of ONNX",
        ),
        (body("%a = arith.constant 1"), "m.mlir:2:8: arith.constant is not known in this form"),
        (
            body(result="%x, %x : tensor<2x3xf32>, tensor<2x3xf32>").replace(
                "-> tensor<2x3xf32>, tensor<2x3xf32>", "-> tensor<2x3xf32>"
            ),
            "m.mlir:3:3: returns 2 values, the function gives 1",
        ),
        ("func.func @f(%x: tensor<f32>) {\n}", "m.mlir:1:1: the block does not end with onnx.Return"),
        ("func.func @f(%x: tensor<f32>) {\n", "m.mlir:2:1: "),
        (
            "func.func @f(%x: tensor<f32>) -> tensor<f32> {\n^bb0:\n  onnx.Return %x : tensor<f32>\n^bb1:\n}",
            "m.mlir:4:1: a region of the onnx dialect has one block",
        ),
        ('"onnx.Relu"() : () -> ()', "m.mlir:1:1: onnx.Relu has no place outside of functions"),
        (
            "func.func @f(%x: none) -> tensor<f32> {\n  onnx.Return %x : none\n}",
            "m.mlir:2:3: a value is expected here, not none",
        ),
        (
            "func.func @f(%x: tensor<f32>) -> none {\n  onnx.Return %x : tensor<f32>\n}",
            "m.mlir:2:3: a value is returned where the function gives none",
        ),
        ("func.func @f(%x: none, %x: none) {\n  onnx.Return\n}", "m.mlir:1:1: %x is defined a second time"),
        ("\x00", "m.mlir:1:1: "),
        ("#a = ", "m.mlir:1:6: "),
        ("module {", "m.mlir:1:9: "),
    ],
)
def test_what_is_wrong_is_refused_with_its_line_and_column(text: str, message: str) -> None:
    with pytest.raises(whorl.LoadError) as refused:
        read_functions(text)
    assert str(refused.value).startswith(message), str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "#a = " + "[" * 100_000,
        "func.func @f(%x: " + "!onnx.Seq<" * 50_000,
        "module {" * 50_000,
        "#a = dense<" + "[" * 100_000 + "> : tensor<1xf32>",
        "func.func @f(%x: tensor<" + "1x" * 100_000 + "f32>) {}",
        '%a:999999999 = "onnx.Relu"() : () -> ()',
        "#a = dense<1> : tensor<99999999999x99999999999xi8>",
        '#a = "' + "a" * 1_000_000,
        "// " + "-" * 100_000,
        "{-#" * 1000,
        f"#a = {'9' * 10_000}",
        f"#a = dense<{'9' * 10_000}> : tensor<i64>",
        f"func.func @f(%x: tensor<{'9' * 10_000}xf32>) {{}}",
    ],
)
def test_hostile_text_ends_soon_with_an_error_or_nothing(text: str) -> None:
    began = time.process_time()
    try:
        parse_program(text, "m.mlir")
    except whorl.LoadError as error:
        assert len(str(error)) < 1000
    assert time.process_time() - began < 5


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


def test_types_of_the_text_are_kept_where_inference_knows_less() -> None:
    text = body(
        '%a = "onnx.Squeeze"(%x, %i) : (tensor<*xf32>, tensor<1xi64>) -> tensor<?x5xf32>',
        arguments="%x: tensor<*xf32>, %i: tensor<1xi64>",
        result="%a : tensor<?x5xf32>",
    )
    program = parse_program(text, "m.mlir")
    (value,) = read_function(program, program.functions[0], LoadOptions()).module.main.results
    assert isinstance(value.type, TensorType) and value.type.shape[1] == 5


def test_large_constants_are_read_quickly() -> None:
    data = np.arange(1 << 20, dtype=np.float32).tobytes().hex()
    began = time.process_time()
    found = constant(f'dense<"0x{data}">', f"tensor<{1 << 20}xf32>")
    assert found[-1] == (1 << 20) - 1 and time.process_time() - began < 3


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


def test_default_of_an_input_is_kept(tmp_path: Path) -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
    g (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Add(x, w) }"""
    module = whorl.load(onnx.parser.parse_model(text))
    whorl.save(module, tmp_path / "m.mlir")
    again = whorl.load(tmp_path / "m.mlir")
    assert np.array_equal(again.defaults["w"], [1, 2])
    assert np.array_equal(whorl.run(again, {"x": np.zeros(2, np.float32)})["y"], [1, 2])
