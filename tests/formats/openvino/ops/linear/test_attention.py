"""Attention, and what is chosen or sampled from images."""

import numpy as np
import pytest
from formats.openvino.one_layer import Input, check_layer, check_node, scalar

from whorl.errors import SaveError
from whorl.ops.attention.dot_product import Attention
from whorl.ops.attention.rotary import RotaryEmbedding
from whorl.ops.image.detection import NonMaxSuppression
from whorl.ops.image.regions import RoiAlign
from whorl.ops.image.sampling import GridSample

NUMBERS = np.random.default_rng(19)


def normal(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(np.float32)


Q, K, V = normal(2, 4, 3, 8), normal(2, 4, 5, 8), normal(2, 4, 5, 6)
REACHED = np.array([[True, False, True, True, False], [True, True, False, False, True], [True] * 5])
IMAGE, GRID = normal(2, 3, 5, 6), NUMBERS.uniform(-1.4, 1.4, (2, 4, 3, 2)).astype(np.float32)
ROIS = np.array([[0, 0, 3, 3], [1, 1, 5, 4], [2, 0, 2.5, 1]], np.float32)
CORNERS = np.sort(NUMBERS.random((2, 9, 2, 2)), axis=2).reshape(2, 9, 4).astype(np.float32)
SCORES = NUMBERS.random((2, 3, 9)).astype(np.float32)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    "rest",
    [[], [normal(2, 1, 3, 5)], [REACHED], [normal(3, 5), scalar(0.3, np.float32)]],
    ids=["plain", "mask", "bool", "scale"],
)
def test_scaled_dot_products(rest: list[Input], causal: bool) -> None:
    check_layer("ScaledDotProductAttention", 13, [Q, K, V, *rest], {"causal": causal})


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        (Attention(), [Q, K, V]),
        (Attention(is_causal=1, softcap=2.0), [Q, K, V, ~REACHED]),
        (Attention(q_num_heads=4, kv_num_heads=2), [normal(2, 3, 32), normal(2, 5, 16), normal(2, 5, 16)]),
    ],
    ids=["plain", "masked", "shared"],
)
def test_attention_written(op: Attention, inputs: list) -> None:
    check_node(op, inputs, outputs=4, dynamic=[False])


def test_rotary_embedding_written() -> None:
    places = np.array([[0, 1, 2], [3, 4, 5]])
    check_node(RotaryEmbedding(), [normal(2, 4, 3, 8), normal(10, 4), normal(10, 4), places], dynamic=[False])


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
def test_grids(mode: str, padding: str) -> None:
    found = {"align_corners": mode == "bicubic", "mode": mode, "padding_mode": padding}
    check_layer("GridSample", 9, [IMAGE, GRID], found, rtol=1e-4, atol=1e-5)
    hub = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    check_node(GridSample(int(mode == "bicubic"), hub, padding), [IMAGE, GRID], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_volumes_written(mode: str, padding: str) -> None:
    places = NUMBERS.uniform(-1.4, 1.4, (2, 2, 3, 4, 3)).astype(np.float32)
    check_node(
        GridSample(int(padding == "border"), mode, padding), [normal(2, 3, 4, 5, 6), places], rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("aligned", ["asymmetric", "half_pixel_for_nn", "half_pixel"])
def test_regions(aligned: str) -> None:
    found = {"pooled_h": 2, "pooled_w": 3, "sampling_ratio": 2, "spatial_scale": 0.9, "mode": "avg"}
    inputs = [IMAGE, ROIS, np.array([0, 1, 1], np.int32)]
    check_layer("ROIAlign", 9, inputs, found | {"aligned_mode": aligned}, dynamic=[False])
    if aligned == "asymmetric":
        check_layer("ROIAlign", 3, inputs, found, dynamic=[False])


def test_regions_written() -> None:
    for mode in ("half_pixel", "output_half_pixel"):
        check_node(RoiAlign(mode, "avg", 2, 3, 0, 0.9), [IMAGE, ROIS, np.array([0, 1, 1])], dynamic=[False])
    with pytest.raises(SaveError, match="the maximum of neighbours"):
        check_node(RoiAlign(mode="max"), [IMAGE, ROIS, np.array([0, 1, 1])])


@pytest.mark.parametrize("version", [1, 3, 4, 5, 9])
@pytest.mark.parametrize("encoding", ["corner", "center"])
def test_boxes(encoding: str, version: int) -> None:
    limits = [scalar(4), scalar(0.3, np.float32), scalar(0.2, np.float32)]
    for is_sorted in (True, False):
        found = {"box_encoding": encoding, "sort_result_descending": is_sorted}
        found |= {"output_type": "i64"} if version > 1 else {}
        check_layer("NonMaxSuppression", version, [CORNERS, SCORES, *limits], found, dynamic=[False])


def test_a_limit_of_0_leaves_the_best_box_of_each_class() -> None:
    found = {"box_encoding": "corner", "sort_result_descending": False, "output_type": "i64"}
    limits = [scalar(4), scalar(0, np.float32), scalar(0, np.float32)]
    check_layer("NonMaxSuppression", 9, [CORNERS, SCORES - 0.5, *limits], found, dynamic=[False])


@pytest.mark.parametrize("constants", [(2, 3, 4), ()], ids=["constant", "computed"])
def test_boxes_written(constants: tuple[int, ...]) -> None:
    limits = [np.array([3]), np.array([0.4], np.float32), np.array([0.1], np.float32)]
    for center in (0, 1):
        check_node(NonMaxSuppression(center), [CORNERS, SCORES, *limits], constants, dynamic=[False])
    check_node(NonMaxSuppression(), [CORNERS, SCORES - 0.5, limits[0]], dynamic=[False])


def test_an_overlap_at_the_limit_stays_written() -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 0.5, 1, 1.5]]], np.float32)
    limits = [np.array(2), np.array(1 / 3, np.float32)]
    check_node(NonMaxSuppression(), [boxes, np.array([[[1, 0.5]]], np.float32), *limits], (2, 3), dynamic=[False])
    check_node(NonMaxSuppression(), [boxes, np.array([[[1, 0.5]]], np.float32), *limits], dynamic=[False])


@pytest.mark.parametrize(
    "limit", [scalar(1 / 3, np.float32), np.array(1 / 3, np.float32)], ids=["constant", "computed"]
)
def test_an_overlap_at_the_limit_goes(limit: Input) -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 0.5, 1, 1.5]]], np.float32)
    inputs = [boxes, np.array([[[1, 0.5]]], np.float32), scalar(2), limit, scalar(0, np.float32)]
    found = {"box_encoding": "corner", "sort_result_descending": False, "output_type": "i64"}
    check_layer("NonMaxSuppression", 9, inputs, found, dynamic=[False])
