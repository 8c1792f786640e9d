"""Shapes as IR writes them."""

import pytest
from formats.openvino.ir_text import (
    net,
    parameter,
    result,
)

import whorl
from whorl.errors import LoadError
from whorl.formats.openvino.shapes import fixed_shape, shape_of


def refused(data: bytes, weights: bytes = b"") -> str:
    with pytest.raises(LoadError) as error:
        whorl.load(data, weights=weights)
    return str(error.value)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("", "float32[]"),
        ("[2,3]", "float32[2, 3]"),
        (" 2 , 3 ", "float32[2, 3]"),
        ("?,3", "float32[x.0, 3]"),
        ("-1,1..4,2..,..4,5..5", "float32[x.0, x.1, x.2, x.3, 5]"),
        ("0", "float32[0]"),
        ("...", "float32[*]"),
    ],
)
def test_shape_of_a_parameter(shape, expected):
    module = whorl.load(net([parameter(0, shape, name="x"), result(1)], "0:0-1:0"))
    assert str(module.main.arguments[0].type) == expected
    assert module.metadata["openvino"]["inputs"]["x"]["shape"] == shape


@pytest.mark.parametrize("shape", ["x", "-2", "3..1", "2,,3", "1.5", "99999999999999999999", "....", "1...2"])
def test_shape_that_is_none_is_refused(shape):
    assert "Parameter 'x' (line 4): OV405: the shape is" in refused(
        net([parameter(0, shape, name="x"), result(1)], "0:0-1:0")
    )


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (" 2 , 3 ", (2, 3)),
        ("[ 2 ]", (2,)),
        ("[]", ()),
        ("7..7", (7,)),
    ],
)
def test_numbers_are_read(text, shape):
    assert shape_of(text, "w") == fixed_shape(text, "w") == shape


@pytest.mark.parametrize("text", ["?", "2,?", "...", "1..4", "-1"])
def test_constant_has_a_fixed_shape(text):
    with pytest.raises(LoadError) as caught:
        fixed_shape(text, "Const 'c'")
    assert str(caught.value).startswith(f"Const 'c': OV405: the shape is {text!r}, a constant has a fixed one")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",".join("1" * 65), "the shape has 65 dims, more than 64"),
        ("1,x", "the shape is '1,x', where 'x' is no dim\n  fix: write a number or ?"),
        ("4..2", "the shape is '4..2', where '4..2' holds no number"),
        ("99999999999,99999999999", "the shape is '99999999999,99999999999', which is impossible"),
    ],
)
def test_shape_that_is_none_says_why(text, message):
    with pytest.raises(LoadError) as caught:
        shape_of(text, "w")
    assert str(caught.value).startswith(f"w: OV405: {message}")
