"""An estimator of scikit-learn with what it learns from, and what is asked of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import gaussian_process, linear_model, tree

from exports import sklearn_data as data

Target = Callable[[np.ndarray, np.random.Generator], Any]


@dataclass(frozen=True)
class Case:
    """An estimator, the kind of rows it is for, and what it learns to tell of them.

    `methods` are what the outputs of the model are, in order; `options` go to skl2onnx.
    """

    make: Callable[[], Any]
    target: Target = data.nothing
    rows: data.Draw = data.normal
    methods: tuple[str, ...] = ("predict",)
    dtype: Any = np.float32
    options: dict[str, Any] = field(default_factory=dict)
    opset: Any = field(default_factory=lambda: {"": 21, "ai.onnx.ml": 3})
    amplification: float = 1.0


BOTH = ("predict", "predict_proba")
ZIPMAP = ("predict", "zipmap")
SCORES = ("predict", "decision_function")
TRANSFORM = ("transform",)
ARRAYS = {"zipmap": False}
RAW = {"zipmap": False, "raw_scores": True}
SEED = {"random_state": 0}


def classifier(make: Callable[[], Any], target: Target = data.three_classes, **more: Any) -> Case:
    return Case(make, target, **{"methods": BOTH, "options": ARRAYS} | more)


def scorer(make: Callable[[], Any], target: Target = data.three_classes, **more: Any) -> Case:
    return Case(make, target, methods=SCORES, **{"options": RAW} | more)


def regressor(make: Callable[[], Any], target: Target = data.target, **more: Any) -> Case:
    return Case(make, target, **more)


def transformer(make: Callable[[], Any], rows: data.Draw = data.normal, **more: Any) -> Case:
    return Case(make, rows=rows, **{"methods": TRANSFORM} | more)


def shallow_tree() -> Any:
    return tree.DecisionTreeClassifier(max_depth=3, **SEED)


def logistic() -> Any:
    return linear_model.LogisticRegression()


def gaussian_regressor(kernel: Any, alpha: float = 1.0) -> Case:
    """In double precision, which the inverse of the covariance needs."""
    make = gaussian_process.GaussianProcessRegressor
    return regressor(lambda: make(kernel, alpha=alpha, optimizer=None), dtype=np.float64, amplification=100)
