"""Categories, labels and maps against onnxruntime, and by hand where it deviates or has no kernel."""

import ml_oracle
import numpy as np
import pytest

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dtypes import FLOAT32, INT64, STRING
from whorl.ir.types import Known, MapType, TensorType
from whorl.ops.ml.labels import CastMap, DictVectorizer, LabelEncoder, OneHotEncoder, ZipMap

WORDS = ml_oracle.strings("a", "b", "", "é", "a")
CATEGORIES = {"cats_int64s": [10, 20, 30], "cats_strings": ["a", "é", "c"]}
TABLES = {
    "strings": ["a", "é", "c"],
    "int64s": [1, -2, 3],
    "floats": [1.5, -2.0, 3.0],
}
INPUTS = {
    "strings": WORDS,
    "int64s": np.array([[1, 2], [-2, 3]]),
    "floats": np.array([1.5, -0.0, 3.0, float("nan")], np.float32),
}


def map_of(value, key=INT64):
    return Known(MapType(key, TensorType(value, ())))


def test_category_mapper_strings_equal_onnxruntime():
    ml_oracle.assert_same("CategoryMapper", CATEGORIES | {"default_int64": 5}, WORDS)


def test_category_mapper_integers_equal_onnxruntime():
    ml_oracle.assert_same("CategoryMapper", CATEGORIES | {"default_string": "?"}, np.array([[30, 10, 11]]))


@pytest.mark.parametrize("keys", TABLES)
@pytest.mark.parametrize("values", TABLES)
@pytest.mark.parametrize("version", [2, 4])
def test_label_encoder_equals_onnxruntime(version, values, keys):
    attributes = {f"keys_{keys}": TABLES[keys], f"values_{values}": TABLES[values]}
    attributes |= {"default_string": "none", "default_int64": 99, "default_float": 0.25}
    ml_oracle.assert_same("LabelEncoder", attributes, INPUTS[keys], ml=version)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.float32])
def test_label_encoder_tensors_equal_onnxruntime(dtype):
    attributes = {
        "keys_tensor": np.array([1, 2, 3], dtype),
        "values_tensor": np.array([10, 20, 30], dtype),
        "default_tensor": np.array([-5], dtype),
    }
    ml_oracle.assert_same("LabelEncoder", attributes, np.array([3, 7, 1], dtype))


def test_label_encoder_nan_key_matches_every_nan():
    op = LabelEncoder(keys_floats=(float("nan"), 1.0), values_int64s=(7, 8))
    assert ml_oracle.result(op, np.array([np.nan, -np.nan, 1, 2], np.float32)).tolist() == [7, 7, 8, -1]


def test_label_encoder_last_of_equal_keys_counts():
    """ONNX says so since version 4; onnxruntime takes the first."""
    op = LabelEncoder(keys_int64s=(1, 1), values_strings=("old", "new"))
    assert ml_oracle.result(op, np.array([1, 2])).tolist() == ["new", "_Unused"]


def test_label_encoder_scalar_and_empty():
    op = LabelEncoder(keys_int64s=(1,), values_int64s=(5,))
    assert ml_oracle.result(op, np.array(1)).shape == ()
    assert ml_oracle.result(op, np.zeros((0, 2), np.int64)).shape == (0, 2)


def test_label_encoder_wrong_input_is_refused():
    with pytest.raises(TypeRuleError, match=r"input is float32\[\*\], the keys are int64"):
        LabelEncoder(keys_int64s=(1,), values_int64s=(5,)).infer(Known(TensorType(FLOAT32)))


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_one_hot_numbers_equal_onnxruntime(dtype):
    x = np.array([[1, 2.7], [5, 3]]).astype(dtype)
    ml_oracle.assert_same("OneHotEncoder", {"cats_int64s": [3, 1, 2]}, x)


def test_one_hot_strings_equal_onnxruntime():
    ml_oracle.assert_same("OneHotEncoder", {"cats_strings": ["b", "é", "a"]}, WORDS)


def test_one_hot_unknown_category_is_refused():
    with pytest.raises(RunError, match="'z' is not among the categories"):
        OneHotEncoder(cats_strings=("a",), zeros=0).run(ml_oracle.strings("a", "z"))


@pytest.mark.parametrize("labels", [{"classlabels_strings": ["x", "y"]}, {"classlabels_int64s": [4, 2]}])
def test_zip_map_equals_onnxruntime(labels):
    x = np.array([[0.1, 0.9], [0.5, 0.25]], np.float32)
    ours = ml_oracle.result(ml_oracle.make_op("ZipMap", labels), x)
    assert ours == ml_oracle.by_onnxruntime("ZipMap", labels, x)


def test_zip_map_wrong_width_is_refused():
    with pytest.raises(RunError, match="3 columns do not fit 2 labels"):
        ZipMap(classlabels_int64s=(1, 2)).run(np.zeros((1, 3), np.float32))


@pytest.mark.parametrize("form", [{}, {"map_form": "SPARSE", "max_map": 5}])
@pytest.mark.parametrize("cast_to", ["TO_FLOAT", "TO_INT64", "TO_STRING"])
def test_cast_map_equals_onnxruntime(cast_to, form):
    attributes = form | {"cast_to": cast_to}
    x = {3: 2.5, 0: -1.25, 9: 4.0}
    ours = ml_oracle.result(ml_oracle.make_op("CastMap", attributes), x)
    ml_oracle.assert_equal(ours, ml_oracle.by_onnxruntime("CastMap", attributes, x))


def test_cast_map_strings_become_numbers():
    assert CastMap().run({2: "1.5", 1: "2"}).tolist() == [[2, 1.5]]
    with pytest.raises(RunError, match="'x' is not a number"):
        CastMap().run({1: "x"})


def test_dict_vectorizer_equals_onnxruntime():
    attributes = {"string_vocabulary": ["a", "c", "b", "z"]}
    x = {"a": 4.0, "c": 8.0}
    ours = ml_oracle.result(ml_oracle.make_op("DictVectorizer", attributes), x)
    ml_oracle.assert_equal(ours, ml_oracle.by_onnxruntime("DictVectorizer", attributes, x))


def test_dict_vectorizer_values_of_other_types():
    op = DictVectorizer(int64_vocabulary=(1, 2))
    assert op.run({2: "x"}).tolist() == [["", "x"]] and op.run({2: 5}).dtype == np.int64
    assert op.run({2: np.float64(5)}).dtype == np.float64
    assert op.infer(map_of(STRING)) == TensorType(STRING, (1, 2))


def test_dict_vectorizer_wrong_keys_are_refused():
    with pytest.raises(TypeRuleError, match="its keys are not those of the vocabulary"):
        DictVectorizer(string_vocabulary=("a",)).infer(map_of(FLOAT32))
