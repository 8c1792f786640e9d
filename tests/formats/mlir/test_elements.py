"""The elements of a tensor in MLIR text."""

from __future__ import annotations

import time

import numpy as np
import pytest

import whorl
from whorl.formats.mlir.elements import is_repeated, print_dense, read_dense, read_sparse
from whorl.formats.mlir.parser import parse_program
from whorl.formats.mlir.reader import read_function
from whorl.formats.options import LoadOptions
from whorl.ir.dtypes import BY_NAME, COMPLEX, FLOATS, STRING
from whorl.ir.types import TensorType


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


def constant(text: str, type: str) -> np.ndarray:
    """The elements of a constant."""
    program = parse_program(
        f"func.func @f() -> {type} {{\n%a = onnx.Constant {text} : {type}\nonnx.Return %a : {type}\n}}", "c"
    )
    return whorl.run(read_function(program, program.functions[0], LoadOptions()).module, {})["output_0"]


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
    settings = constant(text, type)
    if expected is not None:
        assert (
            settings.dtype == expected.dtype and np.array_equal(settings, expected) and settings.shape == expected.shape
        )
    else:
        assert settings.size == 2


def test_large_constants_are_read_quickly() -> None:
    data = np.arange(1 << 20, dtype=np.float32).tobytes().hex()
    began = time.process_time()
    settings = constant(f'dense<"0x{data}">', f"tensor<{1 << 20}xf32>")
    assert settings[-1] == (1 << 20) - 1 and time.process_time() - began < 3


@pytest.mark.parametrize(
    ("body", "type", "message"),
    [
        ("1.5", "int32", "'1.5' is no integer"),
        ("abc", "float32", "'abc' is no number"),
        ("[1, 2", "float32", "2 elements are given, the type has 1"),
        ("1 2", "int8", "expected one element, or a list in brackets"),
        ("0x1F", "float4e2m1", "an element does not fit into 4 bits"),
        ("0x10000", "float16", "an element does not fit into 16 bits"),
        ("16", "int4", "an element does not fit into 4 bits"),
        ('"0x123"', "int8", "expected two hexadecimal digits for each byte"),
        ('"123"', "int8", 'expected bytes as "0x..."'),
        ("9" * 5000, "int64", f"'{'9' * 40}' is no integer"),
    ],
)
def test_elements_that_are_none_of_the_type_are_refused(body: str, type: str, message: str) -> None:
    with pytest.raises(ValueError) as refused:
        read_dense(body, TensorType(BY_NAME[type], ()))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        ("sparse<[[0, 1]], (1.0,2.0)>", "tensor<2x2xcomplex<f32>>", np.array([[0, 1 + 2j], [0, 0]], np.complex64)),
        ('sparse<[[1]], "a b, c">', "tensor<2x!onnx.String>", np.array(["", "a b, c"], object)),
        ("sparse<[[0], [2]], true>", "tensor<3xi1>", np.array([True, False, True])),
        ("sparse<[[0], [2]], [1, -1]>", "tensor<3xi8>", np.array([1, 0, -1], np.int8)),
    ],
)
def test_sparse_elements_of_every_kind(text: str, type: str, expected: np.ndarray) -> None:
    array = constant(text, type)
    assert array.dtype == expected.dtype
    assert array.tolist() == expected.tolist()


def test_sparse_index_outside_is_refused() -> None:
    with pytest.raises(ValueError, match=r"index \[5\] lies outside"):
        read_sparse(np.array([5]), np.array([1]), TensorType(BY_NAME["int64"], (2,)))


def test_array_that_repeats_one_element_is_known_without_a_look_at_it() -> None:
    assert is_repeated(np.broadcast_to(np.float32(1), (1 << 40,)))
    assert not is_repeated(np.ones(2))
    assert not is_repeated([1, 1])
