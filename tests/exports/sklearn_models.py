"""Estimators of scikit-learn as models: fitted, converted by skl2onnx, and asked for what the model should give."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import skl2onnx
from onnx import ModelProto, helper
from skl2onnx.common import data_types

from exports import sklearn_data as data
from exports.harness import Export, Feeds
from exports.sklearn_case import Case

ROWS = 1, 6, 40
"""scikit-learn refuses 0 rows."""
TYPES = {
    np.dtype(np.float32): data_types.FloatTensorType,
    np.dtype(np.float64): data_types.DoubleTensorType,
    np.dtype(np.int64): data_types.Int64TensorType,
    np.dtype(object): data_types.StringTensorType,
}


def export_of(case: Case) -> Export:
    """The fitted estimator as a model beside the estimator itself."""
    rng = np.random.default_rng(7)
    estimator = case.make()
    training = case.rows(data.TRAINING_ROWS, rng).astype(case.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(training, *([] if case.target is data.nothing else [case.target(training, rng)]))
        model = converted(estimator, training, case)
    cut = any(node.op_type == "Tokenizer" for node in model.graph.node)
    if cut:
        model = without_tokenizer(model)
    name = model.graph.input[0].name

    def draw(rows: int, rng: np.random.Generator) -> Feeds:
        x = case.rows(rows, rng).astype(case.dtype)
        return {name: tokens_of(x) if cut else x}

    def expect(feeds: Feeds) -> list[Any]:
        x = texts_of(feeds[name]) if cut else feeds[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [value for method in case.methods for value in ANSWERS[method](estimator, x)]

    return Export(model, ROWS, draw, expect, case.amplification, rows_lie_anyhow=True)


def converted(estimator: Any, training: np.ndarray, case: Case) -> ModelProto:
    """The model, with rows of any number."""
    shape = [None, *training.shape[1:]] if case.rows is not data.texts else [None]
    types = [("x", TYPES[np.dtype(case.dtype)](shape))]
    options = {id(estimator): case.options} if case.options else {}
    if case.rows is data.texts:
        options |= {id(step): {"tokenexp": r"\S+"} for step in _vectorizers(estimator)}
    return skl2onnx.to_onnx(estimator, initial_types=types, options=options or None, target_opset=case.opset)


def _vectorizers(estimator: Any) -> list[Any]:
    steps = [step for _, step in getattr(estimator, "steps", [("", estimator)])]
    return [step for step in steps if hasattr(step, "token_pattern")]


def without_tokenizer(model: ModelProto) -> ModelProto:
    """The model from the tokens on: what cuts text into tokens is an operator of onnxruntime alone."""
    nodes = list(model.graph.node)
    (cut,) = (k for k, node in enumerate(nodes) if node.op_type == "Tokenizer")
    tokens = nodes[cut].output[0]
    del model.graph.node[: cut + 1], model.graph.input[:]
    model.graph.input.append(helper.make_tensor_value_info(tokens, 8, ["N", 1, "T"]))
    return model


def tokens_of(x: np.ndarray) -> np.ndarray:
    """One row of words for each text, padded with "#" as Tokenizer does."""
    rows = [text.split() for text in x]
    longest = max(map(len, rows))
    return np.array([row + ["#"] * (longest - len(row)) for row in rows], object)[:, None, :]


def texts_of(tokens: np.ndarray) -> np.ndarray:
    return np.array([" ".join(word for word in row[0] if word != "#") for row in tokens], object)


def _predict(estimator: Any, x: np.ndarray) -> list[Any]:
    return [np.asarray(estimator.predict(x))]


def _dense(y: Any) -> np.ndarray:
    return y.toarray() if hasattr(y, "toarray") else np.asarray(y)


def _predict_proba(estimator: Any, x: np.ndarray) -> list[Any]:
    return [estimator.predict_proba(x)]


def _decide(estimator: Any, x: np.ndarray) -> list[Any]:
    return [np.asarray(estimator.decision_function(x))]


def _decide_both(estimator: Any, x: np.ndarray) -> list[Any]:
    y = estimator.decision_function(x)
    return [np.stack([-y, y], axis=1)]


def _map_probabilities(estimator: Any, x: np.ndarray) -> list[Any]:
    return [[dict(zip(estimator.classes_.tolist(), row, strict=True)) for row in estimator.predict_proba(x)]]


def _find_neighbours(estimator: Any, x: np.ndarray) -> list[Any]:
    distances, indices = estimator.kneighbors(x)
    return [indices, distances]


def _mean_and_deviation(estimator: Any, x: np.ndarray) -> list[Any]:
    return list(estimator.predict(x, return_std=True))


def _count_votes(estimator: Any, x: np.ndarray) -> list[Any]:
    labels = np.stack([member.predict(x) for member in estimator.estimators_])
    return [(labels[:, :, None] == np.arange(len(estimator.classes_))).sum(axis=0) / len(labels)]


ANSWERS: dict[str, Callable[[Any, np.ndarray], list[Any]]] = {
    "predict": _predict,
    "predict_proba": _predict_proba,
    "decision_function": _decide,
    "transform": lambda estimator, x: [_dense(estimator.transform(x))],
    "neighbours": _find_neighbours,
    "mean_and_deviation": _mean_and_deviation,
    "columns": lambda estimator, x: list(estimator.predict_proba(x).T),
    "counts": lambda estimator, x: [_dense(estimator.transform(x)).astype(np.float32)],
    "two_scores": _decide_both,
    "zipmap": _map_probabilities,
    "votes": _count_votes,
    "leaf": lambda estimator, x: [estimator.apply(x)],
}
