"""Features prepared in native code: lengths that only the run knows, rows without an axis, values that do not fit."""

import ml_oracle
import numpy as np
import pytest
from one_program import OneProgram

from whorl.ops.ml.features import ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer, Scaler

X = np.array([[1.5, -2.0, np.nan], [0.0, -0.0, np.inf], [3.0, 4.0, -1e-30], [2.0, 0.25, 0.5]], np.float32)


def test_scaler_of_other_columns_fails():
    program = OneProgram(Scaler(offset=(1.0, 2.0, 3.0), scale=(2.0,)), [X])
    assert program.run([X]) is not None
    assert program.run([X[:, :2]]) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("values", [(1.5,), (1.5, 2.5, 3.5)])
def test_scaler_of_all_types(values, dtype):
    ml_oracle.result(Scaler(offset=values, scale=values), np.nan_to_num(X, posinf=7).astype(dtype))


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_imputer_takes_the_first_value_where_the_columns_are_others(columns):
    op = Imputer(imputed_value_floats=(7.0, 8.0, 9.0), replaced_value_float=float("nan"))
    x = np.full((5, columns), np.nan, np.float32)
    program = OneProgram(op, [X])
    np.testing.assert_array_equal(program.run([x])[0], op.run(x))


def test_imputer_of_integers_beyond_the_type_is_interpreted():
    op = Imputer(imputed_value_int64s=(1,), replaced_value_int64=1 << 40)
    with pytest.raises(AssertionError):
        OneProgram(op, [np.ones((3, 4), np.int32)])


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_normalizer_of_all_types(norm, dtype):
    x = np.nan_to_num(X, posinf=7, nan=100_000).astype(dtype)
    x[1] = 0
    ml_oracle.result(Normalizer(norm), x)
    ml_oracle.result(Normalizer(norm), x[0])
    ml_oracle.result(Normalizer(norm), X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_binarizer_of_all_types(dtype):
    ml_oracle.result(Binarizer(1.75), np.nan_to_num(X, posinf=7).astype(dtype))
    ml_oracle.result(Binarizer(0.0), X)


@pytest.mark.parametrize("shape", [(4, 5), (2, 3, 5), (5,)])
def test_extractor_of_any_rank(shape):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    op, indices = ArrayFeatureExtractor(), np.array([[4, 0], [0, 2]])
    program = OneProgram(op, [x, indices])
    np.testing.assert_array_equal(program.run([x, indices])[0], op.run(x, indices))
    assert program.run([x, indices + 1]) is None
    assert program.run([x, indices - 1]) is None


def test_vectorizer_of_tables_with_other_rows_fails():
    program = OneProgram(FeatureVectorizer(inputdimensions=(2, 5)), [X, X])
    assert program.run([X, X]) is not None
    assert program.run([X, X[:2]]) is None
