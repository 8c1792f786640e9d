"""Normalizations against their formulas in float64, and what the backend suite leaves out."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, floats, shaped, types, unranked

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ops.reduce.local_response import LRN
from whorl.ops.reduce.normalization import (
    BatchNormalization,
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    LpNormalization,
    MeanVarianceNormalization,
    RMSNormalization,
)

N, C = dims.name("N"), dims.name("C")
FLOAT64 = np.dtype(np.float64)
NARROW = [np.float16, ml_dtypes.bfloat16]


def normal(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


def standardized(x, axes, epsilon=1e-5):
    wide = x.astype(np.float64)
    mean, variance = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    return (wide - mean) / np.sqrt(variance + epsilon)


def parameters(count, dtype=np.float32):
    return normal(count, dtype=dtype), normal(count + 1, dtype=dtype)[1:]


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (2, 3, 4, 5)])
def test_batch_in_inference_uses_the_passed_statistics(shape):
    x, (scale, b), (mean, variance) = normal(*shape), parameters(3), (normal(3), np.abs(normal(3)))
    y, *remaining = evaluate(BatchNormalization(epsilon=0.1), x, scale, b, mean, variance)
    column = (1, 3, *(1,) * (len(shape) - 2))
    expected = (x - mean.reshape(column)) / np.sqrt(variance.reshape(column) + 0.1) * scale.reshape(column)
    np.testing.assert_allclose(y, expected + b.reshape(column), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(remaining, [mean, variance])


def test_batch_in_training_uses_and_collects_the_statistics_of_the_batch():
    x, (scale, b), (mean, variance) = normal(4, 3, 5), parameters(3), (normal(3), np.abs(normal(3)))
    y, new_mean, new_variance = evaluate(BatchNormalization(momentum=0.7, training_mode=1), x, scale, b, mean, variance)
    expected = standardized(x, (0, 2)) * scale[:, None] + b[:, None]
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(new_mean, mean * 0.7 + x.mean((0, 2)) * 0.3, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(new_variance, variance * 0.7 + x.var((0, 2)) * 0.3, rtol=1e-5)


def test_batch_of_rank_1_is_one_channel():
    one, zero = floats(1), floats(0)
    y, *_ = evaluate(BatchNormalization(epsilon=0.0, training_mode=1), floats(1, 3), one, zero, zero, one)
    assert y.tolist() == [-1, 1]


def test_batch_keeps_three_element_types_apart():
    x, (scale, b) = normal(2, 3, 4, dtype=np.float16), parameters(3, ml_dtypes.bfloat16)
    results = evaluate(BatchNormalization(training_mode=1), x, scale, b, normal(3), np.abs(normal(3)))
    assert [result.dtype.name for result in results] == ["float16", "float32", "float32"]
    facts = shaped(N, 3, dtype=np.float16), *[shaped(3, dtype=ml_dtypes.bfloat16)] * 2, *[shaped(3)] * 2
    assert types(BatchNormalization(), *facts) == "float16[N, 3], float32[3], float32[3]"


def test_float16_statistics_do_not_overflow():
    x, one, old = np.array([[[300, -300]]], np.float16), np.ones(1, np.float16), np.zeros(1, np.float32)
    y, mean, variance = evaluate(BatchNormalization(momentum=0.0, training_mode=1), x, one, one, old, old)
    assert y.tolist() == [[[2, 0]]] and mean == 0 and variance == 90000


def test_batch_without_elements():
    three = np.ones(3, np.float32)
    y, mean, _ = evaluate(
        BatchNormalization(training_mode=1), np.zeros((0, 3, 4), np.float32), three, three, three, three
    )
    assert y.shape == (0, 3, 4) and np.isnan(mean).all()


@pytest.mark.parametrize("dtype", [np.float32, *NARROW])
def test_instance_and_group_take_statistics_of_their_part(dtype):
    x, (scale, bias) = normal(2, 6, 4, dtype=dtype), parameters(6, dtype)
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if dtype == np.float32 else {"rtol": 0.01, "atol": 0.01}
    columns = [value.astype(np.float64)[:, None] for value in (scale, bias)]
    instance = evaluate(InstanceNormalization(), x, scale, bias)
    assert instance.dtype == dtype
    expected = standardized(x, 2) * columns[0] + columns[1]
    np.testing.assert_allclose(instance.astype(np.float64), expected, **tolerance)
    group = evaluate(GroupNormalization(num_groups=2), x, scale, bias)
    assert group.dtype == dtype
    expected = standardized(x.reshape(2, 2, 3, 4), (2, 3)).reshape(x.shape) * columns[0] + columns[1]
    np.testing.assert_allclose(group.astype(np.float64), expected, **tolerance)


@pytest.mark.parametrize("axis", [-1, 1, 0])
def test_layer_takes_statistics_from_the_axis_on(axis):
    x, scale = normal(2, 3, 4), normal(4)
    y, mean, reciprocal = evaluate(LayerNormalization(axis=axis), x, scale)
    axes = tuple(range(axis % 3, 3))
    np.testing.assert_allclose(y, standardized(x, axes) * scale, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean, x.mean(axes, keepdims=True), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(reciprocal, 1 / np.sqrt(x.var(axes, keepdims=True) + 1e-5), rtol=1e-5)
    text = f"float32{list(mean.shape)}"
    assert types(LayerNormalization(axis=axis), shaped(2, 3, 4), shaped(4)) == f"float32[2, 3, 4], {text}, {text}"


def test_layer_of_float64_is_standardized_in_its_stash_type():
    x, one = np.array([[1.0, 1.0 + 2.0**-30]]), np.ones(2)
    assert evaluate(LayerNormalization(epsilon=0.0), x + 1, one)[1].dtype == np.float32
    assert np.isnan(evaluate(LayerNormalization(epsilon=0.0), x, one)[0]).all()
    result, mean, _ = evaluate(LayerNormalization(epsilon=0.0, stash_type=FLOAT64), x, one)
    assert result.tolist() == [[-1, 1]] and mean.dtype == np.float64


def test_layer_of_narrow_floats_is_rounded_once():
    x, scale = normal(3, 64, dtype=np.float16), normal(64, dtype=np.float16)
    exact = standardized(x, -1) * scale.astype(np.float64)
    np.testing.assert_allclose(evaluate(LayerNormalization(), x, scale)[0], exact.astype(np.float16), rtol=1e-3)


def test_rms_has_the_type_of_its_scale():
    x, scale = normal(2, 4, dtype=np.float16), normal(4)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-5) * scale
    result = evaluate(RMSNormalization(), x, scale)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected, rtol=1e-5)
    assert types(RMSNormalization(), shaped(N, 4, dtype=np.float16), shaped(4)) == "float32[N, 4]"


def test_mean_variance_along_any_axes():
    x = normal(2, 3, 4)
    np.testing.assert_allclose(
        evaluate(MeanVarianceNormalization(axes=(0, -1)), x), standardized(x, (0, 2), 0), rtol=1e-4, atol=1e-5
    )
    assert evaluate(MeanVarianceNormalization(axes=(0,)), np.ones((4, 1), np.float32)).tolist() == [[0]] * 4


@pytest.mark.parametrize("p", [1, 2])
def test_line_of_norm_0_remains_0(p):
    x = floats([3, -4], [0, 0])
    expected = floats([3, -4]) / (7 if p == 1 else 5)
    np.testing.assert_allclose(evaluate(LpNormalization(p=p), x), [expected[0], [0, 0]], rtol=1e-6)
    assert np.isnan(evaluate(LpNormalization(p=p), floats(np.nan, 1))).all()
    assert evaluate(LpNormalization(p=p), np.zeros((0, 2), np.float32)).shape == (0, 2)


@pytest.mark.parametrize(
    ("op", "facts", "message"),
    [
        (BatchNormalization(), (shaped(2, 3), *[shaped(3)] * 3, shaped(4)), "the number of channels is both 3 and 4"),
        (BatchNormalization(), (shaped(2, 3), shaped(3, 1), *[shaped(3)] * 3), "scale has rank 2, expected 1"),
        (
            InstanceNormalization(),
            (shaped(2), shaped(2), shaped(2)),
            "the input is float32[2], expected rank 2 or more: [N, C, ...]",
        ),
        (GroupNormalization(4), (shaped(2, 6, 1), shaped(6), shaped(6)), "6 channels do not fall into 4 equal groups"),
        (GroupNormalization(0), (unranked(), unranked(), unranked()), "num_groups is 0, expected 1 or more"),
        (
            LayerNormalization(),
            (shaped(2, 3), shaped(2)),
            "Scale has shape [2], which does not broadcast to [2, 3]",
        ),
        (LayerNormalization(axis=2), (shaped(2, 3), shaped(3)), "axis 2 is outside [-2, 2) of a tensor of rank 2"),
        (
            RMSNormalization(stash_type=np.dtype(np.int32)),
            (shaped(2), shaped(2)),
            "stash_type is int32, expected a float",
        ),
        (MeanVarianceNormalization(), (shaped(2, 3),), "axis 2 is outside [-2, 2) of a tensor of rank 2"),
        (LpNormalization(p=3), (shaped(2),), "p is 3, expected 1 or 2"),
        (LRN(0), (shaped(2, 3),), "size is 0, expected 1 or more"),
        (LRN(3), (shaped(2, 3, dtype=np.int32),), "does not accept int32"),
    ],
)
def test_wrong_inputs_are_refused(op, facts, message):
    with pytest.raises(TypeRuleError) as caught:
        types(op, *facts)
    assert str(caught.value) == message


def test_parameters_of_unknown_shape_are_checked_at_run_time():
    x, one = np.zeros((2, 3, 4), np.float32), np.ones(1, np.float32)
    with pytest.raises(RunError) as caught:
        evaluate(BatchNormalization(), x, one, one, one, one)
    assert str(caught.value) == "the number of channels is both 3 and 1"


@pytest.mark.parametrize(
    ("op", "count"),
    [
        (BatchNormalization(), 5),
        (InstanceNormalization(), 3),
        (GroupNormalization(2), 3),
        (LayerNormalization(), 2),
        (RMSNormalization(), 2),
        (MeanVarianceNormalization(), 1),
        (LpNormalization(), 1),
        (LRN(3), 1),
    ],
)
def test_unranked_inputs_are_accepted(op, count):
    assert types(op, *[unranked(np.float16)] * count).startswith("float16[*]")
