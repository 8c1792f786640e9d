"""Transforms of scores in native code equal those of NumPy, in rows of any length."""

import numpy as np
import pytest
from native_forms import run_form

from whorl.ops.ml import native_scores, tabular

SCORES = np.array([[0.25, -3, 1e-8, 0], [40, -40, 2, 2], [0, 0, 0, 1e-9], [0.75, 0.5, 0.125, 0.875]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", tabular.TRANSFORMS)
@pytest.mark.parametrize("classes", [1, 2, 4])
def test_transformed_rows_equal_numpy(classes, kind, dtype):
    scores = SCORES[:, :classes].astype(dtype)

    def write(k, x):
        buffer = k.temporary(x.dtype, x.shape)
        k.fill(buffer, x)
        native_scores.transform_rows(k, buffer, x.shape, kind)
        return k.view_of(buffer)

    with np.errstate(all="ignore"):
        expected = tabular.transformed(scores, kind)
    np.testing.assert_allclose(run_form(write, scores), expected, rtol=1e-6 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("kind", tabular.TRANSFORMS)
@pytest.mark.parametrize("opposite", [False, True])
def test_both_classes_equal_numpy(opposite, kind):
    scores = SCORES[3].astype(np.float32)

    def write(k, x):
        buffer = k.temporary(x.dtype, (4, 2))
        with k.nest(x.shape) as (row,):
            for n, score in enumerate(native_scores.both_classes(k, x.at((row,)), kind, opposite)):
                k.store(buffer, (row, k.const(n)), score)
        return k.view_of(buffer)

    expected = tabular.both_classes(scores, kind, opposite)
    np.testing.assert_allclose(run_form(write, scores), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("scores", "index"), [([1, 3, 3, 2], 1), ([-np.inf, -np.inf], 0), ([1, np.nan, np.inf, np.nan], 1), ([5], 0)]
)
def test_first_of_the_largest_is_that_of_argmax(scores, index):
    scores = np.array(scores, np.float32)

    def write(k, x):
        return k.scalar(native_scores.first_largest(k, len(scores), lambda n: x.at((n,)), x.dtype), (1,))

    assert run_form(write, scores).tolist() == [index] == [scores.argmax()]


def test_labels_that_are_not_their_own_indices():
    def write(k, x):
        chosen = native_scores.Chosen.of_rows(k, 3)
        k.fill(chosen.buffer, x)
        return chosen.labels(k, np.array([10, 20, 5]))

    assert run_form(write, np.array([2, 0, 1])).tolist() == [5, 10, 20]
