"""Products and determinants in pieces equal those of NumPy."""

import numpy as np
import pytest

from whorl.ops.core import pieces


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((30, 20), (20, 40)),
        ((5, 30, 20), (20, 40)),
        ((1, 3, 4, 7), (6, 1, 7, 9)),
        ((2, 3, 7), (2, 7, 50)),
        ((1, 100), (100, 300)),
        ((3, 7), (9, 7, 8)),
        ((100,), (100, 30)),
        ((0, 100), (100, 30)),
    ],
)
def test_product_in_pieces_is_the_product(monkeypatch, left, right):
    monkeypatch.setattr(pieces, "MOST", 100)
    rng = np.random.default_rng(0)
    a, b = rng.random(left), rng.random(right)
    np.testing.assert_allclose(pieces.matmul(a, b), a @ b)


def test_operands_that_do_not_fit_are_refused_as_numpy_does():
    with pytest.raises(ValueError, match="mismatch"):
        pieces.matmul(np.zeros((2, 3)), np.zeros((4, 2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_determinant_of_a_large_matrix_is_the_determinant(monkeypatch, dtype):
    monkeypatch.setattr(pieces, "LARGE", 4)
    monkeypatch.setattr(pieces, "COLUMNS", 7)
    rng = np.random.default_rng(0)
    for shape in ((4, 4), (3, 30, 30), (2, 1, 15, 15)):
        x = rng.standard_normal(shape).astype(dtype)
        actual = pieces.determinants(x)
        assert actual.dtype == dtype and actual.shape == shape[:-2]
        np.testing.assert_allclose(actual, np.linalg.det(x), rtol=1e-3 if dtype == np.float32 else 1e-9)
    singular = np.ones((5, 5), dtype)
    assert pieces.determinants(singular) == 0
    assert np.isnan(pieces.determinants(np.where(np.eye(5) > 0, np.nan, singular).astype(dtype)))
