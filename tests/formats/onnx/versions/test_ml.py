"""ai.onnx.ml between its versions: what is read from an old one, and what is written for it, means the same."""

import ml_oracle
import numpy as np
import onnxruntime
import pytest
from onnx import checker, helper, numpy_helper

from whorl.api.models import load
from whorl.errors import SaveError
from whorl.formats.onnx.saving import to_proto
from whorl.formats.onnx.tensors import type_to
from whorl.ir.graph import as_types
from whorl.ir.types import Known, type_of
from whorl.runtime.session import Session

STRINGS, NUMBERS = ml_oracle.strings("a", "c", "b", "a"), np.array([0, 7, 2, 1])
FLOAT_ROWS = np.array([[0.0, 1.0], [1.0, 0.0], [np.nan, 2.0]], np.float32)


def model(name, version, types, *inputs, domain="ai.onnx.ml", **attributes):
    """One node with inputs of the types of `inputs` and outputs of the given types."""
    passed = [helper.make_value_info(f"x{k}", type_to(type_of(x))) for k, x in enumerate(inputs)]
    expected = [helper.make_value_info(f"y{k}", type_to(t)) for k, t in enumerate(types)]
    message = {k: numpy_helper.from_array(v) if isinstance(v, np.ndarray) else v for k, v in attributes.items()}
    node = helper.make_node(name, [v.name for v in passed], [v.name for v in expected], domain=domain, **message)
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(helper.make_graph([node], "case", passed, expected), opset_imports=imports, ir_version=9)


def typed_model(name, version, *inputs, **attributes):
    """The model of an op whose types the newest version infers."""
    op = ml_oracle.make_op(name, attributes)
    return model(name, version, as_types(op.infer(*(Known(type_of(x)) for x in inputs))), *inputs, **attributes)


def written(module, version):
    """The module as a model of a version of ai.onnx.ml, checked."""
    module.metadata["opsets"] = module.metadata["opsets"] | {"ai.onnx.ml": version}
    proto = to_proto(module)
    checker.check_model(proto)
    assert {entry.domain: entry.version for entry in proto.opset_import}["ai.onnx.ml"] == version
    return proto


def by_onnxruntime(proto, *inputs):
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {f"x{k}": x for k, x in enumerate(inputs)})


def by_whorl(module, *inputs):
    return Session(module).execute(None, {f"x{k}": x for k, x in enumerate(inputs)})


def check_written(proto, version, *inputs):
    """What is written for a version gives in onnxruntime what the original gives in whorl."""
    module = load(proto)
    for ours, theirs in zip(by_whorl(module, *inputs), by_onnxruntime(written(module, version), *inputs), strict=True):
        ml_oracle.assert_equal(ours, theirs)


# ---- LabelEncoder


@pytest.mark.parametrize("x", [STRINGS, NUMBERS], ids=["strings", "numbers"])
def test_label_encoder_1_equals_onnxruntime(x):
    other = type_of(NUMBERS if x is STRINGS else STRINGS)
    attributes = {"classes_strings": ["a", "b", "a"], "default_string": "?", "default_int64": -7}
    proto = model("LabelEncoder", 1, [other], x, **attributes)
    (ours,) = by_whorl(load(proto), x)
    ml_oracle.assert_equal(ours, by_onnxruntime(proto, x)[0])


def test_label_encoder_2_first_of_equal_keys_counts_as_in_onnxruntime():
    attributes = {"keys_strings": ["a", "b", "a"], "values_int64s": [1, 2, 3], "default_int64": 9}
    proto = model("LabelEncoder", 2, [type_of(NUMBERS)], STRINGS, **attributes)
    (ours,) = by_whorl(load(proto), STRINGS)
    assert ours.tolist() == [1, 9, 2, 1] == by_onnxruntime(proto, STRINGS)[0].tolist()


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_label_encoder_tensors_are_written_as_lists(version):
    attributes = {
        "keys_tensor": np.array([0, 1, 2]),
        "values_tensor": np.array([0.5, 1.5, 2.5], np.float32),
        "default_tensor": np.array([-1], np.float32),
    }
    check_written(typed_model("LabelEncoder", 4, NUMBERS, **attributes), version, NUMBERS)


@pytest.mark.parametrize(
    ("x", "attributes"),
    [
        (STRINGS, {"keys_strings": ["a", "b"], "values_int64s": [0, 1], "default_int64": -3}),
        (NUMBERS, {"keys_int64s": [0, 1], "values_strings": ["a", "b"], "default_string": "?"}),
    ],
)
def test_label_encoder_is_written_for_version_1_where_it_counts_from_0(x, attributes):
    check_written(typed_model("LabelEncoder", 4, x, **attributes), 1, x)


def test_label_encoder_that_does_not_count_is_refused_for_version_1():
    proto = typed_model("LabelEncoder", 4, STRINGS, keys_strings=["a"], values_int64s=[5])
    with pytest.raises(SaveError, match=r"does not map strings to 0, 1, 2\.\.\. or back"):
        written(load(proto), 1)


def test_label_encoder_of_doubles_is_refused_before_version_4():
    x = np.array([1.0])
    attributes = {"keys_tensor": x, "values_tensor": x, "default_tensor": x}
    with pytest.raises(SaveError) as caught:
        written(load(typed_model("LabelEncoder", 4, x, **attributes)), 3)
    assert str(caught.value).endswith("has keys or values of type float64\n  fix: ai.onnx.ml 4 or later can say it")


# ---- trees

NODES = {
    "nodes_falsenodeids": [2, 0, 0],
    "nodes_featureids": [1, 0, 0],
    "nodes_modes": ["BRANCH_LT", "LEAF", "LEAF"],
    "nodes_nodeids": [0, 1, 2],
    "nodes_treeids": [0, 0, 0],
    "nodes_truenodeids": [1, 0, 0],
}
REGRESSOR = NODES | {"n_targets": 1, "target_ids": [0, 0], "target_nodeids": [1, 2], "target_treeids": [0, 0]}
CLASSIFIER = NODES | {
    "class_ids": [0, 1],
    "class_nodeids": [1, 2],
    "class_treeids": [0, 0],
    "classlabels_strings": ["no", "yes"],
}


@pytest.mark.parametrize("version", [1, 3])
@pytest.mark.parametrize(
    ("name", "attributes", "weights"),
    [("TreeEnsembleRegressor", REGRESSOR, "target_weights"), ("TreeEnsembleClassifier", CLASSIFIER, "class_weights")],
)
def test_trees_float_tensors_are_written_as_lists_before_version_3(name, attributes, weights, version):
    tensors = {f"{weights}_as_tensor": np.array([1.5, 2.5]), "nodes_values_as_tensor": np.array([0.5, 0, 0])}
    tensors = {k: v.astype(np.float32) for k, v in tensors.items()}
    check_written(typed_model(name, 3, FLOAT_ROWS, **attributes, **tensors), version, FLOAT_ROWS)


def test_trees_of_doubles_are_refused_before_version_3():
    tensors = {"target_weights_as_tensor": np.array([1.5, 2.5]), "nodes_values_as_tensor": np.array([0.5, 0, 0])}
    rows = FLOAT_ROWS.astype(np.float64)
    with pytest.raises(SaveError, match="nodes_values_as_tensor is float64"):
        written(load(typed_model("TreeEnsembleRegressor", 3, rows, **REGRESSOR, **tensors)), 2)


ENSEMBLE = {
    "aggregate_function": 0,
    "leaf_targetids": [0, 1, 1, 0],
    "leaf_weights": np.array([1.5, -2.0, 0.25, 3.0], np.float32),
    "n_targets": 2,
    "nodes_falseleafs": [0, 1, 1],
    "nodes_falsenodeids": [1, 2, 3],
    "nodes_featureids": [0, 1, 1],
    "nodes_missing_value_tracks_true": [1, 0, 0],
    "nodes_modes": np.array([0, 3, 4], np.uint8),
    "nodes_splits": np.array([0.5, 0.5, 2.0], np.float32),
    "nodes_trueleafs": [1, 1, 1],
    "nodes_truenodeids": [0, 1, 2],
    "tree_roots": [0, 2],
}


@pytest.mark.parametrize("version", [1, 3, 5])
def test_ensemble_is_written_as_a_regressor_before_version_5(version):
    check_written(typed_model("TreeEnsemble", 5, FLOAT_ROWS, **ENSEMBLE), version, FLOAT_ROWS)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"nodes_modes": np.array([0, 6, 4], np.uint8)}, "tests membership in sets"),
        (
            {"nodes_falseleafs": [0, 0, 1], "nodes_falsenodeids": [1, 0, 3]},
            "has a tree in which a node has two parents",
        ),
    ],
)
def test_ensemble_that_a_regressor_cannot_say_is_refused(changed, reason):
    attributes = ENSEMBLE | changed | {"membership_values": np.array([1, np.nan], np.float32)}
    with pytest.raises(SaveError, match=reason):
        written(load(typed_model("TreeEnsemble", 5, FLOAT_ROWS, **attributes)), 4)


def test_ensemble_of_doubles_is_refused_before_version_5():
    doubles = {k: v.astype(np.float64) for k, v in ENSEMBLE.items() if k in ("leaf_weights", "nodes_splits")}
    proto = typed_model("TreeEnsemble", 5, FLOAT_ROWS.astype(np.float64), **(ENSEMBLE | doubles))
    with pytest.raises(SaveError, match="computes in another type than float32"):
        written(load(proto), 4)


# ---- attributes that are not given


@pytest.mark.parametrize(
    ("name", "x", "attributes"),
    [
        ("Imputer", FLOAT_ROWS, {"imputed_value_floats": [1.0], "replaced_value_float": 2.0}),
        ("OneHotEncoder", NUMBERS, {"cats_int64s": [0, 1]}),
        ("LinearClassifier", FLOAT_ROWS, {"coefficients": [1.0] * 2, "intercepts": [0.0], "classlabels_ints": [3, 4]}),
        ("LinearRegressor", FLOAT_ROWS, {"coefficients": [1.0, 2.0]}),
        ("Scaler", FLOAT_ROWS, {"offset": [1.0], "scale": [2.0]}),
        ("SVMRegressor", FLOAT_ROWS, {"coefficients": [1.0, 2.0], "rho": [0.5], "kernel_params": [0.0, 0.0, 0.0]}),
    ],
)  # fmt: skip
def test_lists_that_are_empty_are_not_written(name, x, attributes):
    proto = typed_model(name, 1, x, **attributes)
    check_written(proto, 1, x)
    (node,) = to_proto(load(proto)).graph.node
    assert not any(a.type in (6, 7, 8) and not (a.floats or a.ints or a.strings) for a in node.attribute)


def test_ngrams_are_written_with_one_pool():
    attributes = {
        "max_gram_length": 1,
        "max_skip_count": 0,
        "min_gram_length": 1,
        "mode": "TF",
        "ngram_counts": [0],
        "ngram_indexes": [0, 1],
        "pool_strings": ["a", "b"],
    }
    types = as_types(ml_oracle.make_op("TfIdfVectorizer", attributes).infer(Known(type_of(STRINGS))))
    proto = model("TfIdfVectorizer", 1, types, STRINGS, domain="", **attributes)
    module = load(proto)
    ml_oracle.assert_equal(by_whorl(module, STRINGS)[0], by_onnxruntime(to_proto(module), STRINGS)[0])
