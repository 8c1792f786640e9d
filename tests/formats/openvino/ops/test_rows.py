"""Rows of a table: fields with their conversions, and which row an op is written by."""

import numpy as np
import pytest

from whorl.errors import LoadError
from whorl.formats.openvino.ops.rows import Field, Row, choice, flag, integer, number
from whorl.formats.openvino.reading.importer import IrNode
from whorl.ops.elementwise.functions import Tanh
from whorl.ops.elementwise.nonlinear import Gelu


def node(**attributes: str) -> IrNode:
    return IrNode("Layer", 1, "l", [], [], attributes=attributes)


@pytest.mark.parametrize(
    ("field", "text", "value", "written"),
    [
        (integer("axis"), "-2", -2, -2),
        (number("alpha"), "0.5", 0.5, 0.5),
        (flag("keepdims", "keep_dims"), "TRUE", 1, True),
        (flag("keepdims", "keep_dims"), "0", 0, False),
        (flag("late", opposite=True), "true", 0, True),
        (flag("late", opposite=True), "false", 1, False),
        (choice("mode", {"ERF": "none", "TANH": "tanh"}), "Erf", "none", "ERF"),
    ],
)
def test_field_is_read_and_written_back(field: Field, text: str, value: object, written: object) -> None:
    settings = field.read(node(**{field.attribute: text}))
    assert (settings, type(settings)) == (value, type(value))
    assert field.write(settings) == written


@pytest.mark.parametrize(
    ("field", "value"),
    [(integer("axis", default=1), 1), (number("alpha", default=0.25), 0.25), (flag("late", default=True), 1)],
)
def test_attribute_that_is_left_out_has_its_default(field: Field, value: object) -> None:
    assert field.read(node()) == value


def test_attribute_without_a_default_is_required() -> None:
    with pytest.raises(LoadError) as caught:
        integer("axis").read(node())
    assert str(caught.value) == "Layer 'l': lacks the attribute 'axis'"


def test_text_that_is_no_choice_is_refused() -> None:
    with pytest.raises(LoadError) as caught:
        choice("mode", {"ERF": "none", "TANH": "tanh"}).read(node(mode="sin"))
    assert str(caught.value) == "Layer 'l': mode is 'sin'\n  fix: choose from erf, tanh"


def test_row_is_written_as_its_newest_opset_unless_another_is_named() -> None:
    assert Row("Tanh", (1, 9), Tanh).opset == 9
    assert Row("Tanh", (1, 9), Tanh, written=1).opset == 1
    assert Row("Tanh", 4, Tanh).versions == (4,)


def test_row_that_is_only_read_writes_no_op() -> None:
    assert not Row("Tanh", 1, Tanh, written=0).applies(Tanh())
    assert Row("Tanh", 1, Tanh).applies(Tanh())


def test_row_with_fixed_fields_writes_ops_that_have_them() -> None:
    row = Row("Gelu", 2, Gelu, only={"approximate": "none"})
    assert row.applies(Gelu())
    assert not row.applies(Gelu("tanh"))


def test_numbers_are_written_as_plain_ones() -> None:
    """A field may hold a NumPy number, which a file would show with its type."""
    assert type(number("alpha").write(np.float32(0.5))) is float
    assert type(integer("axis").write(np.int64(1))) is int
