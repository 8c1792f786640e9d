"""GridSample and AffineGrid against onnxruntime, and what the source says beyond it."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, floats, listed, shaped, types, unranked
from peer import assert_same

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ops.image.sampling import AffineGrid, GridSample, reflected

N, C, H, W = (dims.name(text) for text in "NCHW")
NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("seed", range(6))
def test_grid_sample_is_onnxruntimes(padding, mode, seed):
    rng = np.random.default_rng(seed)
    rank = 2 if mode == "cubic" else 2 + seed % 2
    x = rng.normal(size=(2, 3, *rng.integers(1, 6, rank))).astype(np.float32)
    grid = rng.uniform(-2.5, 2.5, (2, *rng.integers(1, 5, rank), rank)).astype(np.float32)
    attributes = {"mode": mode, "padding_mode": padding, "align_corners": seed // 2 % 2}
    assert_same("GridSample", [x, grid], 20, atol=1e-4, **attributes)


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("rank", [2, 3])
def test_affine_grid_is_onnxruntimes(align, rank):
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(2, rank, rank + 1)).astype(np.float32)
    assert_same("AffineGrid", [theta, np.array([2, 3, 4, 5, 6][: rank + 2])], 20, align_corners=align)


def test_identity_transform_samples_the_image_itself():
    x = np.random.default_rng(0).normal(size=(1, 2, 4, 3)).astype(np.float32)
    theta = floats([[[1, 0, 0], [0, 1, 0]]])[0]
    for align in (0, 1):
        grid = evaluate(AffineGrid(align), theta, np.array(x.shape))
        for mode in ("linear", "nearest", "cubic"):
            np.testing.assert_allclose(evaluate(GridSample(align, mode), x, grid), x, atol=1e-5)


def test_affine_grid_of_one_element_is_its_middle():
    theta = floats([[[1, 0, 5], [0, 1, 6]]])[0]
    for align in (0, 1):
        assert evaluate(AffineGrid(align), theta, np.array([1, 1, 1, 1])).tolist() == [[[[5, 6]]]]


@pytest.mark.parametrize("rank", [1, 4])
def test_cubic_and_linear_sampling_work_in_any_rank(rank):
    x = np.full((1, 1, *(3,) * rank), 2.0, np.float32)
    grid = np.random.default_rng(0).uniform(-0.4, 0.4, (1, *(2,) * rank, rank)).astype(np.float32)
    for mode in ("linear", "cubic"):
        result = evaluate(GridSample(mode=mode, padding_mode="border"), x, grid)
        np.testing.assert_allclose(result, np.full((1, 1, *(2,) * rank), 2), rtol=1e-5)


def test_locations_that_are_no_numbers():
    x = floats(1, 2, 3).reshape(1, 1, 3)
    grid = floats(NAN, -INF, INF, 1e30).reshape(1, 4, 1)
    for mode in ("nearest", "linear", "cubic"):
        assert evaluate(GridSample(mode=mode), x, grid).tolist() == [[[0, 0, 0, 0]]]
        assert evaluate(GridSample(mode=mode, padding_mode="border"), x, grid).tolist() == [[[1, 1, 3, 3]]]
        assert np.isfinite(evaluate(GridSample(mode=mode, padding_mode="reflection"), x, grid)).all()


def test_elements_outside_do_not_spoil_zeros():
    x = floats(INF, 2).reshape(1, 1, 2)
    assert evaluate(GridSample(), x, floats(5).reshape(1, 1, 1)).item() == 0


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)])
def test_halves_are_interpolated_in_float32(dtype):
    rng = np.random.default_rng(0)
    x, grid = rng.normal(size=(1, 2, 4, 4)).astype(dtype), rng.uniform(-1, 1, (1, 3, 3, 2)).astype(dtype)
    result = evaluate(GridSample(), x, grid)
    assert result.dtype == dtype
    wide = evaluate(GridSample(), x.astype(np.float32), grid.astype(np.float32))
    np.testing.assert_array_equal(result, wide.astype(dtype))


def test_integers_are_truncated_and_strings_picked():
    grid = floats(0, -1.6).reshape(1, 2, 1)
    assert evaluate(GridSample(), np.array([[[0, 3]]], np.int32), grid).tolist() == [[[1, 0]]]
    words = np.array([[["a", "b", "c"]]], object)
    assert evaluate(GridSample(mode="nearest"), words, grid).tolist() == [[["b", ""]]]


def test_empty_images_and_grids():
    grid = np.zeros((1, 2, 2, 2), np.float32)
    assert evaluate(GridSample(), np.ones((1, 0, 3, 3), np.float32), grid).shape == (1, 0, 2, 2)
    assert evaluate(GridSample(), np.ones((1, 1, 3, 3), np.float32), grid[:, :0]).shape == (1, 1, 0, 2)
    assert evaluate(GridSample(), np.ones((1, 1, 0, 3), np.float32), grid).tolist() == [[[[0, 0], [0, 0]]]]


def test_reflection_goes_back_and_forth():
    positions = floats(-0.5, -1, 2.5, 3, 5, -3.5)
    np.testing.assert_allclose(reflected(positions, 0.0, 2.0), [0.5, 1, 1.5, 1, 1, 0.5])
    assert reflected(positions, 0.0, 0.0).tolist() == [0] * 6


# ---- types ---------------------------------------------------------------------------------------------------------


def test_named_dims():
    assert types(GridSample(), shaped(N, C, H, W), shaped(N, 5, 6, 2)) == "float32[N, C, 5, 6]"
    assert types(GridSample(), unranked(np.int8), unranked()) == "int8[*]"
    assert types(GridSample(), unranked(), shaped(N, H, W, 2)) == "float32[N, ?, H, W]"
    assert types(AffineGrid(), shaped(N, 2, 3), listed(N, C, H, W)) == "float32[N, H, W, 2]"
    assert types(AffineGrid(), unranked(), shaped(5, dtype=np.int64)) == "float32[?, ?, ?, ?, 3]"
    assert types(AffineGrid(), unranked(), unranked(np.int64)) == "float32[*]"


@pytest.mark.parametrize(
    ("op", "facts", "message"),
    [
        (GridSample(), [shaped(1, 1, 3, 3), shaped(1, 2, 2, 3)], "the last axis of grid is both 2 and 3"),
        (GridSample(), [shaped(2, 1, 3), shaped(1, 2, 1)], "the batch is both 2 and 1"),
        (GridSample(mode="bilinear"), [shaped(1, 1, 3), shaped(1, 2, 1)], "mode is 'bilinear'"),
        (AffineGrid(), [shaped(1, 4, 5), unranked(np.int64)], "theta has 4 rows, expected 2 or 3"),
        (AffineGrid(), [shaped(1, 2, 3), shaped(5, dtype=np.int64)], "the length of size is both 4 and 5"),
    ],
)
def test_ill_typed_sampling_says_why(op, facts, message):
    with pytest.raises(TypeRuleError) as raised:
        op.infer(*facts)
    assert str(raised.value).partition("\n")[0] == message
