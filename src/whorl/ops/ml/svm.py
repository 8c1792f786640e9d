"""Support vector machines: kernels between rows and support vectors, votes and probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import ClassVar

import numpy as np
from msgspec.structs import replace

from whorl.errors import RunError, TypeRuleError
from whorl.ir.cached_property import cached_property
from whorl.ir.dtypes import FLOAT32, INT64, STRING
from whorl.ir.graph import NodeBuilder, Op, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType
from whorl.ops.ml.native_linear import (
    add_row,
    both_columns,
    choose_largest,
    float_rows,
    multiply_fixed,
    transform_view,
)
from whorl.ops.ml.native_svm import Pairs, kernel_view, sign_view, weigh_columns
from whorl.ops.ml.tabular import (
    both_classes,
    check_transform,
    labels_of,
    logistic,
    name_classes,
    numbers,
    table,
    table_dims,
    transformed,
)

KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")


def _rows(x: np.ndarray, features: int) -> np.ndarray:
    rows = table(x).astype(np.float32, copy=False)
    if rows.shape[1] != features:
        raise RunError(f"input has {rows.shape[1]} features, the model {features}")
    return rows


def kernel(x: np.ndarray, vectors: np.ndarray, kind: str, parameters: tuple[float, ...]) -> np.ndarray:
    """k(row of x, support vector) in float32, [N, V].

    With (gamma, coef0, degree): RBF exp(-gamma |x - v|^2), POLY (gamma x.v + coef0)^degree, SIGMOID
    tanh(gamma x.v + coef0), LINEAR x.v.
    """
    gamma, coef0, degree = (np.float32(p) for p in (parameters or (0.0, 0.0, 0.0))[:3])
    if kind == "RBF":
        return np.exp(-gamma * _squared_distances(x, vectors))
    products = x @ vectors.T
    if kind == "LINEAR":
        return products
    inner = gamma * products + coef0
    return np.tanh(inner) if kind == "SIGMOID" else inner**degree


def _squared_distances(x: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """|x - v|^2 for every pair, in blocks of rows; the differences are squared, which loses nothing near zero."""
    result = np.empty((len(x), len(vectors)), x.dtype)
    block = max(1, (1 << 22) // max(1, vectors.size))
    for start in range(0, len(x), block):
        gaps = x[start : start + block, None, :] - vectors
        result[start : start + block] = np.einsum("nvf,nvf->nv", gaps, gaps)
    return result


def _check_kernel(kind: str, parameters: tuple[float, ...]) -> None:
    if kind not in KERNELS:
        raise TypeRuleError(f"kernel_type {kind!r} is none of {', '.join(KERNELS)}")
    if len(parameters) not in (0, 3):
        raise TypeRuleError(f"kernel_params has {len(parameters)} elements, expected gamma, coef0 and degree")


class SVMRegressor(Op, frozen=True):
    """kernel(x, support_vectors) @ coefficients + rho, float32 [N, 1]; its sign (+1, -1) if `one_class`.

    Without support vectors the model is x @ coefficients + rho. onnxruntime ignores post_transform, and so does this.
    Source: ONNX-ML SVMRegressor-1.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    coefficients: tuple[float, ...] = ()
    kernel_params: tuple[float, ...] = ()
    kernel_type: str = "LINEAR"
    n_supports: int = 0
    one_class: int = 0
    post_transform: str = "NONE"
    rho: tuple[float, ...] = ()
    support_vectors: tuple[float, ...] = ()

    def infer(self, x: Fact) -> TensorType:
        check_transform(self.post_transform)
        _check_kernel(self.kernel_type, self.kernel_params)
        if not self.coefficients or not self.rho:
            raise TypeRuleError("has no coefficients or no rho")
        if self.n_supports > 0 and len(self.coefficients) != self.n_supports:
            raise TypeRuleError(f"has {len(self.coefficients)} coefficients for {self.n_supports} support vectors")
        rows, _ = table_dims(numbers(x))
        return TensorType(FLOAT32, (rows, 1))

    def run(self, x: np.ndarray) -> np.ndarray:
        coefficients = np.array(self.coefficients, np.float32).reshape(-1, 1)
        if self.n_supports > 0:
            vectors = np.array(self.support_vectors, np.float32).reshape(self.n_supports, -1)
            rows = kernel(_rows(x, vectors.shape[1]), vectors, self.kernel_type, self.kernel_params)
        else:
            rows = _rows(x, len(coefficients))
        score = rows @ coefficients + np.float32(self.rho[0])
        return np.where(score > 0, np.float32(1), np.float32(-1)) if self.one_class else score

    any_length = heavy = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        coefficients, supports = np.array(self.coefficients, np.float32).reshape(-1, 1), self.n_supports
        if supports > 0 and len(self.support_vectors) % supports:
            return None
        vectors = np.array(self.support_vectors, np.float32).reshape(max(supports, 0), -1) if supports > 0 else None
        rows = float_rows(k, inputs[0], len(coefficients) if vectors is None else vectors.shape[1])
        if rows is None:
            return None
        if vectors is not None:
            rows = kernel_view(k, rows, vectors, self.kernel_type, self.kernel_params)
        score = add_row(k, weigh_columns(k, rows, coefficients[:, 0]), self.rho[:1])
        return [sign_view(k, score) if self.one_class else score]


class SVMClassifier(Op, frozen=True, dict=True):
    """One-against-one support vector classification, or a linear model where there are no support vectors.

    Outputs: labels [N], float32 scores [N, S]. Each pair of classes (i, j) has the score
    sum(coefficient * kernel) + rho and votes for i if it is positive; the label is the class with most votes. S is
    the number of classes with probabilities (prob_a, prob_b) or without support vectors, else of pairs, but 2 for one.
    Source: ONNX-ML SVMClassifier-1, onnxruntime for the two-class cases.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    classlabels_ints: tuple[int, ...] = ()
    classlabels_strings: tuple[str, ...] = ()
    coefficients: tuple[float, ...] = ()
    kernel_params: tuple[float, ...] = ()
    kernel_type: str = "LINEAR"
    post_transform: str = "NONE"
    prob_a: tuple[float, ...] = ()
    prob_b: tuple[float, ...] = ()
    rho: tuple[float, ...] = ()
    support_vectors: tuple[float, ...] = ()
    vectors_per_class: tuple[int, ...] = ()

    @property
    def class_count(self) -> int:
        return len(self.classlabels_strings or self.classlabels_ints)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of classes in the order of `rho`."""
        return list(combinations(range(self.class_count), 2))

    @property
    def vector_count(self) -> int:
        return sum(self.vectors_per_class)

    def infer(self, x: Fact) -> tuple[TensorType, TensorType]:
        check_transform(self.post_transform)
        _check_kernel(self.kernel_type, self.kernel_params)
        self._check_sizes()
        rows, _ = table_dims(numbers(x))
        label = TensorType(STRING if self.classlabels_strings else INT64, (rows,))
        return label, TensorType(FLOAT32, (rows, self._score_count()))

    def _score_count(self) -> int:
        if not self.vector_count or self.prob_a or self.class_count <= 2:
            return self.class_count
        return len(self.pairs)

    def _check_sizes(self) -> None:
        if not self.class_count or not self.coefficients or not self.rho:
            raise TypeRuleError("has no class labels, no coefficients or no rho")
        if not self.vector_count:
            return
        if self.class_count < 2:
            raise TypeRuleError("has one class label, support vectors tell apart two or more")
        need = {
            "vectors_per_class": (len(self.vectors_per_class), self.class_count),
            "coefficients": (len(self.coefficients), (self.class_count - 1) * self.vector_count),
            "rho": (len(self.rho), len(self.pairs)),
            "prob_a": (len(self.prob_a), len(self.pairs) if self.prob_a else 0),
            "prob_b": (len(self.prob_b), len(self.prob_a)),
        }
        for what, (actual, expected) in need.items():
            if actual != expected:
                raise TypeRuleError(f"{what} has {actual} elements, expected {expected}")

    def run(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._run_vectors(x) if self.vector_count else self._run_linear(x)

    def _run_vectors(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scores, votes = self._pair_scores(x)
        winner = votes.argmax(axis=1)
        labels = self._labels[winner]
        if self.prob_a:
            return labels, transformed(self._probabilities(scores), self.post_transform)
        if self.class_count > 2:
            return labels, transformed(scores, self.post_transform)
        return labels, both_classes(scores[:, 0], self.post_transform, opposite=self.post_transform == "NONE")

    @cached_property
    def _labels(self) -> np.ndarray:
        return labels_of(self.classlabels_strings, self.classlabels_ints)

    def _pair_scores(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The score of every pair (float32 products, summed in float64) and the votes for every class."""
        vectors = np.array(self.support_vectors, np.float32).reshape(self.vector_count, -1)
        kernels = kernel(_rows(x, vectors.shape[1]), vectors, self.kernel_type, self.kernel_params)
        weights = np.array(self.coefficients, np.float32).reshape(-1, self.vector_count)
        bounds = np.cumsum([0, *self.vectors_per_class])
        of_class = [slice(start, end) for start, end in pairwise(bounds)]
        scores = np.empty((len(kernels), len(self.pairs)))
        votes = np.zeros((len(kernels), self.class_count), np.int64)
        for k, (i, j) in enumerate(self.pairs):
            first = (kernels[:, of_class[i]] * weights[j - 1, of_class[i]]).sum(axis=1, dtype=np.float64)
            second = (kernels[:, of_class[j]] * weights[i, of_class[j]]).sum(axis=1, dtype=np.float64)
            scores[:, k] = first + second + self.rho[k]
            wins = scores[:, k] > 0
            votes[:, i] += wins
            votes[:, j] += ~wins
        return scores.astype(np.float32), votes

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        pairwise_wins = np.zeros((len(scores), self.class_count, self.class_count), np.float32)
        a, b = np.array(self.prob_a, np.float32), np.array(self.prob_b, np.float32)
        tiny = np.float32(1e-7)
        wins = np.clip(1 - logistic(scores * a + b), tiny, 1 - tiny)
        for k, (i, j) in enumerate(self.pairs):
            pairwise_wins[:, i, j] = wins[:, k]
            pairwise_wins[:, j, i] = 1 - wins[:, k]
        return coupled_probabilities(pairwise_wins)

    def _run_linear(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weights = np.array(self.coefficients, np.float32).reshape(self.class_count, -1)
        scores = _rows(x, weights.shape[1]) @ weights.T + np.float32(self.rho[0])
        winner = scores.argmax(axis=1)
        if self.class_count == 2 and not self.prob_a:
            best = scores.max(axis=1)
            all_positive = min(self.coefficients) >= 0
            winner = np.where(best >= 0.5 if all_positive else best > 0, 1, winner)
        return self._labels[winner], transformed(scores, self.post_transform)

    any_length = heavy = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        count, numbers = self.vector_count or self.class_count, self.support_vectors
        numbers = numbers if self.vector_count else self.coefficients
        matrix = np.array(numbers, np.float32).reshape(count, -1) if len(numbers) % count == 0 else None
        rows = None if matrix is None else float_rows(k, inputs[0], matrix.shape[1])
        if rows is None or matrix is None:
            return None
        return (self._lower_vectors if self.vector_count else self._lower_linear)(k, rows, matrix)

    def _lower_vectors(self, k: NativeBuilder, rows: View, vectors: np.ndarray) -> list[View]:
        weights = np.array(self.coefficients, np.float32).reshape(-1, self.vector_count)
        bounds = np.cumsum([0, *self.vectors_per_class])
        pairs = Pairs(np.array(self.pairs), weights, bounds, np.array(self.rho, np.float64))
        scores, votes = pairs.scores(k, kernel_view(k, rows, vectors, self.kernel_type, self.kernel_params))
        length = rows.shape[0]
        label = choose_largest(k, k.view_of(votes, (length, self.class_count)), self._labels)
        if self.prob_a:
            slopes, offsets = (np.array(row, np.float32) for row in (self.prob_a, self.prob_b))
            result = pairs.probabilities(k, scores, length, slopes, offsets)
            return [label, transform_view(k, k.view_of(result, (length, self.class_count)), self.post_transform)]
        view = k.view_of(scores, (length, len(self.pairs)))
        if self.class_count > 2:
            return [label, transform_view(k, view, self.post_transform)]
        return [label, both_columns(k, view, self.post_transform, self.post_transform == "NONE")]

    def _lower_linear(self, k: NativeBuilder, rows: View, weights: np.ndarray) -> list[View]:
        scores = k.materialise(add_row(k, multiply_fixed(k, rows, weights.T), self.rho[:1] * self.class_count))
        best: float | None = None
        if self.class_count == 2 and not self.prob_a:
            best = 0.5 if min(self.coefficients) >= 0 else 0.0
        label = choose_largest(k, scores, self._labels, best, best == 0.5)
        return [label, transform_view(k, scores, self.post_transform)]

    def separate_strings(self, inputs: Sequence[Value | None], build: NodeBuilder) -> Sequence[Value] | None:
        numbers = replace(self, classlabels_strings=(), classlabels_ints=tuple(range(self.class_count)))
        return name_classes(numbers, self.classlabels_strings, inputs, build) if self.classlabels_strings else None


def coupled_probabilities(r: np.ndarray) -> np.ndarray:
    """Class probabilities from pairwise ones: r[n, i, j] is the probability of i against j. float32 [N, K].

    At most 100 sweeps of the iteration of Wu, Lin and Weng (2004, second method), until every component of the
    gradient is within 0.005 / K, row by row.
    """
    rows, count = r.shape[0], r.shape[1]
    q = -r.transpose(0, 2, 1) * r
    diagonal = np.arange(count)
    q[:, diagonal, diagonal] = (r * r).sum(axis=1)
    p = np.full((rows, count), np.float32(1) / np.float32(count), np.float32)
    limit = np.float32(0.005) / np.float32(count)
    active = np.arange(rows)
    for _ in range(100):
        qp = _sum_in_order(q[active] * p[active][:, None, :])
        pqp = _sum_in_order(p[active] * qp)
        open_rows = np.abs(qp - pqp[:, None]).max(axis=1, initial=0) >= limit
        active, qp, pqp = active[open_rows], qp[open_rows], pqp[open_rows]
        if not active.size:
            break
        p[active] = _sweep(q[active], p[active], qp, pqp)
    return p


def _sum_in_order(terms: np.ndarray) -> np.ndarray:
    """The sum along the last axis from the first element to the last, as onnxruntime adds."""
    total = np.zeros(terms.shape[:-1], terms.dtype)
    for n in range(terms.shape[-1]):
        total = total + terms[..., n]
    return total


def _sweep(q: np.ndarray, p: np.ndarray, qp: np.ndarray, pqp: np.ndarray) -> np.ndarray:
    """One pass over the classes: each probability moves to its best value, then all are scaled to sum to 1."""
    for i in range(q.shape[1]):
        step = (pqp - qp[:, i]) / q[:, i, i]
        p[:, i] += step
        pqp = (pqp + step * (step * q[:, i, i] + 2 * qp[:, i])) / (1 + step) / (1 + step)
        qp = (qp + step[:, None] * q[:, i]) / (1 + step[:, None])
        p /= 1 + step[:, None]
    return p
