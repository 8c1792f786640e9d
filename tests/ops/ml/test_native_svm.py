"""Support vector machines in native code: kernels, pairs of classes and probabilities at any number of rows."""

import ml_oracle
import numpy as np
import pytest
from native_forms import run_form
from one_program import OneProgram

from whorl.ops.ml import native_svm, svm
from whorl.ops.ml.svm import SVMClassifier, SVMRegressor

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(30, 6)).astype(np.float32)
VECTORS = RNG.normal(size=(17, 6)).astype(np.float32)


def numbers(*shape):
    return tuple(RNG.normal(size=shape).astype(np.float32).reshape(-1).tolist())


@pytest.mark.parametrize("kind", svm.KERNELS)
@pytest.mark.parametrize("degree", [1.0, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("count", [1, 3, 17])
def test_kernels_equal_numpy(count, degree, kind):
    parameters, vectors = (0.5, 0.25, degree), VECTORS[:count]
    actual = run_form(lambda k, x: native_svm.kernel_view(k, x, vectors, kind, parameters), ROWS)
    np.testing.assert_allclose(actual, svm.kernel(ROWS, vectors, kind, parameters), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("has_probabilities", [False, True])
@pytest.mark.parametrize("kind", svm.KERNELS)
def test_classifier_of_any_number_of_classes(kind, has_probabilities, classes):
    each = [1 + n % 3 for n in range(classes)]
    pairs = classes * (classes - 1) // 2
    op = SVMClassifier(
        classlabels_ints=tuple(range(10, 10 + classes)),
        coefficients=numbers(classes - 1, sum(each)),
        kernel_type=kind,
        kernel_params=(0.25, 0.5, 3.0),
        rho=numbers(pairs),
        prob_a=tuple(-abs(a) for a in numbers(pairs)) if has_probabilities else (),
        prob_b=numbers(pairs) if has_probabilities else (),
        support_vectors=numbers(sum(each), 6),
        vectors_per_class=tuple(each),
    )
    ml_oracle.result(op, ROWS)


@pytest.mark.parametrize("one_class", [0, 1])
def test_a_model_of_other_features_fails(one_class):
    op = SVMRegressor(
        coefficients=(1.0, -2.0), n_supports=2, rho=(0.25,), support_vectors=numbers(2, 6), one_class=one_class
    )
    program = OneProgram(op, [ROWS])
    np.testing.assert_allclose(program.run([ROWS])[0], op.run(ROWS), rtol=1e-5)
    assert program.run([ROWS[:, :5]]) is None


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_classifier_without_vectors(classes, positive):
    coefficients = numbers(classes, 6)
    op = SVMClassifier(
        classlabels_ints=tuple(range(7, 7 + classes)),
        coefficients=tuple(abs(c) for c in coefficients) if positive else coefficients,
        rho=(0.25,),
    )
    ml_oracle.result(op, ROWS)


def test_vectors_of_uneven_lengths_are_left_to_the_interpreter():
    op = SVMRegressor(coefficients=(1.0, 2.0), n_supports=2, rho=(0.0,), support_vectors=(1.0, 2.0, 3.0))
    with pytest.raises(AssertionError):
        OneProgram(op, [ROWS])
