"""Ops of ai.onnx.ml on tables of many rows, and on vectors, which are tables of one row."""

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_op

TABLES = [np.array([[1, 2, 4], [-1, 0.5, 2]], np.float32), np.array([1, 2, 4], np.float32)]


@pytest.mark.parametrize("x", TABLES, ids=lambda x: str(x.shape))
@pytest.mark.parametrize(
    "op",
    [
        "Scaler({0}) {{offset = (1, 2, 3), scale = (2, 0.5, 1)}}",
        "Imputer({0}) {{imputed_value_floats = (1, 2, 3), replaced_value_float = 4}}",
        "Binarizer({0}) {{threshold = 1.5}}",
        "Normalizer({0})",
        "FeatureVectorizer({0}) {{inputdimensions = (4,)}}",
        "LinearRegressor({0}) {{coefficients = (1, 2, 4, 8, -1, 0), targets = 2}}",
        "OneHotEncoder({0}) {{cats_int64s = (1, 2)}}",
    ],
)
def test_rows_are_rows_of_one_table(op, x):
    check_op(op, [x], [True])


@pytest.mark.parametrize("op", ["Scaler({0}) {{offset = (1,)}}", "Imputer({0}) {{imputed_value_floats = (1,)}}"])
def test_number_has_no_features(op):
    check_op(op, [np.float32(3)], [True])


@pytest.mark.parametrize("x", TABLES, ids=lambda x: str(x.shape))
@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("shape", [(2,), (1, 2)])
def test_columns_belong_to_the_row(x, mapped, shape):
    check_op("ArrayFeatureExtractor({0}, {1})", [x, np.array([2, 0]).reshape(shape)], mapped)
