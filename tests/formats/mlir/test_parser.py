"""The grammar of MLIR text: what is refused, and where the message says it is."""

from __future__ import annotations

import time

import pytest

import whorl
from whorl.formats.mlir.parser import parse_program
from whorl.formats.mlir.reader import read_function
from whorl.formats.options import LoadOptions


def body(*lines: str, arguments: str = "%x: tensor<2x3xf32>", result: str = "%x : tensor<2x3xf32>") -> str:
    inside = "\n".join(f"  {line}" for line in lines)
    return f"func.func @f({arguments}) -> {result.partition(' : ')[2]} {{\n{inside}\n  onnx.Return {result}\n}}\n"


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
