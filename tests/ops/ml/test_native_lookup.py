"""Numbers looked up in native code: tables, searches, NaN, and keys that no element equals."""

import ml_oracle
import numpy as np
import pytest
from one_program import OneProgram

from whorl.errors import RunError
from whorl.ops.ml.labels import LabelEncoder, OneHotEncoder

NUMBERS = np.array([[5, -3, 0, 1 << 40], [7, 1 << 33, -(1 << 50), 6], [8, 9, 10, -4]])


def encoder(keys, values, **more):
    return LabelEncoder(keys_tensor=np.array(keys), values_tensor=np.array(values), **more)


@pytest.mark.parametrize(
    "keys",
    [[5], [5, 7, 6], [7, 5, 7, 7], [1 << 40, -3, -(1 << 50)], [*range(-3, 11)], [n * n * 1000 for n in range(100)]],
    ids=lambda keys: str(keys[:3]),
)
def test_integers_equal_the_interpreter(keys):
    ml_oracle.result(encoder(keys, np.arange(len(keys)) / 4, default_float=-1.0), NUMBERS)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.float64, np.float32])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 9, 33])
def test_numbers_of_all_types_equal_the_interpreter(count, dtype):
    rng = np.random.default_rng(count)
    keys = (rng.permutation(100)[:count] * 300 - 5000).astype(dtype)
    x = np.concatenate([keys, keys + 1, [0, 30000]]).astype(dtype).reshape(2, -1)
    ml_oracle.result(encoder(keys, np.arange(count)), x)


@pytest.mark.parametrize("keys", [[np.nan], [np.nan, 1.5, -0.0], [1.5, np.nan, 0.0, np.inf, -np.inf, np.nan], [1.5]])
def test_nan_and_zeros_equal_the_interpreter(keys):
    x = np.array([[np.nan, 1.5, 0.0], [-0.0, np.inf, -np.inf]], np.float32)
    ml_oracle.result(encoder(np.array(keys, np.float32), np.arange(len(keys)) + 10), x)


def test_a_key_that_no_float32_equals_is_never_met():
    op = LabelEncoder(keys_floats=(0.1, 0.5), values_int64s=(1, 2))
    labels = ml_oracle.result(op, np.array([[0.1, 0.5], [0.1, 1]], np.float32))
    assert labels.tolist() == [[-1, 2], [-1, -1]]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("categories", [(3, 1, 2), (3, 1, 3), (5,), (1 << 40, -7)])
def test_one_hot_rows_equal_the_interpreter(categories, dtype):
    x = np.array([[1.75, 2, 3], [-7, 5, 0]]).astype(dtype)
    ml_oracle.result(OneHotEncoder(cats_int64s=categories), x)


def test_a_category_that_is_not_listed_fails():
    op = OneHotEncoder(cats_int64s=(3, 1), zeros=0)
    x = np.array([[1, 3], [3, 1]])
    program = OneProgram(op, [x])
    np.testing.assert_array_equal(program.run([x])[0], op.run(x))
    assert program.run([x + 1]) is None
    with pytest.raises(RunError, match="is not among the categories"):
        op.run(x + 1)


def test_values_that_are_too_large_for_their_type_are_left_to_the_interpreter():
    op = LabelEncoder(keys_int64s=(1, 2), values_tensor=np.array([3, 4], np.int32), default_int64=1 << 40)
    with pytest.raises(AssertionError):
        OneProgram(op, [NUMBERS])
