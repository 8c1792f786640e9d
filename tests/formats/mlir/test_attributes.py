"""Types and attributes of MLIR text as Python values."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.utils.exceptions import ParseError

from whorl.formats.mlir.attributes import AttributeParser
from whorl.formats.mlir.syntax import FunctionType, Opaque, Symbol
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BY_NAME, STRING
from whorl.ir.types import MapType, OptionalType, SequenceType, TensorType

F32 = BY_NAME["float32"]
SCALAR = TensorType(F32, ())


def attribute(text: str) -> object:
    return AttributeParser(text, "t").parse_attribute()


def type_of(text: str) -> object:
    return AttributeParser(text, "t").parse_type()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-4 : i4", -4),
        ("4 : ui4", 4),
        ("-1 : si64", -1),
        ("-0x10 : i8", -16),
        ("0x3F800000 : f32", 1.0),
        ("-1 : f32", -1.0),
        ("-1.5e1 : f64", -15.0),
        ("true", True),
        ("unit", True),
        ('"a\\22b" : !x<y>', 'a"b'),
        ("@name", Symbol("name")),
        ('@"two words"', Symbol("two words")),
        ("array<i64: 1, 2>", (1, 2)),
        ("array<i64>", ()),
        ('[1, "a", [2.5]]', (1, "a", (2.5,))),
        ("{a = 1, b}", {"a": 1, "b": True}),
        ("#other<a, <b>>", Opaque("#other<a, <b>>")),
        ("affine_map<(d0) -> (d0)>", Opaque("affine_map<(d0) -> (d0)>")),
        ("tensor<f32>", SCALAR),
    ],
)
def test_attribute_is_a_python_value(text: str, value: object) -> None:
    result = attribute(text)
    assert (result, type(result)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tensor<2x?xf32>", TensorType(F32, (2, UNKNOWN))),
        ("tensor< 2 x 3 x f32 >", TensorType(F32, (2, 3))),
        ("tensor<*xf32>", TensorType(F32)),
        ("tensor<2xf32, #layout<a>>", TensorType(F32, (2,))),
        ("tensor<complex<f64>>", TensorType(BY_NAME["complex128"], ())),
        ("!onnx.Opt<!onnx.Seq<tensor<f32>>>", OptionalType(SequenceType(SCALAR))),
        ("!onnx.Map<!onnx.String, tensor<f32>>", MapType(STRING, SCALAR)),
        ("(tensor<f32>, none) -> ()", FunctionType((SCALAR, None), ())),
        ("() -> tensor<f32>", FunctionType((), (SCALAR,))),
        ("none", None),
        ("index", Opaque("index")),
        ("memref<2xf32>", Opaque("memref<2xf32>")),
        ("complex<bf16>", Opaque("complex<bf16>")),
    ],
)
def test_type_is_that_of_the_hub_or_remains_text(text: str, expected: object) -> None:
    assert type_of(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tensor<complex<i32>>", "this is no element type of ONNX"),
        ("!onnx.Map<tensor<f32>, tensor<f32>>", "a map has an element type as its key, and values"),
        ("!onnx.Map<i64, none>", "a map has an element type as its key, and values"),
        ("!onnx.Seq<none>", "an element type is expected"),
        ("tensor", "'<' expected"),
        ("(index) -> ()", "a value has to be a tensor, a sequence, an optional or none"),
        ("x<(>", "this bracket is not closed"),
        ("7", "a type is expected"),
    ],
)
def test_type_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError) as refused:
        type_of(text)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-", "a number is expected"),
        ("0x100000000 : f32", "an element does not fit into 32 bits"),
        ("{a, a = 1}", "attribute 'a' is given twice"),
        ("dense<1> : memref<2xi8>", "a tensor type is expected here"),
        ("dense_resource<r> : tensor<1xi8>", "there is no resource 'r' in the text"),
        ("sparse<[[0]], 1", "this list is not closed by '>'"),
    ],
)
def test_attribute_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError) as refused:
        attribute(text)
    assert message in str(refused.value)


def test_names_of_types_and_attributes_stand_for_what_was_defined() -> None:
    parser = AttributeParser("[#a, !t]", "t")
    parser.aliases["#a"], parser.types["!t"] = 5, SCALAR
    assert parser.parse_attribute() == (5, SCALAR)


def test_attributes_keep_their_text_but_for_arrays() -> None:
    parser = AttributeParser("{a = 1 : si64, flag, c = dense<1> : tensor<2xi8>}", "t")
    values, texts = parser.parse_dictionary()
    assert texts == {"a": "1 : si64", "flag": "", "c": ""}
    assert np.asarray(values["c"]).tolist() == [1, 1]
