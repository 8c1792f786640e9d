"""Attributes become fields: which of them are element types."""

import typing

import numpy as np
import pytest

import whorl.ops
from whorl.formats.onnx.importing import element_type_fields
from whorl.ir.graph import REGISTRY
from whorl.ops.elementwise.casting import Cast
from whorl.ops.linear.quantization import QuantizeLinear

assert whorl.ops


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_element_types_are_the_fields_of_that_type(name: str) -> None:
    kind = REGISTRY[name]
    hints = typing.get_type_hints(kind)
    expected = {field for field in kind.__struct_fields__ if np.dtype in (hints[field], *typing.get_args(hints[field]))}
    assert element_type_fields(kind) == expected


def test_optional_element_types_count() -> None:
    assert element_type_fields(Cast) == {"to"}
    assert element_type_fields(QuantizeLinear) == {"output_dtype", "precision"}
