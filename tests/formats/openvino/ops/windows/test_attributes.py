"""Strides, dilations and padding of windows in both directions."""

import pytest

from whorl.errors import LoadError, SaveError
from whorl.formats.openvino.ops.windows.attributes import require_spatial, window_attributes, window_fields
from whorl.formats.openvino.reading.importer import IrNode
from whorl.ops.windows.pooling import MaxPool


def read(**attributes: str) -> dict:
    return window_fields(IrNode("MaxPool", 1, "p", [], [], attributes={"strides": "1,1"} | attributes))


def test_padding_is_the_begins_and_then_the_ends() -> None:
    assert read(pads_begin="1,2", pads_end="3,4")["pads"] == (1, 2, 3, 4)


@pytest.mark.parametrize("pad", ["explicit", "NOTSET", "Explicit "])
def test_padding_by_nothing_is_none(pad: str) -> None:
    assert read(pads_begin="0,0", pads_end="0,0", auto_pad=pad) == {
        "strides": (1, 1),
        "dilations": None,
        "auto_pad": "NOTSET",
        "pads": None,
    }


@pytest.mark.parametrize("pad", ["same_upper", "same_lower", "valid"])
def test_padding_beside_an_automatic_one_has_no_effect(pad: str) -> None:
    fields = read(pads_begin="1,1", pads_end="1,1", auto_pad=pad)
    assert (fields["auto_pad"], fields["pads"]) == (pad.upper(), None)


def test_automatic_padding_that_is_none_is_refused() -> None:
    with pytest.raises(LoadError) as caught:
        read(auto_pad="same")
    assert str(caught.value) == (
        "MaxPool 'p': auto_pad is 'same'\n  fix: choose from explicit, same_upper, same_lower, valid, notset"
    )


def test_steps_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(LoadError) as caught:
        read(strides="1,x")
    assert str(caught.value) == "MaxPool 'p': strides is 'x', expected a number"


def test_fields_that_are_left_out_are_written_as_ones_and_zeros() -> None:
    assert window_attributes(MaxPool((2, 2)), 2) == {
        "strides": (1, 1),
        "dilations": (1, 1),
        "pads_begin": (0, 0),
        "pads_end": (0, 0),
        "auto_pad": "explicit",
    }


def test_padding_of_the_op_is_written_unless_another_is_expected() -> None:
    op = MaxPool((2, 2), pads=(1, 2, 3, 4))
    assert window_attributes(op, 2)["pads_end"] == (3, 4)
    assert window_attributes(op, 2, (5, 6, 7, 8), "SAME_LOWER")["pads_end"] == (7, 8)
    assert window_attributes(op, 2, (5, 6, 7, 8), "SAME_LOWER")["auto_pad"] == "same_lower"


@pytest.mark.parametrize("count", [0, 4])
def test_numbers_of_axes_without_a_kernel_are_refused(count: int) -> None:
    with pytest.raises(SaveError) as caught:
        require_spatial(count)
    assert str(caught.value) == f"has {count} spatial axes\n  fix: OpenVINO takes one to three"
    require_spatial(3)
