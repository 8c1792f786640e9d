"""Functions of MLIR text as ONNX models."""

from __future__ import annotations

import pytest

from whorl.errors import LoadError
from whorl.formats.mlir.parser import parse_program
from whorl.formats.mlir.protos import Converted, convert_function, with_dim_names
from whorl.ir import dims
from whorl.ir.dtypes import BY_NAME
from whorl.ir.types import SequenceType, TensorType

HEAD = "func.func @f(%x: tensor<?x2xf32>{0}) -> (tensor<?x2xf32>{1}) {{\n{2}\n  onnx.Return %a : tensor<?x2xf32>\n}}\n"
NEGATIVE = '  %a = "onnx.Neg"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>'


def converted(body: str = NEGATIVE, argument: str = "", result: str = "") -> Converted:
    program = parse_program(HEAD.format(argument, result, body), "m.mlir")
    return convert_function(program, program.functions[0])


def test_names_are_ones_that_attributes_say_else_ones_of_the_text() -> None:
    graph = converted().model.graph
    assert [info.name for info in graph.input] == ["x"]
    named = converted(argument=' {onnx.name = "a b"}', result=' {onnx.name = "out"}')
    assert [info.name for info in named.model.graph.input] == ["a b"]
    assert named.result_names == ["out"]
    assert converted().result_names == ["output_0"]


def test_omitted_inputs_at_the_end_are_left_out() -> None:
    body = """  %n = "onnx.NoValue"() {value} : () -> none
  %a = "onnx.Clip"(%x, %n, %n) : (tensor<?x2xf32>, none, none) -> tensor<?x2xf32>"""
    (node,) = converted(body).model.graph.node
    assert list(node.input) == ["x"]


def test_older_version_of_an_op_is_a_function_of_that_version() -> None:
    body = '  %a = "onnx.ClipV6"(%x) {max = 1.0 : f32, min = 0.0 : f32} : (tensor<?x2xf32>) -> tensor<?x2xf32>'
    model = converted(body).model
    (function,) = model.functions
    assert [entry.version for entry in function.opset_import if not entry.domain] == [6]
    assert [node.op_type for node in function.node] == ["Clip"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (NEGATIVE.replace("%x)", "%y)"), "m.mlir:2:8: %y is used before it is defined"),
        (
            NEGATIVE.replace("(%x)", "(%x) {axis = 1 : si64}"),
            "m.mlir:2:8: ",
        ),
        (
            '  %a = "onnx.Softmax"(%x) {axis = "b"} : (tensor<?x2xf32>) -> tensor<?x2xf32>',
            "m.mlir:2:8: attribute 'axis' is not what ONNX expects: INT",
        ),
    ],
    ids=["operand", "unknown attribute", "kind"],
)
def test_operation_that_is_wrong_is_refused_with_its_position(body: str, message: str) -> None:
    if message == "m.mlir:2:8: ":
        (node,) = converted(body).model.graph.node
        assert not node.attribute
        return
    with pytest.raises(LoadError) as refused:
        converted(body)
    assert str(refused.value).startswith(message)


def test_dims_get_the_names_that_the_text_says() -> None:
    f32 = BY_NAME["float32"]
    unnamed = TensorType(f32, (dims.UNKNOWN, 2, dims.UNKNOWN))
    assert str(with_dim_names(unnamed, "0:batch,2:length")) == "float32[batch, 2, length]"
    assert with_dim_names(unnamed, None) == unnamed
    sequence = SequenceType(unnamed)
    assert with_dim_names(sequence, "0:batch") == sequence


@pytest.mark.parametrize("names", ["x:batch", "9:batch", "batch", ":", 7, "0:"])
def test_names_of_dims_that_make_no_sense_are_refused_or_left_out(names: object) -> None:
    type = TensorType(BY_NAME["float32"], (dims.UNKNOWN, 2))
    assert with_dim_names(type, names).shape[1] == 2  # type: ignore[union-attr]
