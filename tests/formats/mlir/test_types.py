"""The types of MLIR's onnx dialect."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.formats.mlir.types import FROM_NAME, TO_NAME, type_text, types_text
from whorl.ir import dims
from whorl.ir.dtypes import BY_NAME, STRING
from whorl.ir.types import MapType, OptionalType, SequenceType, TensorType

F32 = np.dtype(np.float32)


def test_types_by_name() -> None:
    n, unknown = dims.name("n"), dims.UNKNOWN
    assert type_text(TensorType(F32, (n, 3, unknown))) == "tensor<?x3x?xf32>"
    assert type_text(TensorType(BY_NAME["uint8"])) == "tensor<*xui8>"
    assert type_text(SequenceType(TensorType(STRING, ()))) == "!onnx.Seq<tensor<!onnx.String>>"
    assert type_text(OptionalType(TensorType(BY_NAME["bool"], (2,)))) == "!onnx.Opt<tensor<2xi1>>"
    assert type_text(MapType(BY_NAME["int64"], TensorType(F32, ()))) == "!onnx.Map<i64, tensor<f32>>"
    assert type_text(None) == "none"
    assert set(TO_NAME) == set(BY_NAME.values()) and all(FROM_NAME[name] == dtype for dtype, name in TO_NAME.items())


@pytest.mark.parametrize(
    ("types", "text"),
    [
        ([TensorType(F32, (2,))], "tensor<2xf32>"),
        ([], "()"),
        ([None, TensorType(F32, ())], "(none, tensor<f32>)"),
    ],
)
def test_results_of_a_function_are_bare_or_in_brackets(types: list, text: str) -> None:
    assert types_text(types) == text


def test_signed_integers_have_two_names() -> None:
    assert FROM_NAME["si8"] == FROM_NAME["i8"] == np.int8
    assert FROM_NAME["ui8"] == np.uint8
    assert TO_NAME[np.dtype(np.int8)] == "i8"
