"""What ops over tables share: rows, labels, and transforms of scores without overflow."""

import numpy as np
import pytest
from evaluation import shaped, unranked

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ops.ml.tabular import (
    TRANSFORMS,
    both_classes,
    check_transform,
    labels_of,
    logistic,
    numbers,
    probit,
    strings_of,
    table,
    table_dims,
    transformed,
)


@pytest.mark.parametrize(
    ("fact", "dims"),
    [(shaped(5), (1, 5)), (shaped(2, 5), (2, 5)), (shaped(0, 5), (0, 5)), (unranked(), (UNKNOWN,) * 2)],
)
def test_tensor_is_rows_of_features(fact, dims):
    assert table_dims(fact.type) == dims


@pytest.mark.parametrize("shape", [(), (1, 2, 3)])
def test_tensor_of_another_rank_is_no_table(shape):
    with pytest.raises(TypeRuleError, match="expected rows of features\n  fix: reshape it to two axes"):
        table_dims(shaped(*shape).type)
    with pytest.raises(RunError, match="expected rows of features"):
        table(np.zeros(shape))


def test_vector_is_one_row():
    assert table(np.arange(3)).tolist() == [[0, 1, 2]] and table(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.float16, np.bool_, object, np.int8])
def test_other_element_types_are_refused(dtype):
    with pytest.raises(TypeRuleError, match="does not accept"):
        numbers(shaped(2, dtype=dtype))
    assert numbers(shaped(2, dtype=np.int32)).dtype == np.int32


def test_labels_are_of_the_kind_that_is_there():
    assert labels_of(("a", "bc"), (1, 2)).tolist() == ["a", "bc"] and labels_of((), (3, 4)).dtype == np.int64
    assert strings_of(["a", "b", "c", "d"], (2, 2)).tolist() == [["a", "b"], ["c", "d"]]
    assert strings_of([], (0, 3)).shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logistic_neither_overflows_nor_loses_what_is_small(dtype):
    x = np.array([-1e4, -80, -1, 0, 1, 80, 1e4, np.inf, -np.inf, np.nan], dtype)
    with np.errstate(over="raise", invalid="ignore"):
        y = logistic(x)
    assert y.dtype == dtype and y[3] == 0.5 and y[7] == 1 and y[8] == 0 and np.isnan(y[9])
    np.testing.assert_allclose(y[2] + y[4], 1, rtol=1e-6)
    assert y[0] == 0 and (np.diff(y[:7]) >= 0).all()


def test_quantile_of_the_normal_distribution():
    x = np.array([0.5, 0.975, 0.025, 0.0, 1.0])
    with np.errstate(all="ignore"):
        y = probit(x)
    np.testing.assert_allclose(y[:3], [0, 1.96, -1.96], atol=5e-3)
    assert y[3] == -np.inf and y[4] == np.inf


@pytest.mark.parametrize("kind", TRANSFORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transform_keeps_type_and_shape(kind, dtype):
    for shape in ((0, 3), (2, 0), (2, 1), (2, 3)):
        scores = np.full(shape, 0.25, dtype)
        y = transformed(scores, kind)
        assert y.shape == shape and y.dtype == dtype
    assert transformed(np.full((2, 1), 0.25), kind)[0, 0] == (0.25 if kind != "PROBIT" else probit(np.array(0.25)))


def test_shares_of_a_row_add_up_to_one_also_for_large_scores():
    scores = np.array([[1e30, 0, -1e30], [1, 2, 3]], np.float64)
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_allclose(transformed(scores, "SOFTMAX").sum(axis=1), 1)
        y = transformed(np.array([[0.0, 1, 2], [0, 0, 5]]), "SOFTMAX_ZERO")
    assert y[0, 0] == 0 and y[1].tolist() == [0, 0, 1]
    np.testing.assert_allclose(y[0, 1:].sum(), 1)


@pytest.mark.parametrize(
    ("kind", "opposite", "pair"),
    [
        ("NONE", False, (0.75, 0.25)),
        ("NONE", True, (-0.25, 0.25)),
        ("SOFTMAX", False, (0.75, 0.25)),
        ("LOGISTIC", False, (logistic(np.array(-0.25)), logistic(np.array(0.25)))),
        ("LOGISTIC", True, (logistic(np.array(-0.25)), logistic(np.array(0.25)))),
        ("PROBIT", True, (-probit(np.array(0.25)), probit(np.array(0.25)))),
    ],
)
def test_score_of_one_class_gives_that_of_the_other(kind, opposite, pair):
    np.testing.assert_allclose(both_classes(np.array([0.25]), kind, opposite), [pair])


def test_transform_that_does_not_exist_is_refused():
    check_transform("SOFTMAX")
    with pytest.raises(TypeRuleError) as raised:
        check_transform("softmax")
    assert str(raised.value) == "post_transform 'softmax' is none of NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT"
