"""Forms of ops without native cells: tables of ai.onnx.ml, losses, signals, steps of training.

Their operands have element types of their own, since onnx's schemas of the newest ai.onnx do not know most of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import helper

from fuzz.forms import EXACT, FUNCTION, SUM, Form, Operand, Slack, form, number, o

TABLES = ("N 3", "3")
"""Rows of three features, or one row."""
LARGE = Slack(64, 2048)


def forms() -> Iterator[Form]:
    yield from features()
    yield from labels()
    yield from models()
    yield from losses()
    yield from signals()
    yield from optimizers()
    yield from others()


def of(op: str, *operands: Operand, gives: tuple[str, ...], to: Any, **message: Any) -> Form:
    """A form with one element type for each operand and result."""
    return form(op, *operands, to=to, gives=gives, only=("float32",), **message)


def features() -> Iterator[Form]:
    for dims in (*TABLES, "N M 3"):
        x = o("float32", dims)
        yield of("Scaler", x, gives=("float32",), to=dims, offset=[0.5, 1.0, -2.0], scale=[2.0, 0.5, 3.0])
        yield of("Imputer", x, gives=("float32",), to=dims, imputed_value_floats=[1.0, 2.0, 3.0],
                 replaced_value_float=float("nan"))  # fmt: skip
        yield of("Binarizer", x, gives=("float32",), to=dims, threshold=0.25)
        yield of("ArrayFeatureExtractor", x, o("int64", "2", "below 3"), gives=("float32",), to=dims[:-1] + "2")
    yield of("Scaler", o("float32"), gives=("float32",), to="", offset=[0.5], scale=[2.0])
    yield of("Imputer", o("float32"), gives=("float32",), to="", imputed_value_floats=[1.0])
    yield of("ArrayFeatureExtractor", o("float32", "N 3"), o("int64", "1 2", "below 3"), gives=("float32",), to="N 2")
    for norm in ("MAX", "L1", "L2"):
        for dims in TABLES:
            yield of("Normalizer", o("float32", dims), gives=("float32",), to=dims, norm=norm, kind=SUM, slack=LARGE)
    yield of("FeatureVectorizer", o("float32", "N 3"), o("float32", "N 2"), gives=("float32",), to="N 5",
             inputdimensions=[3, 2])  # fmt: skip
    yield of("FeatureVectorizer", o("float32", "3"), gives=("float32",), to="1 4", inputdimensions=[4])


def labels() -> Iterator[Form]:
    words = {"keys_strings": ["a", "b"], "values_int64s": [3, 4], "default_int64": -1}
    for dims in ("N M", ""):
        yield of("LabelEncoder", o("string", dims), gives=("int64",), to=dims, **words)
        yield of("CategoryMapper", o("string", dims), gives=("int64",), to=dims, cats_strings=["a", "b"],
                 cats_int64s=[1, 2])  # fmt: skip
        yield of("OneHotEncoder", o("string", dims), gives=("float32",), to=f"{dims} 2", cats_strings=["a", "b"])
        yield of("RegexFullMatch", o("string", dims), gives=("bool",), to=dims, pattern="a|tree")
    grams = {"max_gram_length": 2, "min_gram_length": 1, "max_skip_count": 1, "mode": "TF", "ngram_counts": [0, 2],
             "ngram_indexes": [0, 1, 2], "pool_int64s": [1, 2, 1, 2]}  # fmt: skip
    for dims in ("N M", "M"):
        yield of("TfIdfVectorizer", o("int64", dims, "below 4"), gives=("float32",), to=dims[:-1] + "3", **grams)


def models() -> Iterator[Form]:
    lines: dict[str, Any] = {"kind": SUM, "slack": LARGE}
    vectors = {
        "kernel_type": "RBF",
        "kernel_params": [0.5, 0.0, 3.0],
        "support_vectors": [0.0, 1.0, 2.0, 1.0, 0.5, -1.0],
    }
    tree = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [1, 0, 0],
            "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [0.5, 0.0, 0.0],
            "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0]}  # fmt: skip
    for dims in TABLES:
        x, count = o("float32", dims, "tame"), "N" if "N" in dims else "1"
        both = {"gives": ("int64", "float32"), "to": (count, f"{count} 2")}
        yield of("LinearRegressor", x, gives=("float32",), to=f"{count} 2", targets=2,
                 coefficients=[1.0, 2.0, 3.0, -1.0, 0.5, 2.0], intercepts=[0.5, 1.0], **lines)  # fmt: skip
        yield of("LinearClassifier", x, coefficients=[1.0, 2.0, 3.0, -1.0, 0.5, 2.0], intercepts=[0.5, 1.0],
                 classlabels_ints=[0, 1], post_transform="SOFTMAX", **both, **lines)  # fmt: skip
        yield of("SVMRegressor", x, gives=("float32",), to=f"{count} 1", coefficients=[1.0, -1.0], rho=[0.1],
                 n_supports=2, **vectors, **lines)  # fmt: skip
        yield of("SVMClassifier", x, coefficients=[1.0, -1.0], rho=[0.1], vectors_per_class=[1, 1],
                 classlabels_ints=[0, 1], **vectors, **both, **lines)  # fmt: skip
        yield of("TreeEnsembleRegressor", x, gives=("float32",), to=f"{count} 1", n_targets=1, target_treeids=[0, 0],
                 target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1.5, -2.0], **tree)  # fmt: skip
        yield of("TreeEnsembleClassifier", x, class_treeids=[0, 0], class_nodeids=[1, 2], class_ids=[0, 1],
                 class_weights=[1.0, 1.0], classlabels_int64s=[4, 7], **tree, **both)  # fmt: skip
        yield of("TreeEnsemble", x, gives=("float32",), to=f"{count} 1", by=_ensemble)


def _ensemble(_: str) -> dict[str, Any]:
    """One node and two leaves."""
    return {
        "n_targets": 1,
        "tree_roots": [0],
        "nodes_featureids": [1],
        "nodes_modes": helper.make_tensor("modes", 2, (1,), np.array([0], np.uint8)),
        "nodes_splits": helper.make_tensor("splits", 1, (1,), [0.5]),
        "nodes_truenodeids": [0],
        "nodes_trueleafs": [1],
        "nodes_falsenodeids": [1],
        "nodes_falseleafs": [1],
        "leaf_targetids": [0, 0],
        "leaf_weights": helper.make_tensor("weights", 1, (2,), [1.5, -2.0]),
    }


def losses() -> Iterator[Form]:
    message: dict[str, Any] = {"kind": SUM, "slack": LARGE}
    for reduction in ("none", "sum", "mean"):
        for scores, label in (("N 3", "N"), ("N 3 P", "N P")):
            result = label if reduction == "none" else ""
            pair = (o("float32", scores, "finite"), o("int64", label, "below 3"))
            weighted = (*pair, o("float32", "3", "positive"))
            own = {"reduction": reduction, **message}
            yield of("NegativeLogLikelihoodLoss", *pair, gives=("float32",), to=result, **own)
            yield of("NegativeLogLikelihoodLoss", *weighted, gives=("float32",), to=result, ignore_index=1, **own)
            yield of("SoftmaxCrossEntropyLoss", *pair, gives=("float32", "float32"), to=(result, scores), **own)
            yield of("SoftmaxCrossEntropyLoss", *weighted, gives=("float32",), to=result, ignore_index=2, **own)
    half = (o("float16", "N 3", "finite"), o("int64", "N", "below 3"))
    yield of("NegativeLogLikelihoodLoss", *half, gives=("float16",), to="", **message)


def signals() -> Iterator[Form]:
    message: dict[str, Any] = {"kind": SUM, "slack": LARGE}
    yield of("DFT", o("float32", "N P 1", "finite"), gives=("float32",), to="N P 2", **message)
    yield of("DFT", o("float32", "N P 2", "finite"), number(6), number(1), gives=("float32",), to="N 6 2", **message)
    yield of("DFT", o("float32", "P N 1", "finite"), number(5), number(0), gives=("float32",), to="3 N 2", onesided=1,
             **message)  # fmt: skip
    yield of("STFT", o("float32", "N 9 1", "finite"), number(2), o("float32", "4", "finite"), gives=("float32",),
             to="N 3 3 2", **message)  # fmt: skip
    yield of("Det", o("float32", "N 3 3", "finite"), gives=("float32",), to="N", **message)
    yield of("Det", o("float32", "2 2", "finite"), gives=("float32",), to="", **message)


def optimizers() -> Iterator[Form]:
    rate, count = number(0.1, "float32"), number(3)
    pair = [o("float32", "N M", "tame")] * 2
    state = o("float32", "N M", "positive")
    message: dict[str, Any] = {"kind": FUNCTION, "slack": Slack(8, 8)}
    yield of("Adagrad", rate, count, *pair, state, gives=("float32",) * 2, to=("N M",) * 2, decay_factor=0.1, **message)
    yield of("Adam", rate, count, *pair, state, state, gives=("float32",) * 3, to=("N M",) * 3, **message)
    yield of("Momentum", rate, count, *pair, state, gives=("float32",) * 2, to=("N M",) * 2, alpha=0.9, beta=1.0,
             mode="nesterov", norm_coefficient=0.01, **message)  # fmt: skip


def others() -> Iterator[Form]:
    message: dict[str, Any] = {"kind": SUM, "slack": LARGE}
    yield of("CausalConvWithState", o("float32", "N 3 P", "finite"), o("float32", "3 1 4", "finite"),
             o("float32", "3", "finite"), o("float32", "N 3 3", "finite"), gives=("float32", "float32"),
             to=("N 3 P", "N 3 3"), **message)  # fmt: skip
    three = [o("float32", "N P 4", "finite")] * 3
    yield of("LinearAttention", *three, o("float32", "N 2 2 2", "finite"), gives=("float32", "float32"),
             to=("N P 4", "N 2 2 2"), q_num_heads=2, kv_num_heads=2, update_rule="linear", **message)  # fmt: skip
    yield of("MaxRoiPool", o("float32", "1 2 H W"), o("float32", "1 5", "no"), gives=("float32",), to="1 2 2 2",
             pooled_shape=[2, 2], kind=EXACT)  # fmt: skip
