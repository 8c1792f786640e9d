"""Linear models: one dot product per row and class or target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from msgspec.structs import replace

from whorl.errors import RunError
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT32, INT64, STRING
from whorl.ir.graph import NodeBuilder, Op, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType
from whorl.ops.ml.native_linear import (
    add_row,
    both_columns,
    choose_by_sign,
    choose_largest,
    float_rows,
    multiply_fixed,
    table_view,
    transform_view,
)
from whorl.ops.ml.tabular import (
    both_classes,
    check_transform,
    labels_of,
    name_classes,
    numbers,
    strings_of,
    table,
    table_dims,
    transformed,
)


def _products(x: np.ndarray, coefficients: tuple[float, ...], targets: int) -> np.ndarray:
    """x @ coefficients.T in float32; the coefficients hold one row a target."""
    rows = table(x).astype(np.float32, copy=False)
    if targets * rows.shape[1] != len(coefficients):
        raise RunError(f"{len(coefficients)} coefficients do not fit {targets} targets of {rows.shape[1]} features")
    return rows @ np.array(coefficients, np.float32).reshape(targets, -1).T


def _native_products(k: NativeBuilder, x: View, coefficients: tuple[float, ...], targets: int) -> View | None:
    """x @ coefficients.T; None where they surely do not fit."""
    if targets < 1 or not coefficients or len(coefficients) % targets:
        return None
    matrix = np.array(coefficients, np.float32).reshape(targets, -1).T
    rows = float_rows(k, x, len(matrix))
    return None if rows is None else multiply_fixed(k, rows, matrix)


class LinearRegressor(Op, frozen=True):
    """post_transform(x @ coefficients.T + intercepts), float32 `[N, targets]`. Source: ONNX-ML LinearRegressor-1.

    Shapes: x is [N, F] or [F]. Intercepts that are not one a target are left out.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    coefficients: tuple[float, ...] = ()
    intercepts: tuple[float, ...] = ()
    post_transform: str = "NONE"
    targets: int = 1

    def infer(self, x: Fact) -> TensorType:
        check_transform(self.post_transform)
        rows, _ = table_dims(numbers(x))
        return TensorType(FLOAT32, (rows, self.targets))

    def run(self, x: np.ndarray) -> np.ndarray:
        scores = _products(x, self.coefficients, self.targets)
        if len(self.intercepts) == self.targets:
            scores = scores + np.array(self.intercepts, np.float32)
        return transformed(scores, self.post_transform)

    any_length = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        scores = _native_products(k, inputs[0], self.coefficients, self.targets)
        if scores is None:
            return None
        if len(self.intercepts) == self.targets:
            scores = add_row(k, scores, self.intercepts)
        return [transform_view(k, scores, self.post_transform)]


class LinearClassifier(Op, frozen=True):
    """The class with the largest of x @ coefficients.T + intercepts, and post_transform of these scores.

    Outputs: labels [N], scores float32 [N, E]. One row of coefficients decides between two classes by its sign; with
    two labels its scores are `1 - s, s`. Source: ONNX-ML LinearClassifier-1; the case of one row: onnxruntime.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    coefficients: tuple[float, ...]
    classlabels_ints: tuple[int, ...] = ()
    classlabels_strings: tuple[str, ...] = ()
    intercepts: tuple[float, ...] = ()
    multi_class: int = 0
    post_transform: str = "NONE"

    def infer(self, x: Fact) -> tuple[TensorType, TensorType]:
        check_transform(self.post_transform)
        rows, features = table_dims(numbers(x))
        label = TensorType(STRING if self.classlabels_strings else INT64, (rows,))
        return label, TensorType(FLOAT32, (rows, self._score_count(features)))

    def _score_count(self, features: Dim) -> Dim:
        if not self.intercepts and not (isinstance(features, int) and features):
            return UNKNOWN
        count = self._rows(features if isinstance(features, int) else 1)
        return 2 if count == 1 and self._has_two_labels() else count

    def _rows(self, features: int) -> int:
        return len(self.intercepts) or len(self.coefficients) // max(1, features)

    def _has_two_labels(self) -> bool:
        return len(self.classlabels_strings or self.classlabels_ints) == 2

    def run(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = self._rows(table(x).shape[1])
        scores = _products(x, self.coefficients, count)
        if self.intercepts:
            scores = scores + np.array(self.intercepts, np.float32)
        labels = labels_of(self.classlabels_strings, self.classlabels_ints)
        if count > 1:
            if len(labels) < count:
                raise RunError(f"{len(labels)} labels do not name {count} classes")
            return labels[scores.argmax(axis=1)], transformed(scores, self.post_transform)
        positive = (scores[:, 0] > 0).astype(np.int64)
        if self._has_two_labels():
            return labels[positive], both_classes(scores[:, 0], self.post_transform, opposite=False)
        signs = strings_of(["0", "1"], (2,)) if self.classlabels_strings else np.array([0, 1])
        return signs[positive], transformed(scores, self.post_transform)

    any_length = heavy = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        features = table_view(k, inputs[0]).shape[1]
        if not self.intercepts and not isinstance(features, int):
            return None
        count = self._rows(features if isinstance(features, int) else 1)
        labels = labels_of((), self.classlabels_ints)
        scores = _native_products(k, inputs[0], self.coefficients, count)
        if scores is None or (count > 1 and len(labels) < count):
            return None
        if self.intercepts:
            scores = add_row(k, scores, self.intercepts)
        scores = k.materialise(scores)
        if count > 1:
            return [choose_largest(k, scores, labels), transform_view(k, scores, self.post_transform)]
        if self._has_two_labels():
            return [choose_by_sign(k, scores, labels), both_columns(k, scores, self.post_transform, False)]
        return [choose_by_sign(k, scores, np.arange(2)), transform_view(k, scores, self.post_transform)]

    def separate_strings(self, inputs: Sequence[Value | None], build: NodeBuilder) -> Sequence[Value] | None:
        names = self.classlabels_strings
        if not names or not (self.intercepts or len(names) == 2):
            return None
        numbers = replace(self, classlabels_strings=(), classlabels_ints=tuple(range(len(names))))
        is_sign = len(self.intercepts) == 1 and len(names) != 2
        return name_classes(numbers, ("0", "1") if is_sign else names, inputs, build)
