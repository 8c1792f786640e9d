"""Grids and regions sampled from images."""

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of, refused_to_write
from formats.openvino.one_layer import check_layer, check_node

from whorl.errors import LoadError, SaveError, UnsupportedError
from whorl.ops.image.regions import RoiAlign
from whorl.ops.image.sampling import GridSample

NUMBERS = np.random.default_rng(19)


def normal(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(np.float32)


IMAGE, GRID = normal(2, 3, 5, 6), NUMBERS.uniform(-1.4, 1.4, (2, 4, 3, 2)).astype(np.float32)
ROIS = np.array([[0, 0, 3, 3], [1, 1, 5, 4], [2, 0, 2.5, 1]], np.float32)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
def test_grids(mode: str, padding: str) -> None:
    settings = {"align_corners": mode == "bicubic", "mode": mode, "padding_mode": padding}
    check_layer("GridSample", 9, [IMAGE, GRID], settings, rtol=1e-4, atol=1e-5)
    hub = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    check_node(GridSample(int(mode == "bicubic"), hub, padding), [IMAGE, GRID], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("aligned", ["asymmetric", "half_pixel_for_nn", "half_pixel"])
def test_regions(aligned: str) -> None:
    settings = {"pooled_h": 2, "pooled_w": 3, "sampling_ratio": 2, "spatial_scale": 0.9, "mode": "avg"}
    inputs = [IMAGE, ROIS, np.array([0, 1, 1], np.int32)]
    check_layer("ROIAlign", 9, inputs, settings | {"aligned_mode": aligned}, dynamic=[False])
    if aligned == "asymmetric":
        check_layer("ROIAlign", 3, inputs, settings, dynamic=[False])


def test_regions_written() -> None:
    for mode in ("half_pixel", "output_half_pixel"):
        check_node(RoiAlign(mode, "avg", 2, 3, 0, 0.9), [IMAGE, ROIS, np.array([0, 1, 1])], dynamic=[False])
    with pytest.raises(SaveError, match="the maximum of neighbours"):
        check_node(RoiAlign(mode="max"), [IMAGE, ROIS, np.array([0, 1, 1])])


def test_grids_of_no_attributes_and_far_outside() -> None:
    check_layer("GridSample", 9, [IMAGE, GRID], {}, rtol=1e-4, atol=1e-5)
    settings = {"padding_mode": "reflection", "align_corners": True}
    check_layer("GridSample", 9, [IMAGE[:, :, :1, :1], GRID * 10], settings, rtol=1e-4, atol=1e-5)


def test_maximum_of_points_is_refused() -> None:
    layers = [parameter(0, "1,2,5,6"), parameter(1, "3,4"), parameter(2, "3", "i32")]
    data = {"mode": "max", "pooled_h": 2, "pooled_w": 3, "sampling_ratio": 2, "spatial_scale": 0.5}
    layers += [layer(3, "ROIAlign", 3, version="opset9", name="r", **data), result(4)]
    with pytest.raises(UnsupportedError) as caught:
        program_of(net(layers, "0:0-3:0 1:0-3:1 2:0-3:2 3:3-4:0"))
    assert str(caught.value) == "ROIAlign 'r' (line 7): OV501: takes the maximum of points\n  fix: mode avg"


def test_regions_need_their_size() -> None:
    layers = [parameter(0, "1,2,5,6"), parameter(1, "3,4"), parameter(2, "3", "i32")]
    layers += [layer(3, "ROIAlign", 3, version="opset9", name="r", mode="avg", pooled_h=2), result(4)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-3:0 1:0-3:1 2:0-3:2 3:3-4:0"))
    assert str(caught.value).startswith("ROIAlign 'r' (line 7): OV501: lacks the attribute 'pooled_w'")


def test_no_regions_written() -> None:
    inputs = [IMAGE, np.zeros((0, 4), np.float32), np.zeros(0, np.int64)]
    check_node(RoiAlign("half_pixel", "avg", 2, 3, 2, 0.9), inputs, dynamic=[False])


def test_image_of_any_rank_is_refused() -> None:
    text = """
        main(%x: float32[*], %grid: float32[1, 2, 2, 2]) {
            %y: float32[*] = GridSample "g" (%x, %grid)
            return y = %y
        }"""
    assert refused_to_write(text) == "GridSample 'g': the input has no known rank\n  fix: declare the shape"
