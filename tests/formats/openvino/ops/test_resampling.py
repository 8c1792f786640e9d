"""Interpolate and Resize."""

import itertools

import numpy as np
import pytest
from formats.openvino.one_layer import check_layer, check_node, fixed

from whorl.ops.image.resize import Resize

X = np.random.default_rng(13).standard_normal((1, 2, 5, 7)).astype(np.float32)
COORDINATES = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]
SIZES, SCALES = (8, 20), (0.5, 1.7)


def attributes(mode: str, coordinates: str, by: str, **more: object) -> dict:
    found = {"mode": mode, "coordinate_transformation_mode": coordinates, "shape_calculation_mode": by}
    found |= {"nearest_mode": "floor", "antialias": False, "cube_coeff": -0.75}
    return found | {"pads_begin": [0] * 4, "pads_end": [0] * 4} | more


@pytest.mark.parametrize("mode", ["nearest", "linear", "linear_onnx", "cubic"])
@pytest.mark.parametrize("coordinates", [*COORDINATES, "tf_half_pixel_for_nn"])
def test_interpolation(coordinates: str, mode: str) -> None:
    axes, scales = fixed(2, 3), fixed(*SCALES, dtype=np.float32)
    by_sizes, by_scales = (attributes(mode, coordinates, by) for by in ("sizes", "scales"))
    check_layer("Interpolate", 11, [X, fixed(*SIZES), axes], by_sizes, rtol=1e-4, atol=1e-5)
    check_layer("Interpolate", 4, [X, fixed(1, 1), scales, axes], by_scales, rtol=1e-4, atol=1e-5, dynamic=[False])


@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "ceil", "simple"])
def test_nearest_elements(rounding: str) -> None:
    found = attributes("nearest", "half_pixel", "sizes", nearest_mode=rounding)
    check_layer("Interpolate", 11, [X, fixed(3, 14), fixed(2, 3)], found, dynamic=[False])


@pytest.mark.parametrize("mode", ["bilinear_pillow", "bicubic_pillow"])
def test_filters_of_pillow(mode: str) -> None:
    found = attributes(mode, "half_pixel", "sizes")
    check_layer("Interpolate", 11, [X, fixed(3, 14), fixed(2, 3)], found, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_interpolation_of_opset_1(mode: str) -> None:
    for aligned in (True, False):
        found = {"axes": [2, 3], "mode": mode, "align_corners": aligned, "antialias": False}
        found |= {"pads_begin": [0], "pads_end": [0]}
        check_layer("Interpolate", 1, [X, fixed(8, 4)], found, rtol=1e-4, atol=1e-5, dynamic=[False])


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("coordinates", [*COORDINATES, "half_pixel_symmetric", "tf_crop_and_resize"])
@pytest.mark.parametrize("by", ["sizes", "scales"])
def test_resize_written(by: str, coordinates: str, mode: str) -> None:
    op = Resize(axes=(2, 3), mode=mode, coordinate_transformation_mode=coordinates, nearest_mode="round_prefer_floor")
    roi = np.array([0.1, 0.2, 0.8, 0.9], np.float32) if coordinates == "tf_crop_and_resize" else None
    asked = [np.array((2.0, 1.7), np.float32)] if by == "scales" else [None, np.array(SIZES)]
    for constants in ((1, 2, 3), ()):
        given = [k for k in constants if k <= 1 + len(asked)]
        check_node(op, [X, roi, *asked], given, rtol=1e-4, atol=1e-5, dynamic=[False])


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
