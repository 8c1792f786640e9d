"""How the ops of the onnx dialect are named."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import AttributeProto

from whorl.errors import LoadError
from whorl.formats.mlir.dialect import VERSION, OpForm, form_of
from whorl.formats.mlir.syntax import Opaque, Operation


def form(name: str, **attributes: Any) -> OpForm:
    return form_of(Operation(f"onnx.{name}", 0, attributes=attributes))


@pytest.mark.parametrize(
    ("name", "bare", "domain", "version"),
    [
        ("Relu", "Relu", "", None),
        ("PadV13", "Pad", "", 13),
        ("ClipV6", "Clip", "", 6),
        ("MaxPoolSingleOut", "MaxPool", "", None),
        ("BatchNormalizationInferenceMode", "BatchNormalization", "", None),
        ("BatchNormalizationInferenceModeV9", "BatchNormalization", "", 9),
        ("Scaler", "Scaler", "ai.onnx.ml", None),
        ("Adam", "Adam", "ai.onnx.preview.training", None),
        ("Upsample", "Upsample", "", 9),
        ("LayoutTransform", "LayoutTransform", VERSION, None),
    ],
)
def test_name_says_op_domain_and_version(name: str, bare: str, domain: str, version: int | None) -> None:
    """A deprecated op is of the last version that was not."""
    settings_form = form(name)
    assert (settings_form.name, settings_form.domain, settings_form.version) == (bare, domain, version)


def test_kinds_of_attributes_are_ones_of_the_schema() -> None:
    assert form("Concat").kinds == {"axis": AttributeProto.INT}
    assert form("If").regions == ("then_branch", "else_branch")


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("arith.addf", "arith.addf is no operation of the onnx dialect"),
        ("onnx.Nothing", "onnx.Nothing is no operator that is known\n  fix: write it with operators of ONNX"),
        ("onnx.GeluV3", "Gelu has no version 3"),
        ("onnx.ReluV99", "Relu has no version 99"),
        ("onnx.Custom", "onnx.Custom lacks the attribute 'function_name'"),
    ],
)
def test_operation_that_is_none_is_refused(operation: str, message: str) -> None:
    with pytest.raises(LoadError) as refused:
        form_of(Operation(operation, 0))
    assert str(refused.value) == message


def test_custom_operation_is_named_by_its_attributes() -> None:
    values = {"i": 1, "f": 0.5, "s": "a", "ints": (1, 2), "floats": (0.5,), "strings": ("a",), "none": ()}
    custom = form("Custom", function_name="F", domain_name="mine", onnx_node_name="n", **values)
    assert (custom.name, custom.domain, custom.version) == ("F", "mine", None)
    kinds = ("INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS", "INTS")
    assert custom.kinds == dict(zip(values, (getattr(AttributeProto, kind) for kind in kinds), strict=True))


@pytest.mark.parametrize("value", [(1, 2.5), ("a", 1), Opaque("#x<y>")], ids=str)
def test_attribute_of_a_custom_operation_is_not_dropped(value: object) -> None:
    with pytest.raises(LoadError) as refused:
        form("Custom", function_name="F", a=value)
    assert str(refused.value) == "attribute 'a' of onnx.Custom is no number, no text and no list of one of them"
