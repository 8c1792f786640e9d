"""Columns and maxima put back into images, and convolutions at moved positions."""

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of, refused_to_write
from formats.openvino.one_layer import Fixed, check_layer, check_node, fixed

from whorl.errors import UnsupportedError
from whorl.ops.windows.deformable_convolution import DeformConv
from whorl.ops.windows.transposed_convolution import Col2Im
from whorl.ops.windows.unpooling import MaxUnpool


def test_maxima_put_back_written() -> None:
    x, positions = np.array([[[[5, 6], [7, 8]]]], np.float32), np.array([[[[5, 7], [13, 15]]]])
    check_node(MaxUnpool((2, 2), strides=(2, 2)), [x, positions], dynamic=[False])
    check_node(MaxUnpool((2, 2), strides=(2, 2)), [x, positions, np.array([1, 1, 5, 6])], (2,), dynamic=[False])


NUMBERS = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(np.float32)


def test_columns_and_moved_positions() -> None:
    settings = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [1, 0], "pads_end": [1, 0]}
    check_layer("Col2Im", 15, [normal(1, 12, 24), fixed(5, 6), fixed(2, 3)], settings)
    settings = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "group": 1}
    settings |= {"deformable_group": 1, "bilinear_interpolation_pad": True, "auto_pad": "explicit"}
    inputs = [normal(1, 2, 4, 4), normal(1, 8, 3, 3), Fixed(normal(3, 2, 2, 2)), normal(1, 4, 3, 3)]
    check_layer("DeformableConvolution", 8, inputs, settings, rtol=1e-4, dynamic=[False])


def test_columns_and_moved_positions_written() -> None:
    sizes = np.array([5, 6]), np.array([2, 3])
    check_node(Col2Im(pads=(1, 0, 1, 0)), [normal(1, 2 * 6, 24), *sizes], (1, 2))
    inputs = [normal(1, 2, 4, 4), normal(3, 2, 2, 2), normal(1, 8, 3, 3), normal(3), normal(1, 4, 3, 3)]
    check_node(DeformConv(), inputs, (1, 3))


BASE = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}


def test_columns_of_one_image_without_an_axis_for_the_batch() -> None:
    check_layer("Col2Im", 15, [normal(12, 20), fixed(5, 6), fixed(2, 2)], BASE)


def test_columns_far_from_each_other() -> None:
    settings = {"strides": [3, 3], "dilations": [2, 2], "pads_begin": [0, 0], "pads_end": [1, 1]}
    check_layer("Col2Im", 15, [normal(1, 8, 4), fixed(6, 6), fixed(2, 2)], settings)


def test_moved_positions_in_groups_and_far_outside() -> None:
    settings = BASE | {"bilinear_interpolation_pad": True, "auto_pad": "explicit"}
    groups = {"group": 2, "deformable_group": 2}
    inputs = [normal(1, 4, 5, 5), normal(1, 16, 4, 4) * 4, Fixed(normal(2, 2, 2, 2))]
    check_layer("DeformableConvolution", 8, inputs, settings | groups, rtol=1e-4, atol=1e-5, dynamic=[False])


def test_moved_positions_with_another_padding_are_refused() -> None:
    layers = [parameter(0, "1,2,4,4"), parameter(1, "1,8,3,3"), parameter(2, "3,2,2,2")]
    data = {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"}
    layers += [layer(3, "DeformableConvolution", 3, version="opset8", name="d", **data), result(4)]
    with pytest.raises(UnsupportedError) as caught:
        program_of(net(layers, "0:0-3:0 1:0-3:1 2:0-3:2 3:3-4:0"))
    assert str(caught.value) == (
        "DeformableConvolution 'd' (line 7): OV501: pads in a way that has no form\n"
        "  fix: bilinear_interpolation_pad true"
    )


def test_moved_positions_in_groups_written() -> None:
    op = DeformConv(group=2, offset_group=2, pads=(1, 0, 0, 1))
    inputs = [normal(1, 4, 5, 5), normal(2, 2, 2, 2), normal(1, 16, 5, 5)]
    check_node(op, inputs, (1,), rtol=1e-4, atol=1e-5, dynamic=[False])


def test_maxima_along_one_axis_and_beside_padding_written() -> None:
    check_node(MaxUnpool((2,), strides=(2,)), [normal(1, 1, 2), np.array([[[1, 2]]])], dynamic=[False])
    positions = np.array([[[[0, 1], [5, 6]]]])
    op = MaxUnpool((2, 2), strides=(2, 2), pads=(0, 1, 0, 1))
    check_node(op, [normal(1, 1, 2, 2), positions], dynamic=[False])


def test_what_openvino_has_for_images_alone_is_refused() -> None:
    columns = """
        main(%x: float32[1, 4, 5]) {
            %image: int64[1] = Constant() {value = int64[1] <6>}
            %block: int64[1] = Constant() {value = int64[1] <2>}
            %y: float32[1, 2, 6] = Col2Im "c" (%x, %image, %block)
            return y = %y
        }"""
    assert refused_to_write(columns) == "Col2Im 'c': makes images of other than two axes\n  fix: OpenVINO has two"
    moved = """
        main(%x: float32[1, 2, 4], %w: float32[3, 2, 2], %offset: float32[1, 2, 3]) {
            %y: float32[1, 3, 3] = DeformConv "d" (%x, %w, %offset)
            return y = %y
        }"""
    assert refused_to_write(moved) == "DeformConv 'd': moves places on other than two axes\n  fix: OpenVINO has two"


def test_maxima_over_unknown_lengths_are_refused() -> None:
    text = """
        main(%x: float32[1, 1, h, w], %i: int64[1, 1, h, w]) {
            %y: float32[1, 1, a, b] = MaxUnpool "m" (%x, %i) {kernel_shape = (2, 2)}
            return y = %y
        }"""
    assert refused_to_write(text) == "MaxUnpool 'm': scatters over lengths that are not known\n  fix: fixed lengths"
