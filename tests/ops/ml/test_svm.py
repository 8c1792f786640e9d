"""Support vector machines against onnxruntime, over random parameters."""

import ml_oracle
import numpy as np
import pytest

from whorl.errors import RunError, TypeRuleError
from whorl.ir.types import Known, TensorType
from whorl.ops.ml.svm import SVMClassifier, SVMRegressor, coupled_probabilities

KERNELS = ["LINEAR", "POLY", "RBF", "SIGMOID"]
FEATURES = 3


def floats(rng, *shape, scale=1.0):
    return [float(np.float32(v)) for v in rng.normal(size=shape).reshape(-1) * scale]


def parameters(kernel):
    return {"kernel_type": kernel, "kernel_params": [0.5, 0.25, 3.0 if kernel == "POLY" else 0.0]}


def classifier(rng, classes, kernel, probabilities, labels):
    counts = [int(n) for n in rng.integers(1, 4, classes)]
    pairs = classes * (classes - 1) // 2
    attributes = {
        "classlabels_ints" if labels == "int" else "classlabels_strings": (
            list(range(10, 10 + classes)) if labels == "int" else list("abcdef"[:classes])
        ),
        "coefficients": floats(rng, classes - 1, sum(counts)),
        "rho": floats(rng, pairs, scale=0.1),
        "support_vectors": floats(rng, sum(counts), FEATURES),
        "vectors_per_class": counts,
    } | parameters(kernel)
    if probabilities:
        attributes |= {"prob_a": [-1.5] * pairs, "prob_b": floats(rng, pairs, scale=0.1)}
    return attributes


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("probabilities", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("kernel", KERNELS)
def test_classifier_support_vectors_equals_onnxruntime(kernel, classes, probabilities, dtype):
    rng = np.random.default_rng(classes)
    attributes = classifier(rng, classes, kernel, probabilities, "int" if classes == 3 else "str")
    x = (rng.normal(size=(25, FEATURES)) * (3 if dtype is np.int64 else 1)).astype(dtype)
    ml_oracle.assert_same("SVMClassifier", attributes, x, tolerance=2e-4)


@pytest.mark.parametrize("transform", ["SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("probabilities", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
def test_classifier_transform_equals_onnxruntime(classes, probabilities, transform):
    rng = np.random.default_rng(9)
    attributes = classifier(rng, classes, "RBF", probabilities, "int") | {"post_transform": transform}
    ml_oracle.assert_same("SVMClassifier", attributes, rng.normal(size=(9, FEATURES)).astype(np.float32))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_classifier_linear_equals_onnxruntime(transform, positive, classes):
    rng = np.random.default_rng(4)
    weights = floats(rng, classes, FEATURES)
    attributes = {
        "classlabels_ints": [4, 5, 6][:classes],
        "coefficients": [abs(w) for w in weights] if positive else weights,
        "rho": [0.25],
        "post_transform": transform,
        **parameters("LINEAR"),
    }
    ml_oracle.assert_same("SVMClassifier", attributes, rng.normal(size=(20, FEATURES)).astype(np.float32))


@pytest.mark.parametrize("one_class", [0, 1])
@pytest.mark.parametrize("vectors", [0, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_regressor_equals_onnxruntime(kernel, vectors, one_class):
    rng = np.random.default_rng(2)
    attributes = {
        "coefficients": floats(rng, vectors or FEATURES),
        "n_supports": vectors,
        "one_class": one_class,
        "rho": [0.125],
        **parameters(kernel),
    }
    if vectors:
        attributes["support_vectors"] = floats(rng, vectors, FEATURES)
    ml_oracle.assert_same("SVMRegressor", attributes, rng.normal(size=(20, FEATURES)).astype(np.float32))


def test_coupled_probabilities_of_consistent_pairs_are_the_ones_they_came_from():
    p = np.array([0.5, 0.3, 0.2], np.float32)
    pairs = p[:, None] / (p[:, None] + p)
    actual = coupled_probabilities(np.where(np.eye(3, dtype=bool), 0, pairs)[None].astype(np.float32))
    np.testing.assert_allclose(actual[0], p, atol=0.01)


def test_regressor_wrong_features_are_refused():
    op = SVMRegressor(coefficients=(1.0,), rho=(0.0,), n_supports=1, support_vectors=(1.0, 2.0))
    with pytest.raises(RunError, match="input has 3 features, the model 2"):
        op.run(np.zeros((1, 3), np.float32))


def test_classifier_coefficients_that_do_not_fit_are_refused():
    op = SVMClassifier(
        classlabels_ints=(0, 1), coefficients=(1.0,), rho=(0.0,), support_vectors=(1.0, 2.0), vectors_per_class=(1, 1)
    )
    with pytest.raises(TypeRuleError, match="coefficients has 1 elements, expected 2"):
        op.infer(Known(TensorType(np.dtype(np.float32))))
