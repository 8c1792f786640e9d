"""Linear models in native code: few and many columns, and inputs that do not fit."""

import ml_oracle
import numpy as np
import pytest
from one_program import OneProgram

from whorl.ops.ml.linear_models import LinearClassifier, LinearRegressor


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("targets", [1, 2, 4, 5, 40])
def test_regressor_of_any_number_of_targets(targets, transform):
    coefficients, intercepts = numbers(targets, 30), numbers(targets)
    op = LinearRegressor(
        coefficients=tuple(coefficients.reshape(-1).tolist()),
        intercepts=tuple(intercepts.tolist()),
        targets=targets,
        post_transform=transform,
    )
    ml_oracle.result(op, numbers(20, 30))


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("rows", [1, 2, 3, 20])
@pytest.mark.parametrize("labels", [2, 3, 20])
def test_classifier_of_any_number_of_rows(labels, rows, transform):
    op = LinearClassifier(
        coefficients=tuple(numbers(rows * 7).tolist()),
        intercepts=tuple(numbers(rows).tolist()),
        classlabels_ints=tuple(range(100, 100 + labels)),
        post_transform=transform,
    )
    if labels >= rows:
        ml_oracle.result(op, numbers(20, 7))


def test_a_model_of_other_features_fails():
    op = LinearRegressor(coefficients=(1.0, 2.0, 3.0))
    program = OneProgram(op, [numbers(4, 3)])
    assert program.run([numbers(5, 3)]) is not None
    assert program.run([numbers(5, 2)]) is None


def test_labels_that_name_too_few_classes_are_left_to_the_interpreter():
    op = LinearClassifier(coefficients=(1.0,) * 9, intercepts=(0.0,) * 3, classlabels_ints=(1, 2))
    with pytest.raises(AssertionError):
        OneProgram(op, [numbers(4, 3)], 2)
