"""Losses of class scores against class labels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import INT32, INT64
from whorl.ir.graph import Op
from whorl.ir.types import AnyShape, Fact, Shape, TensorType, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    check_types,
    dims_of,
    require_dtype,
    same_dtype,
    snapshot,
    unify_lengths,
    widen,
)
from whorl.ops.reduce.softmax import LogSoftmax

_REDUCTIONS = ("none", "sum", "mean")


class ClassLoss(Op, frozen=True):
    """-log_probability[n, label[n, ...], ...] * weight[label], 0 where the label is `ignore_index`.

    Shapes: scores [N, C, ...], labels [N, ...], weight [C]. `reduction` "none" gives the loss of each label, "sum"
    their sum, "mean" that sum over the sum of the weights used (1 each without `weight`); NaN where that is 0.
    """

    abstract: ClassVar[bool] = True

    ignore_index: int | None = None
    reduction: str = "mean"

    def loss_type(self, scores: Fact, labels: Fact, weight: Fact | None) -> TensorType:
        """The type of the reduced loss, after every check."""
        dtype = same_dtype(scores, weight)
        require_dtype(dtype, COMPUTED_FLOATS)
        require_dtype(tensor(labels, "the label").dtype, frozenset((INT32, INT64)))
        if self.reduction not in _REDUCTIONS:
            raise TypeRuleError(f"reduction is {self.reduction!r}", fix='choose "none", "sum" or "mean"')
        classes, shape = _check_shapes(tensor(scores).shape, tensor(labels).shape)
        unify_lengths("the number of classes", classes, *(dims_of(weight, 1, "weight") if weight is not None else ()))
        return TensorType(dtype, shape if self.reduction == "none" else ())

    def loss(self, log_probability: np.ndarray, labels: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """The reduced loss of log-probabilities, in their own type."""
        labels = snapshot(labels)
        used = np.ones(labels.shape, bool) if self.ignore_index is None else labels != self.ignore_index
        classes = log_probability.shape[1]
        wrong = used & ((labels < 0) | (labels >= classes))
        if wrong.any():
            raise RunError(f"label {labels[wrong][0]} is outside [0, {classes})")
        picked = np.where(used, labels, 0)
        zero = log_probability.dtype.type(0)
        if not classes:
            return self._reduced(np.full(labels.shape, zero), np.full(labels.shape, zero))
        chosen = np.take_along_axis(log_probability, np.expand_dims(picked, 1), 1).squeeze(1)
        each = np.ones_like(chosen) if weight is None else weight.astype(chosen.dtype)[picked]
        return self._reduced(np.where(used, -chosen * each, zero), np.where(used, each, zero))

    def _reduced(self, loss: np.ndarray, weights: np.ndarray) -> np.ndarray:
        if self.reduction == "none":
            return loss
        total = np.sum(loss)
        return np.asarray(total if self.reduction == "sum" else total / np.sum(weights))


def _check_shapes(scores: Shape, labels: Shape) -> tuple[Dim, Shape]:
    """The number of classes, and the labels' shape as both inputs tell it."""
    if isinstance(scores, AnyShape):
        return UNKNOWN, labels
    if len(scores) < 2:
        raise TypeRuleError(f"scores have shape {list(scores)}, expected rank 2 or more: [N, C, ...]")
    expected = (scores[0], *scores[2:])
    if isinstance(labels, AnyShape):
        return scores[1], expected
    if len(labels) != len(expected):
        raise TypeRuleError(f"labels have shape {list(labels)}, expected {list(expected)} for scores {list(scores)}")
    what = f"an axis of labels {list(labels)} and scores {list(scores)}"
    return scores[1], tuple(unify_lengths(what, a, b) for a, b in zip(labels, expected, strict=True))


class NegativeLogLikelihoodLoss(ClassLoss, frozen=True):
    """The loss of log-probabilities. Source: ONNX NegativeLogLikelihoodLoss-22."""

    def infer(self, scores: Fact, labels: Fact, weight: Fact | None = None) -> TensorType:
        return self.loss_type(scores, labels, weight)

    def run(self, scores: np.ndarray, labels: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        check_types(self, scores, labels, weight)
        return self.loss(widen(scores), labels, weight).astype(scores.dtype, copy=False)


class SoftmaxCrossEntropyLoss(ClassLoss, frozen=True):
    """The loss of log-softmax(scores) along axis 1, which is output 1. Source: ONNX SoftmaxCrossEntropyLoss-13."""

    def infer(self, scores: Fact, labels: Fact, weight: Fact | None = None) -> tuple[TensorType, TensorType]:
        return self.loss_type(scores, labels, weight), tensor(scores)

    def run(
        self, scores: np.ndarray, labels: np.ndarray, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        check_types(self, scores, labels, weight)
        log_probability = LogSoftmax(1).distribute(widen(scores), 1)
        loss = self.loss(log_probability, labels, weight)
        return loss.astype(scores.dtype, copy=False), log_probability.astype(scores.dtype, copy=False)
