"""Interpolate and Resize."""

import itertools

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of, refused_to_write
from formats.openvino.one_layer import check_layer, check_node, fixed

from whorl.errors import LoadError
from whorl.ops.image.resize import Resize

X = np.random.default_rng(13).standard_normal((1, 2, 5, 7)).astype(np.float32)
COORDINATES = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]
SIZES, SCALES = (8, 20), (0.5, 1.7)


def attributes(mode: str, coordinates: str, by: str, **more: object) -> dict:
    settings = {"mode": mode, "coordinate_transformation_mode": coordinates, "shape_calculation_mode": by}
    settings |= {"nearest_mode": "floor", "antialias": False, "cube_coeff": -0.75}
    return settings | {"pads_begin": [0] * 4, "pads_end": [0] * 4} | more


@pytest.mark.parametrize("mode", ["nearest", "linear", "linear_onnx", "cubic"])
@pytest.mark.parametrize("coordinates", [*COORDINATES, "tf_half_pixel_for_nn"])
def test_interpolation(coordinates: str, mode: str) -> None:
    axes, scales = fixed(2, 3), fixed(*SCALES, dtype=np.float32)
    by_sizes, by_scales = (attributes(mode, coordinates, by) for by in ("sizes", "scales"))
    check_layer("Interpolate", 11, [X, fixed(*SIZES), axes], by_sizes, rtol=1e-4, atol=1e-5)
    check_layer("Interpolate", 4, [X, fixed(1, 1), scales, axes], by_scales, rtol=1e-4, atol=1e-5, dynamic=[False])


@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "ceil", "simple"])
def test_nearest_elements(rounding: str) -> None:
    settings = attributes("nearest", "half_pixel", "sizes", nearest_mode=rounding)
    check_layer("Interpolate", 11, [X, fixed(3, 14), fixed(2, 3)], settings, dynamic=[False])


@pytest.mark.parametrize("mode", ["bilinear_pillow", "bicubic_pillow"])
def test_filters_of_pillow(mode: str) -> None:
    settings = attributes(mode, "half_pixel", "sizes")
    check_layer("Interpolate", 11, [X, fixed(3, 14), fixed(2, 3)], settings, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_interpolation_of_opset_1(mode: str) -> None:
    for aligned in (True, False):
        settings = {"axes": [2, 3], "mode": mode, "align_corners": aligned, "antialias": False}
        settings |= {"pads_begin": [0], "pads_end": [0]}
        check_layer("Interpolate", 1, [X, fixed(8, 4)], settings, rtol=1e-4, atol=1e-5, dynamic=[False])


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("coordinates", [*COORDINATES, "half_pixel_symmetric", "tf_crop_and_resize"])
@pytest.mark.parametrize("by", ["sizes", "scales"])
def test_resize_written(by: str, coordinates: str, mode: str) -> None:
    op = Resize(axes=(2, 3), mode=mode, coordinate_transformation_mode=coordinates, nearest_mode="round_prefer_floor")
    roi = np.array([0.1, 0.2, 0.8, 0.9], np.float32) if coordinates == "tf_crop_and_resize" else None
    requested = [np.array((2.0, 1.7), np.float32)] if by == "scales" else [None, np.array(SIZES)]
    for constants in ((1, 2, 3), ()):
        supplied = [k for k in constants if k <= 1 + len(requested)]
        check_node(op, [X, roi, *requested], supplied, rtol=1e-4, atol=1e-5, dynamic=[False])


def test_resize_of_open_lengths_written() -> None:
    scales = np.array([1, 1, 2, 2], np.float32)
    for mode, coordinates in itertools.product(("nearest", "linear"), ("asymmetric", "half_pixel_symmetric")):
        op = Resize(mode=mode, coordinate_transformation_mode=coordinates, nearest_mode="floor")
        check_node(op, [X, None, scales], (2,), rtol=1e-4, atol=1e-5, dynamic=[True])


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
@pytest.mark.parametrize("constants", [(3,), ()], ids=["constant", "computed"])
def test_resize_that_keeps_the_aspect_ratio_written(policy: str, constants: tuple[int, ...]) -> None:
    op = Resize(axes=(2, 3), keep_aspect_ratio_policy=policy, mode="linear")
    check_node(op, [X, None, None, np.array([7, 8])], constants, rtol=1e-4, atol=1e-5, dynamic=[False])


def test_resize_with_other_filters_written() -> None:
    sizes, tolerance = np.array([3, 14]), {"rtol": 1e-4, "atol": 1e-5, "dynamic": [False]}
    for mode in ("linear", "cubic"):
        check_node(Resize(axes=(2, 3), mode=mode, antialias=1), [X, None, None, sizes], (3,), **tolerance)
    check_node(Resize(axes=(2, 3), mode="cubic", exclude_outside=1), [X, None, None, sizes], (), **tolerance)
    whole = (np.abs(X[0, 0]) * 50).astype(np.uint8)
    check_node(Resize(mode="linear"), [whole, None, None, np.array([9, 4])], (3,), dynamic=[False])


@pytest.mark.parametrize("mode", ["nearest", "linear_onnx", "cubic"])
def test_axes_in_another_order_or_fewer(mode: str) -> None:
    settings = attributes(mode, "half_pixel", "sizes")
    tolerance = {"rtol": 1e-4, "atol": 1e-5, "dynamic": [False]}
    check_layer("Interpolate", 11, [X, fixed(9, 7), fixed(3, 2)], settings, **tolerance)
    check_layer("Interpolate", 11, [X, fixed(3), fixed(3)], settings, **tolerance)
    check_layer("Interpolate", 11, [X, fixed(1, 2, 7, 9)], settings, **tolerance)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_zeros_around_the_image(mode: str) -> None:
    settings = attributes(mode, "half_pixel", "sizes", pads_begin=[0, 0, 1, 0], pads_end=[0, 0, 0, 2])
    check_layer("Interpolate", 11, [X, fixed(7, 9), fixed(2, 3)], settings, rtol=1e-4, atol=1e-5, dynamic=[False])


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_one_element_of_each_axis(mode: str) -> None:
    for coordinates in ("align_corners", "pytorch_half_pixel"):
        settings = attributes(mode, coordinates, "sizes")
        check_layer("Interpolate", 11, [X, fixed(1, 1), fixed(2, 3)], settings, rtol=1e-4, atol=1e-5, dynamic=[False])


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_resize_of_other_axes_and_ranks_written(mode: str) -> None:
    tolerance = {"rtol": 1e-4, "atol": 1e-5, "dynamic": [False]}
    check_node(Resize(mode=mode), [X[0], None, None, np.array([2, 7, 9])], (3,), **tolerance)
    check_node(Resize(mode=mode), [X, None, np.array([1, 2, 1.5, 1], np.float32)], (2,), **tolerance)
    check_node(Resize(axes=(-1, -2), mode=mode), [X, None, np.array([2, 1.5], np.float32)], (2,), **tolerance)
    check_node(Resize(mode=mode), [X, None, np.ones(4, np.float32)], (2,), **tolerance)
    none = np.zeros(0, np.float32)
    check_node(Resize(mode=mode), [X, none, none, np.array([1, 2, 3, 4])], (1, 2, 3), **tolerance)


def test_elements_outside_of_a_cut_written() -> None:
    op = Resize(coordinate_transformation_mode="tf_crop_and_resize", mode="linear", extrapolation_value=7.0)
    cut = np.array([0, 0, -0.2, 0.1, 1, 1, 1.3, 0.9], np.float32)
    for constants in ((1, 3), ()):
        check_node(op, [X, cut, None, np.array([1, 2, 4, 4])], constants, rtol=1e-4, atol=1e-5, dynamic=[False])


def test_filters_over_unknown_lengths_are_refused() -> None:
    text = """
        main(%x: float32[1, 1, h, w]) {
            %sizes: int64[4] = Constant() {value = int64[4] <1 1 3 3>}
            %y: float32[1, 1, 3, 3] = Resize "r" (%x, _, _, %sizes) {mode = "linear", antialias = 1}
            return y = %y
        }"""
    assert refused_to_write(text) == (
        "Resize 'r': widens its filter by lengths that are not known\n  fix: antialias 0, or fixed lengths"
    )


def test_truth_values_are_not_interpolated() -> None:
    text = """
        main(%x: bool[1, 1, 2, 2]) {
            %sizes: int64[4] = Constant() {value = int64[4] <1 1 3 3>}
            %y: bool[1, 1, 3, 3] = Resize "r" (%x, _, _, %sizes) {mode = "linear"}
            return y = %y
        }"""
    assert refused_to_write(text) == "Resize 'r': interpolates what is no number\n  fix: mode nearest"


def test_axes_that_are_computed_are_refused() -> None:
    layers = [parameter(0, "1,1,2,2"), parameter(1, "2", "i64"), parameter(2, "2", "i64")]
    data = {"mode": "nearest", "shape_calculation_mode": "sizes"}
    layers += [layer(3, "Interpolate", 3, version="opset11", name="i", **data), result(4)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-3:0 1:0-3:1 2:0-3:2 3:3-4:0"))
    assert str(caught.value) == (
        "Interpolate 'i' (line 7): OV501: has axes that are computed\n  fix: make them a constant"
    )
