"""Convolutions."""

import numpy as np
import pytest
from formats.openvino.one_layer import Fixed, check_layer, check_node, fixed

from whorl.errors import SaveError
from whorl.ops.windows.convolution import Conv, ConvInteger, QLinearConv
from whorl.ops.windows.transposed_convolution import ConvTranspose

NUMBERS = np.random.default_rng(7)
KINDS = {"Convolution": (3, 4, 3, 2), "GroupConvolution": (2, 3, 2, 3, 2)}
TRANSPOSED = {"ConvolutionBackpropData": (4, 3, 3, 2), "GroupConvolutionBackpropData": (2, 2, 3, 3, 2)}


def normal(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(np.float32)


X = normal(2, 4, 7, 6)


def attributes(pad: str, strides: list[int], dilations: list[int]) -> dict:
    return {"auto_pad": pad, "strides": strides, "dilations": dilations, "pads_begin": [1, 0], "pads_end": [2, 1]}


@pytest.mark.parametrize("steps", [([1, 1], [1, 1]), ([2, 3], [1, 1]), ([1, 2], [2, 1])], ids=str)
@pytest.mark.parametrize("pad", ["explicit", "same_upper", "same_lower", "valid"])
@pytest.mark.parametrize("type", [*KINDS, *TRANSPOSED])
def test_convolutions(type: str, pad: str, steps: tuple) -> None:
    more = {"output_padding": [1, 0] if steps[0][0] > 1 else [0, 0]} if type in TRANSPOSED else {}
    check_layer(type, 1, [X, Fixed(normal(*(KINDS | TRANSPOSED)[type]))], attributes(pad, *steps) | more)


@pytest.mark.parametrize("pad", ["explicit", "same_upper", "same_lower", "valid"])
@pytest.mark.parametrize("size", [(7, 6), (13, 16), (16, 19)], ids=str)
def test_transposed_convolutions_to_a_shape(pad: str, size: tuple) -> None:
    more = {"output_padding": [0, 0]}
    inputs = [X, Fixed(normal(4, 3, 3, 2)), fixed(*size)]
    check_layer("ConvolutionBackpropData", 1, inputs, attributes(pad, [2, 2], [1, 1]) | more, dynamic=[False])


@pytest.mark.parametrize("rank", [1, 3])
def test_convolutions_over_other_numbers_of_axes(rank: int) -> None:
    ones, lengths = [1] * rank, (5,) * rank
    settings = {"auto_pad": "explicit", "strides": ones, "dilations": ones, "pads_begin": ones, "pads_end": [0] * rank}
    check_layer("Convolution", 1, [normal(1, 2, *lengths), Fixed(normal(3, 2, *(2,) * rank))], settings)


@pytest.mark.parametrize("constants", [(), (1, 2)], ids=["computed", "constant"])
@pytest.mark.parametrize("auto_pad", ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("group", [1, 2])
def test_conv_written(auto_pad: str, group: int, constants: tuple[int, ...]) -> None:
    pads = (1, 0, 2, 1) if auto_pad == "NOTSET" else None
    op = Conv(auto_pad=auto_pad, pads=pads, strides=(2, 1), dilations=(1, 2), group=group)
    check_node(
        op, [X, normal(6, 4 // group, 3, 2), normal(6)], constants, dynamic=[False, True] if constants else [False]
    )


@pytest.mark.parametrize("auto_pad", ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("group", [1, 2])
def test_transposed_conv_written(auto_pad: str, group: int) -> None:
    pads = (1, 0, 2, 1) if auto_pad == "NOTSET" else None
    op = ConvTranspose(auto_pad=auto_pad, pads=pads, strides=(2, 3), output_padding=(1, 0), group=group)
    check_node(op, [X, normal(4, 3, 3, 2), normal(3 * group)], (1, 2))


@pytest.mark.parametrize("auto_pad", ["NOTSET", "SAME_UPPER"])
@pytest.mark.parametrize("size", [(7, 6), (14, 12), (17, 19)], ids=str)
def test_transposed_conv_to_a_shape_written(auto_pad: str, size: tuple[int, int]) -> None:
    op = ConvTranspose(auto_pad=auto_pad, strides=(2, 2), output_shape=size)
    check_node(op, [X, normal(4, 3, 3, 2)], (1,), dynamic=[False])


def test_more_than_three_spatial_axes_are_refused() -> None:
    with pytest.raises(SaveError, match="has 4 spatial axes"):
        check_node(Conv(), [normal(1, 1, 2, 2, 2, 2), normal(1, 1, 1, 1, 1, 1)])


def test_convolutions_of_integers_are_exact() -> None:
    x, w = (
        NUMBERS.integers(0, 256, (1, 200, 5, 4)).astype(np.uint8),
        NUMBERS.integers(-128, 128, (3, 200, 3, 2)).astype(np.int8),
    )
    check_node(ConvInteger(), [x, w, np.array(128, np.uint8), np.array([1, -2, 3], np.int8)], dynamic=[False])
    scales = [np.array(0.5, np.float32), np.array([0.25, 0.5, 1], np.float32), np.array(4, np.float32)]
    zeros = [np.array(7, np.uint8), np.array([1, -2, 3], np.int8), np.array(100, np.uint8)]
    inputs = [x[:, :4], scales[0], zeros[0], w[:, :4], scales[1], zeros[1], scales[2], zeros[2]]
    check_node(QLinearConv(pads=(1, 1, 1, 1)), [*inputs, np.array([100, -200, 5], np.int32)], dynamic=[False])


def test_convolutions_of_int32() -> None:
    x, w = (
        NUMBERS.integers(-99, 99, (1, 4, 5, 4)).astype(np.int32),
        NUMBERS.integers(-99, 99, (3, 4, 3, 2)).astype(np.int32),
    )
    check_layer("Convolution", 1, [x, Fixed(w)], attributes("explicit", [1, 1], [1, 1]))
