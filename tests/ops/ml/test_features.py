"""Feature preparation against onnxruntime where it has a kernel, else by hand."""

import ml_oracle
import numpy as np
import pytest

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.types import Known, TensorType
from whorl.ops.ml.features import ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer, Scaler

NUMBERS = [np.float32, np.float64, np.int64, np.int32]
NAN = float("nan")


def table(dtype=np.float32):
    return np.array([[1, -2, 3], [0, 0, 0], [-4, 5, -6], [7, 8, -9]], dtype)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("indices", [[0], [2, 0, 2], [1, 1]])
def test_extractor_equals_onnxruntime(indices, dtype):
    for x in (table(dtype), table(dtype)[0], table(dtype).reshape(2, 2, 3)):
        ml_oracle.assert_same("ArrayFeatureExtractor", {}, x, np.array(indices))


def test_extractor_strings_equal_onnxruntime():
    ml_oracle.assert_same("ArrayFeatureExtractor", {}, ml_oracle.strings("a", "b", "c"), np.array([[2, 0]]))


@pytest.mark.parametrize("index", [3, -1])
def test_extractor_index_outside_is_refused(index):
    with pytest.raises(RunError, match=rf"index {index} is outside \[0, 3\) of the last axis"):
        ArrayFeatureExtractor().run(table(), np.array([0, index]))


def test_extractor_infers_the_number_of_indices():
    x = Known(TensorType(np.dtype(np.float32), (dims.name("N"), 5)))
    indices = Known(TensorType(np.dtype(np.int64), (2, dims.name("K"))))
    assert str(ArrayFeatureExtractor().infer(x, indices)) == "float32[N, 2*K]"


def test_binarizer_equals_onnxruntime():
    ml_oracle.assert_same("Binarizer", {"threshold": 1.0}, table())


@pytest.mark.parametrize("dtype", NUMBERS)
def test_binarizer_keeps_the_type(dtype):
    y = ml_oracle.result(Binarizer(threshold=0.5), table(dtype))
    assert y.dtype == dtype and y.tolist()[0] == [1, 0, 1]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("widths", [[3, 2], [2, 4], [5, 1]])
def test_vectorizer_cuts_and_fills_like_onnxruntime(widths, dtype):
    ml_oracle.assert_same("FeatureVectorizer", {"inputdimensions": widths}, table(dtype), table(dtype)[:, 1:])


def test_vectorizer_without_widths_keeps_them():
    y = ml_oracle.result(FeatureVectorizer(), table(np.int64), table(np.int64)[:, :1])
    np.testing.assert_array_equal(y, np.hstack([table(), table()[:, :1]]))


def test_vectorizer_different_rows_are_refused():
    with pytest.raises(RunError, match="inputs have 4, 2 rows"):
        FeatureVectorizer().run(table(), table()[:2])


@pytest.mark.parametrize("values", [[9.0], [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("replaced", [0.0, 5.0, NAN])
def test_imputer_floats_equal_onnxruntime(replaced, values):
    x = table()
    x[1, 1] = NAN
    ml_oracle.assert_same("Imputer", {"imputed_value_floats": values, "replaced_value_float": replaced}, x)


def test_imputer_integers_equal_onnxruntime():
    attributes = {"imputed_value_int64s": [7, 8, 9], "replaced_value_int64": 0}
    ml_oracle.assert_same("Imputer", attributes, table(np.int64))


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_imputer_keeps_types_that_onnxruntime_lacks(dtype):
    op = Imputer(imputed_value_floats=(1.5,), imputed_value_int64s=(4,))
    y = ml_oracle.result(op, table(dtype))
    assert y.dtype == dtype and y[1, 0] == (1.5 if dtype is np.float64 else 4)


def test_imputer_without_values_is_refused():
    with pytest.raises(TypeRuleError, match=r"has no imputed values for int64\[\*\]"):
        Imputer(imputed_value_floats=(1.0,)).infer(Known(TensorType(np.dtype(np.int64))))


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_normalizer_equals_onnxruntime(dtype, norm):
    for x in (table(dtype), table(dtype)[2], table(dtype)[:0]):
        ml_oracle.assert_same("Normalizer", {"norm": norm}, x)


def test_normalizer_no_features():
    assert ml_oracle.result(Normalizer(), np.zeros((3, 0))).shape == (3, 0)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("values", [([0.5], [2.0]), ([0.5, 1.5, -1.0], [2.0, 0.1, 3.0])])
def test_scaler_equals_onnxruntime(values, dtype):
    offset, scale = values
    for x in (table(dtype), table(dtype)[0]):
        ml_oracle.assert_same("Scaler", {"offset": offset, "scale": scale}, x)


def test_scaler_leaves_out_what_is_not_passed():
    np.testing.assert_array_equal(ml_oracle.result(Scaler(scale=(2.0,)), table(np.int64)), table() * 2)
    np.testing.assert_array_equal(ml_oracle.result(Scaler(offset=(2.0,)), table(np.int64)), table() - 2)


def test_scaler_wrong_length_is_refused():
    with pytest.raises(TypeRuleError, match="offset has 2 elements for 3 features"):
        Scaler(offset=(1.0, 2.0)).infer(Known(TensorType(np.dtype(np.float32), (UNKNOWN, 3))))
    with pytest.raises(RunError, match=r"offset has 2 elements for an input of shape \[4, 3\]"):
        Scaler(offset=(1.0, 2.0)).run(table())
