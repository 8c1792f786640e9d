"""Regions of interest and overlapping boxes, against onnxruntime and beyond."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, floats, shaped, types, unranked
from peer import assert_same

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ops.image.detection import NonMaxSuppression
from whorl.ops.image.regions import MaxRoiPool, RoiAlign

N, C = dims.name("N"), dims.name("C")


def regions(rng, count=4):
    """Boxes that leave the image and some of which are empty."""
    corner = rng.uniform(-2, 10, (count, 2))
    return np.concatenate([corner, corner + rng.uniform(-1, 8, (count, 2))], axis=1).astype(np.float32)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("shift", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("seed", range(6))
def test_roi_align_is_onnxruntimes(mode, shift, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2, 3, *rng.integers(1, 9, 2))).astype(np.float32)
    sizes = {"output_height": int(rng.integers(1, 5)), "output_width": int(rng.integers(1, 5))}
    attributes = {"mode": mode, "coordinate_transformation_mode": shift, "spatial_scale": [1.0, 0.5][seed % 2]}
    inputs = [x, regions(rng), rng.integers(0, 2, 4)]
    assert_same("RoiAlign", inputs, 16, sampling_ratio=int(rng.integers(0, 4)), **sizes, **attributes)


@pytest.mark.parametrize("seed", range(10))
def test_max_roi_pool_is_onnxruntimes(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2, 3, *rng.integers(1, 9, 2))).astype(np.float32)
    rois = np.concatenate([rng.integers(0, 2, (4, 1)), np.abs(regions(rng))], axis=1).astype(np.float32)
    shape = [int(n) for n in rng.integers(1, 5, 2)]
    assert_same("MaxRoiPool", [x, rois], 1, pooled_shape=shape, spatial_scale=[1.0, 0.5][seed % 2])


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float64)])
def test_regions_keep_the_element_type(dtype):
    x, rois = np.ones((1, 2, 6, 6), dtype), np.array([[0, 0, 4, 4]], dtype)
    result = evaluate(RoiAlign(output_height=2, output_width=2), x, rois, np.array([0]))
    assert result.dtype == dtype and result.astype(float).tolist() == np.ones((1, 2, 2, 2)).tolist()
    pooled = evaluate(MaxRoiPool((2, 2)), x, np.array([[0, 0, 0, 4, 4]], dtype))
    assert pooled.dtype == dtype and pooled.astype(float).tolist() == np.ones((1, 2, 2, 2)).tolist()


def test_no_regions_give_an_empty_result():
    x = np.ones((1, 2, 6, 6), np.float32)
    assert evaluate(RoiAlign(), x, np.ones((0, 4), np.float32), np.zeros(0, np.int64)).shape == (0, 2, 1, 1)
    assert evaluate(MaxRoiPool((3, 2)), x, np.ones((0, 5), np.float32)).shape == (0, 2, 3, 2)


def test_region_on_an_image_that_is_not_there_is_a_run_error():
    x = np.ones((2, 1, 3, 3), np.float32)
    for run in (
        lambda: evaluate(RoiAlign(), x, np.ones((1, 4), np.float32), np.array([2])),
        lambda: evaluate(MaxRoiPool((1, 1)), x, floats([2, 0, 0, 1, 1])),
    ):
        with pytest.raises(RunError) as raised:
            run()
        assert str(raised.value) == "a region lies on image 2 of a batch of 2"


# ---- boxes ---------------------------------------------------------------------------------------------------------


# ---- types ---------------------------------------------------------------------------------------------------------


def test_named_dims():
    images = shaped(N, dtype=np.int64)
    sizes = {"output_height": 3, "output_width": 2}
    assert types(RoiAlign(**sizes), shaped(1, C, 6, 6), unranked(), images) == "float32[N, C, 3, 2]"
    assert types(MaxRoiPool((3, 2)), unranked(), shaped(N, 5)) == "float32[N, ?, 3, 2]"
    assert types(NonMaxSuppression(), unranked(), unranked()) == "int64[?, 3]"


@pytest.mark.parametrize(
    ("op", "facts", "message"),
    [
        (
            RoiAlign(),
            [shaped(1, 1, 3, 3), shaped(1, 5), unranked(np.int64)],
            "the number of columns of rois is both 5 and 4",
        ),
        (RoiAlign(mode="sum"), [unranked(), unranked(), unranked(np.int64)], "mode is 'sum'"),
        (MaxRoiPool((1,)), [unranked(), unranked()], "pooled_shape has 1 entries, expected 2"),
        (NonMaxSuppression(), [shaped(1, 5, 4), shaped(1, 2, 6)], "the number of boxes is both 5 and 6"),
        (NonMaxSuppression(), [shaped(1, 5, 4, dtype=np.float64), unranked()], "does not accept float64"),
    ],
)
def test_ill_typed_regions_say_why(op, facts, message):
    with pytest.raises(TypeRuleError) as raised:
        op.infer(*facts)
    assert str(raised.value).partition("\n")[0] == message


def test_roi_align_reads_the_neighbours_of_its_points_alone():
    x = np.ones((1, 1, 6, 6), np.float32)
    x[0, 0, 5, 5], x[0, 0, 0, 5] = np.nan, np.inf
    (rois,) = np.array([[[0.5, 0.5, 3, 3]]], np.float32)
    for mode in ("avg", "max"):
        assert evaluate(RoiAlign(mode=mode, sampling_ratio=2), x, rois, np.array([0])).max() <= 1
