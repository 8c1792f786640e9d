"""Linear models against onnxruntime."""

import ml_oracle
import numpy as np
import pytest

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ir.types import Known, TensorType
from whorl.ops.ml.linear_models import LinearClassifier, LinearRegressor

TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]


def floats(rng, count, scale=0.2):
    return [float(np.float32(v)) for v in rng.random(count) * scale]


def rows(rng, dtype=np.float32):
    return (rng.random((7, 3)) * (10 if np.issubdtype(dtype, np.integer) else 1)).astype(dtype)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("targets", [1, 2, 4])
@pytest.mark.parametrize("intercepts", [False, True])
def test_regressor_equals_onnxruntime(intercepts, targets, transform):
    rng = np.random.default_rng(targets)
    attributes = {"coefficients": floats(rng, 3 * targets), "targets": targets, "post_transform": transform}
    if intercepts:
        attributes["intercepts"] = floats(rng, targets)
    ml_oracle.assert_same("LinearRegressor", attributes, rows(rng))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
@pytest.mark.parametrize("transform", TRANSFORMS[:4])
@pytest.mark.parametrize("classes", [2, 4])
def test_classifier_equals_onnxruntime(classes, transform, dtype):
    rng = np.random.default_rng(classes)
    attributes = {
        "coefficients": [v - 0.1 for v in floats(rng, 3 * classes)],
        "intercepts": floats(rng, classes),
        "classlabels_strings": list("abcd"[:classes]),
        "post_transform": transform,
    }
    ml_oracle.assert_same("LinearClassifier", attributes, rows(rng, dtype))


@pytest.mark.parametrize("transform", TRANSFORMS[:4])
def test_classifier_one_row_of_coefficients_equals_onnxruntime(transform):
    attributes = {
        "coefficients": [0.5, -1.0, 0.25],
        "intercepts": [0.125],
        "classlabels_ints": [7, 9],
        "post_transform": transform,
    }
    labels, scores = ml_oracle.assert_same("LinearClassifier", attributes, rows(np.random.default_rng(0)))
    assert set(labels.tolist()) == {7, 9} and scores.shape == (7, 2)


def test_regressor_one_row_of_rank_1():
    y = ml_oracle.result(LinearRegressor(coefficients=(1.0, 2.0)), np.array([3, 4], np.float32))
    np.testing.assert_array_equal(y, [[11]])


def test_regressor_wrong_feature_count_is_refused():
    with pytest.raises(RunError, match="2 coefficients do not fit 1 targets of 3 features"):
        LinearRegressor(coefficients=(1.0, 2.0)).run(np.zeros((1, 3), np.float32))


def test_regressor_unknown_transform_is_refused():
    with pytest.raises(TypeRuleError, match="post_transform 'CUBE' is none of NONE, SOFTMAX"):
        LinearRegressor(post_transform="CUBE").infer(Known(TensorType(np.dtype(np.float32))))


def test_classifier_without_intercepts_infers_scores_from_features():
    op = LinearClassifier(coefficients=(1.0, 2.0, 3.0, 4.0), classlabels_ints=(0, 1))
    _, scores = op.infer(Known(TensorType(np.dtype(np.float32), (5, 2))))
    assert scores.shape == (5, 2)
    _, scores = op.infer(Known(TensorType(np.dtype(np.float32), (5, UNKNOWN))))
    assert scores.shape[1] is UNKNOWN
