"""Numbers, texts and types as MLIR prints them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whorl
from whorl.formats.mlir.elements import print_dense, read_dense, unescaped
from whorl.formats.mlir.numbers import float_text, string_text
from whorl.formats.mlir.parser import parse_program
from whorl.formats.mlir.reader import read_function
from whorl.formats.mlir.saving import print_mlir
from whorl.formats.mlir.types import FROM_NAME, TO_NAME, type_text
from whorl.formats.options import LoadOptions
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dtypes import BY_NAME, COMPLEX, FLOATS, STRING
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import MapType, OptionalType, SequenceType, TensorType

F32 = np.dtype(np.float32)


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (1.0, np.float32, "1.000000e+00"),
        (-0.0, np.float32, "-0.000000e+00"),
        (0.1, np.float32, "1.000000e-01"),
        (1 / 3, np.float32, "0.333333343"),
        (-3.9825665e-10, np.float32, "-3.9825665E-10"),
        (1 / 3, np.float64, "0.33333333333333331"),
        (123456.7, np.float32, "123456.703"),
        (16777217.0, np.float64, "0x4170000010000000"),
        (1e300, np.float64, "1.000000e+300"),
        (3.14, np.float16, "3.140630e+00"),
        (3.3895314e38, ml_dtypes.bfloat16, "3.389530e+38"),
        (np.inf, np.float32, "0x7F800000"),
        (-np.inf, ml_dtypes.bfloat16, "0xFF80"),
        (np.nan, np.float64, "0x7FF8000000000000"),
        (np.nan, ml_dtypes.float8_e4m3fnuz, "0x80"),
        (448.0, ml_dtypes.float8_e4m3fn, "4.480000e+02"),
        (2.5, np.float32, "2.500000e+00"),
        (5.2, np.float32, "5.200000e+00"),
        (6.2, np.float32, "6.1999998"),
        (1e-45, np.float32, "1.401300e-45"),
    ],
)
def test_float_as_llvm_prints_it(value: float, dtype: type, text: str) -> None:
    kind = np.dtype(dtype)
    assert float_text(np.asarray(value).astype(kind)[()], kind) == text


@given(st.floats(width=32, allow_nan=False))
@settings(max_examples=300, deadline=None)
def test_float_text_is_read_back(value: float) -> None:
    text = float_text(np.float32(value), F32)
    assert read_dense(text, TensorType(F32, ()))[()].tobytes() == np.float32(value).tobytes()


@pytest.mark.parametrize("name", [name for name, dtype in BY_NAME.items() if dtype != STRING])
@pytest.mark.parametrize("size", [0, 1, 5, 120])
def test_elements_of_every_type_are_read_back(name: str, size: int) -> None:
    dtype = BY_NAME[name]
    draw = np.random.default_rng(size)
    array = (
        draw.integers(0, 2, size).astype(dtype)
        if dtype in COMPLEX | FLOATS
        else draw.integers(0, 2, size).astype(np.int8).astype(dtype)
    )
    text = print_dense(array)
    again = read_dense(text[len("dense<") : -1], TensorType(dtype, array.shape))
    assert again.dtype == dtype and again.tobytes() == array.tobytes()
    assert (text.startswith('dense<"0x')) == (size > 100)


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.full((2, 2), 7, np.int8), "dense<7>"),
        (np.array([[1, 2], [3, 4]]), "dense<[[1, 2], [3, 4]]>"),
        (np.zeros((3, 0)), "dense<>"),
        (np.array([0.0, -0.0], np.float32), "dense<[0.000000e+00, -0.000000e+00]>"),
        (np.array(["a", "b"], object), 'dense<["a", "b"]>'),
        (np.array([1 + 2j], np.complex64), "dense<(1.000000e+00,2.000000e+00)>"),
        (np.arange(101) % 2 == 0, 'dense<"0x55555555555555555555555515">'),
        (np.arange(6).reshape(2, 3).T, "dense<[[0, 3], [1, 4], [2, 5]]>"),
    ],
)
def test_dense_is_a_splat_a_list_or_bytes(array: np.ndarray, text: str) -> None:
    assert print_dense(array) == text


@given(st.text(max_size=20))
def test_text_is_read_back(text: str) -> None:
    if text.isprintable() or text.isascii():
        assert unescaped(string_text(text)[1:-1]) == text


def test_types_by_name() -> None:
    n, unknown = dims.name("n"), dims.UNKNOWN
    assert type_text(TensorType(F32, (n, 3, unknown))) == "tensor<?x3x?xf32>"
    assert type_text(TensorType(BY_NAME["uint8"])) == "tensor<*xui8>"
    assert type_text(SequenceType(TensorType(STRING, ()))) == "!onnx.Seq<tensor<!onnx.String>>"
    assert type_text(OptionalType(TensorType(BY_NAME["bool"], (2,)))) == "!onnx.Opt<tensor<2xi1>>"
    assert type_text(MapType(BY_NAME["int64"], TensorType(F32, ()))) == "!onnx.Map<i64, tensor<f32>>"
    assert type_text(None) == "none"
    assert set(TO_NAME) == set(BY_NAME.values()) and all(FROM_NAME[name] == dtype for dtype, name in TO_NAME.items())


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
