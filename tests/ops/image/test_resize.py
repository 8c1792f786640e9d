"""Resize against onnxruntime over random configurations, and what the source says beyond it."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, floats, listed, shaped, types, unranked
from peer import assert_same

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ops.image.resize import Resize

N, C, H, W = (dims.name(text) for text in "NCHW")
NAN = np.nan


def image(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("seed", range(20))
def test_resize_to_sizes_is_onnxruntimes(mode, seed):
    rng = np.random.default_rng(seed)
    lengths, sizes = rng.integers(2, 7, 2), rng.integers(1, 14, 2)
    positions = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"]
    attributes = {"mode": mode, "coordinate_transformation_mode": str(rng.choice(positions))}
    if mode == "nearest":
        roundings = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
        attributes["nearest_mode"] = str(rng.choice(roundings))
    if mode == "cubic":
        attributes |= {"exclude_outside": int(rng.integers(2)), "cubic_coeff_a": -0.5}
    if mode != "nearest" and attributes["coordinate_transformation_mode"] == "half_pixel":
        attributes["antialias"] = int(rng.integers(2))
    target = np.array([2, 3, *sizes])
    assert_same("Resize", [image(rng, 2, 3, *lengths), None, None, target], 19, atol=1e-4, **attributes)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("positions", ["half_pixel", "asymmetric"])
@pytest.mark.parametrize("scale", [0.3, 0.5, 0.6, 0.7, 0.75, 0.9, 1.1, 1.3, 2, 2.3, 3])
def test_resize_by_scales_is_onnxruntimes(mode, positions, scale):
    x = image(np.random.default_rng(0), 1, 2, 10, 5)
    scales = floats(1, 1, scale, 2)
    attributes = {"mode": mode, "coordinate_transformation_mode": positions}
    assert_same("Resize", [x, None, scales], 19, atol=1e-4, **attributes)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
@pytest.mark.parametrize("sizes", [(4, 9), (9, 4), (5, 5), (1, 20)])
def test_resize_that_keeps_the_aspect_ratio_is_onnxruntimes(policy, sizes):
    x = image(np.random.default_rng(0), 1, 2, 6, 4)
    inputs = [x, None, None, np.array(sizes)]
    assert_same("Resize", inputs, 18, mode="linear", axes=[2, 3], keep_aspect_ratio_policy=policy)


@pytest.mark.parametrize("roi", [(0, 1), (0.2, 0.9), (-0.5, 1.5), (0.9, 0.1)])
@pytest.mark.parametrize("size", [1, 3, 8])
def test_crop_and_resize_is_onnxruntimes(roi, size):
    x = image(np.random.default_rng(0), 1, 1, 6, 5)
    region = floats(0, 0, roi[0], 0.1, 1, 1, roi[1], 0.8)
    inputs = [x, region, None, np.array([1, 1, size, 4])]
    attributes = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}
    assert_same("Resize", inputs, 18, mode="linear", **attributes)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "float64", "complex64", "object"])
def test_nearest_elements_keep_their_type(dtype):
    x = np.array([["a", "b"]], object) if dtype == "object" else np.array([[0, 1]], dtype)
    result = evaluate(Resize(), x, None, floats(1, 2))
    assert result.dtype == x.dtype and result.tolist() == np.repeat(x, 2, axis=1).tolist()


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)])
def test_halves_are_interpolated_in_float32(dtype):
    x = image(np.random.default_rng(0), 2, 5).astype(dtype)
    result = evaluate(Resize(mode="cubic"), x, None, floats(1, 2.5))
    wide = evaluate(Resize(mode="cubic"), x.astype(np.float32), None, floats(1, 2.5))
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, wide.astype(dtype))


def test_integers_are_rounded_to_even_and_saturate():
    x = np.array([0, 1, 2, 255, 255], np.uint8)
    linear = Resize(mode="linear", coordinate_transformation_mode="asymmetric")
    assert evaluate(linear, x[:3], None, floats(2)).tolist() == [0, 0, 1, 2, 2, 2]
    cubic = evaluate(Resize(mode="cubic"), x, None, floats(3))
    assert cubic.dtype == np.uint8 and cubic.max() == 255 and cubic.min() == 0
    largest = np.array([2**63 - 1, 2**63 - 1])
    assert evaluate(linear, largest, None, floats(2)).tolist() == [2**63 - 1] * 4


def test_complex_numbers_are_interpolated():
    x = np.array([0, 2 + 4j], np.complex64)
    result = evaluate(Resize(mode="linear", coordinate_transformation_mode="asymmetric"), x, None, floats(2))
    assert result.dtype == np.complex64 and result.tolist() == [0, 1 + 2j, 2 + 4j, 2 + 4j]


def test_axes_that_stay_are_not_touched():
    x = floats([NAN, 1, np.inf], [2, 3, 4])
    result = evaluate(Resize(mode="cubic"), x, None, floats(1, 1))
    np.testing.assert_array_equal(result, x)


def test_negative_axes_and_empty_scales_are_read():
    x = image(np.random.default_rng(0), 2, 3)
    expected = evaluate(Resize(), x, None, None, np.array([2, 6]))
    none = np.empty(0, np.float32)
    np.testing.assert_array_equal(evaluate(Resize(axes=(-1,)), x, none, none, np.array([6])), expected)


def test_empty_tensors():
    assert evaluate(Resize(mode="linear"), np.ones((0, 3), np.float32), None, floats(1, 2)).shape == (0, 6)
    assert evaluate(Resize(), np.ones((2, 3), np.float32), None, floats(1, 0.1)).shape == (2, 0)
    with pytest.raises(RunError) as raised:
        evaluate(Resize(), np.ones((2, 0), np.float32), None, None, np.array([2, 3]))
    assert str(raised.value) == "an axis of length 0 cannot be resized to 3"


# ---- types ---------------------------------------------------------------------------------------------------------


def test_named_dims_follow_scales_and_sizes():
    x = shaped(N, C, H, W)
    scales = listed(1.0, 1.0, 2.0, 0.5, dtype=np.float32)
    assert types(Resize(), x, None, scales) == "float32[N, C, 2*H, floor(W, 2)]"
    assert types(Resize(), x, None, listed(1.0, 1.0, 1.3, 0.6, dtype=np.float32)) == "float32[N, C, ?, ?]"
    assert types(Resize(), x, None, None, listed(N, C, H * 2, 7)) == "float32[N, C, 2*H, 7]"
    assert types(Resize(axes=(-2,)), x, None, None, listed(7)) == "float32[N, C, 7, W]"
    policy = Resize(axes=(2, 3), keep_aspect_ratio_policy="not_larger")
    assert types(policy, shaped(N, C, 4, 6), None, None, listed(8, 8)) == "float32[N, C, 5, 8]"
    assert types(policy, x, None, None, listed(8, 8)) == "float32[N, C, ?, ?]"


def test_product_with_a_scale_is_rounded_to_float32():
    scales = listed(float(np.float32(0.7)), dtype=np.float32)
    assert types(Resize(), shaped(10), None, scales) == "float32[7]"
    assert evaluate(Resize(), np.zeros(10, np.float32), None, floats(0.7)).shape == (7,)


def test_what_is_not_known_is_not_claimed():
    unknown, three = unranked(np.float32), shaped(3)
    assert types(Resize(), shaped(4), None, listed(dims.UNKNOWN, dtype=np.float32)) == "float32[?]"
    assert types(Resize(), unranked(np.int8), None, unknown) == "int8[*]"
    assert types(Resize(), unranked(), None, three) == "float32[?, ?, ?]"
    assert types(Resize(axes=(0, 1, 2)), unranked(), None, three) == "float32[*]"
    assert types(Resize(), shaped(N, 4), None, unknown, unranked(np.int64)) == "float32[?, ?]"
    assert types(Resize(axes=(1,)), shaped(N, 4), None, unknown) == "float32[N, ?]"


@pytest.mark.parametrize(
    ("op", "facts", "message"),
    [
        (Resize(), [shaped(3)], "has neither scales nor sizes\n  fix: give one of them"),
        (Resize(), [shaped(3), None, shaped(0)], "has neither scales nor sizes\n  fix: give one of them"),
        (
            Resize(),
            [shaped(3), None, shaped(1), shaped(1, dtype=np.int64)],
            "has both scales and sizes\n  fix: give one of them",
        ),
        (Resize(), [shaped(3, 3), None, shaped(1)], "scales has 1 entries for 2 axes"),
        (Resize(), [shaped(3), None, shaped()], "scales has rank 0, expected 1"),
        (Resize(axes=(2,)), [shaped(3, 3), None, shaped(1)], "axes has 2 is outside [-2, 2) of a tensor of rank 2"),
        (Resize(mode="area"), [shaped(3), None, shaped(1)], "mode is 'area'\n  fix: one of nearest, linear, cubic"),
        (
            Resize(mode="linear"),
            [shaped(3, dtype=object), None, shaped(1)],
            "cannot interpolate strings with mode linear\n  fix: mode nearest",
        ),
        (
            Resize(),
            [shaped(3), None, listed(-1.0, dtype=np.float32)],
            "a scale is -1.0, expected a positive number",
        ),
    ],
)
def test_ill_typed_resize_says_why(op, facts, message):
    with pytest.raises(TypeRuleError) as raised:
        op.infer(*facts)
    assert str(raised.value) == message


def test_missing_roi_is_a_run_error():
    op = Resize(coordinate_transformation_mode="tf_crop_and_resize")
    with pytest.raises(RunError) as raised:
        evaluate(op, np.zeros(3, np.float32), None, floats(2))
    assert str(raised.value) == "tf_crop_and_resize needs a roi of 2 entries"
