"""Pad and CenterCropPad."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import listed, shaped
from named_dims import M, N, check_has, known_of, shape_of
from single_node import feeds, onnxruntime_run, single_node

from whorl.errors import RunError, TypeRuleError
from whorl.ops.movement.padding import CenterCropPad, Pad

ROW = np.arange(1, 5, dtype=np.float32)


def ints(*numbers):
    return np.array(numbers, np.int64)


@pytest.mark.parametrize(
    ("mode", "pads", "expected"),
    [
        ("constant", (1, 2), [0, 1, 2, 3, 4, 0, 0]),
        ("constant", (-1, 1), [2, 3, 4, 0]),
        ("constant", (-6, 4), [0, 0]),
        ("edge", (2, 1), [1, 1, 1, 2, 3, 4, 4]),
        ("edge", (-1, 2), [2, 3, 4, 4, 4]),
        ("edge", (2, -2), [1, 1, 1, 2]),
        ("reflect", (2, 1), [3, 2, 1, 2, 3, 4, 3]),
        ("reflect", (-1, 2), [2, 3, 4, 3, 2]),
        ("wrap", (2, 1), [3, 4, 1, 2, 3, 4, 1]),
        ("wrap", (5, 0), [4, 1, 2, 3, 4, 1, 2, 3, 4]),
        ("wrap", (-1, 2), [2, 3, 4, 2, 3]),
    ],
)
def test_pad_modes_of_a_row(mode, pads, expected):
    assert Pad(mode).run(ROW, ints(*pads)).tolist() == expected
    inputs = [ROW, ints(*pads)]
    if pads != (-6, 4):
        assert onnxruntime_run(single_node("Pad", inputs, 21, mode=mode), feeds(inputs))[0].tolist() == expected


@pytest.mark.parametrize(("length", "pads"), [(4, (9, 11)), (2, (5, 4)), (1, (2, 3))])
@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_pads_longer_than_the_axis_go_on_as_numpy_does(mode, length, pads):
    x = np.arange(length)
    np.testing.assert_array_equal(Pad(mode).run(x, ints(*pads)), np.pad(x, pads, mode=mode))


def test_pad_of_named_axes_only():
    x = np.ones((2, 3), np.float32)
    padded = Pad().run(x, ints(1, 0), np.array(7, np.float32), ints(-1))
    assert padded.tolist() == [[7, 1, 1, 1]] * 2


@pytest.mark.parametrize(
    ("x", "filled"),
    [
        (np.array([True]), False),
        (np.array(["a"], dtype=object), ""),
        (np.array([1j]), 0),
        (np.array([3], ml_dtypes.int4), 0),
        (np.array([1.5], ml_dtypes.float8_e4m3fn), 0),
    ],
)
def test_pad_without_a_value_fills_with_the_zero_of_the_type(x, filled):
    padded = Pad().run(x, ints(0, 1))
    assert padded.dtype == x.dtype and padded[0] == x[0] and padded[1] == filled


def test_pad_with_a_value_of_the_type():
    x = np.array(["a"], dtype=object)
    assert Pad().run(x, ints(1, 0), np.array("z", dtype=object)).tolist() == ["z", "a"]
    assert Pad().run(ROW, ints(1, 0), np.array([9], np.float32)).tolist() == [9, 1, 2, 3, 4]


def test_pad_adds_to_named_lengths():
    assert shape_of(Pad(), shaped(N, 3), listed(1, 0, 2, M)) == (N + 3, M + 3)
    assert shape_of(Pad(), shaped(N, 3), listed(1, 2), None, listed(-2)) == (N + 3, 3)
    assert shape_of(Pad(), shaped(N, 3), listed(1, 2), None, shaped(1, dtype=np.int64)) == (None, None)
    assert shape_of(Pad(), shaped(N, 3), shaped(4, dtype=np.int64)) == (None, None)
    assert known_of(Pad(), listed(N, 3), listed(1, 0)) == [0, N, 3]
    for mode in ("constant", "reflect", "edge", "wrap"):
        assert check_has(Pad(mode), shaped(N, 3), listed(1, 0, -2, 1), sizes=range(6))


@pytest.mark.parametrize(
    ("mode", "x", "pads", "message"),
    [
        ("edge", ROW[:0], (1, 0), "axis 0 has no element left that edge could repeat"),
        ("reflect", ROW, (-5, 3), "axis 0 has no element left that reflect could repeat"),
        ("wrap", ROW, (-5, 0), "pads (-5, 0) remove more than the 4 elements of axis 0"),
        ("constant", ROW, (-5, 0), "pads [[-5, 0]] remove more than shape [4] has"),
        ("constant", ROW, (1, 2, 3), "pads [1, 2, 3] has 3 numbers, expected two for each of 1 axes"),
    ],
)
def test_pad_refuses_what_cannot_be(mode, x, pads, message):
    with pytest.raises(RunError) as caught:
        Pad(mode).run(x, ints(*pads))
    assert str(caught.value) == message


def test_pad_refuses_wrong_types():
    with pytest.raises(TypeRuleError, match="mode is 'mirror'"):
        Pad("mirror").infer(shaped(3), listed(1, 1))
    with pytest.raises(TypeRuleError, match="pads has 3 numbers"):
        Pad().infer(shaped(3, 3), listed(1, 1, 1))
    with pytest.raises(TypeRuleError, match="pads holds float32, expected integers"):
        Pad().infer(shaped(3), shaped(2))


@pytest.mark.parametrize(
    ("length", "expected"),
    [(2, [2, 3]), (3, [1, 2, 3]), (4, [1, 2, 3, 4]), (5, [1, 2, 3, 4, 0]), (7, [0, 1, 2, 3, 4, 0, 0])],
)
def test_center_crop_pad_puts_the_odd_element_right(length, expected):
    assert CenterCropPad().run(ROW, ints(length)).tolist() == expected
    inputs = [ROW, ints(length)]
    assert onnxruntime_run(single_node("CenterCropPad", inputs, 18), feeds(inputs))[0].tolist() == expected


def test_center_crop_pad_of_some_axes():
    assert CenterCropPad(axes=(-1,)).run(np.ones((2, 3)), ints(1)).shape == (2, 1)
    assert shape_of(CenterCropPad(axes=(-1,)), shaped(N, 3), listed(M)) == (N, M)
    assert shape_of(CenterCropPad(), shaped(N, 3), shaped(2, dtype=np.int64)) == (None, None)
