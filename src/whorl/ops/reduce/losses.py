"""Losses of class scores against class labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import INT32, INT64
from whorl.ir.graph import NodeBuilder, Op, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, Shape, TensorType, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    check_types,
    dims_of,
    require_dtype,
    same_dtype,
    snapshot,
    unify_lengths,
    widen,
)
from whorl.ops.core.writer import Writer, has_elements
from whorl.ops.elementwise.arithmetic import Div, Neg
from whorl.ops.elementwise.comparison import Equal, Less, Where
from whorl.ops.elementwise.logic import Not
from whorl.ops.movement.indexing import Gather, GatherElements
from whorl.ops.movement.shapes import Size
from whorl.ops.native.index_maps import fit
from whorl.ops.reduce.reductions import ReduceSum
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

    def write_loss(
        self, build: NodeBuilder, log_probability: Value, labels: Value, weight: Value | None
    ) -> Value | None:
        """The reduced loss of log-probabilities as simpler nodes; None where there may be no class.

        A label below 0, which would count from the end, becomes one beyond it.
        """
        if not has_elements(log_probability) or not isinstance(tensor(labels).shape, tuple):
            return None
        write, dtype = Writer(build), tensor(log_probability).dtype
        zero, labels = write.number(0, dtype), build.add(FittingLabels(), labels, log_probability, weight)
        number = write.cast(labels, INT64)
        picked = write.node(Where(), write.node(Less(), number, write.number(0, INT64)), _far(write), number)
        used = None
        if self.ignore_index is not None:
            used = write.node(Not(), write.node(Equal(), number, write.number(self.ignore_index, INT64)))
            picked = write.node(Where(), used, picked, write.number(0, INT64))
        chosen = write.squeeze(write.node(GatherElements(1), log_probability, write.unsqueeze(picked, 1)), 1)
        loss, each = write.node(Neg(), chosen), None
        if weight is not None:
            each = write.node(Gather(0), write.cast(weight, dtype), picked)
            loss = write.mul(loss, each)
        if used is not None:
            loss = write.node(Where(), used, loss, zero)
            each = write.node(Where(), used, write.number(1, dtype) if each is None else each, zero)
        if self.reduction == "none":
            return loss
        total = write.node(ReduceSum(keepdims=0), loss)
        if self.reduction == "sum":
            return total
        count = write.cast(write.node(Size(), labels), dtype)
        if each is not None:
            count = write.node(ReduceSum(keepdims=0), each)
        return write.node(Div(), total, count)

    def _reduced(self, loss: np.ndarray, weights: np.ndarray) -> np.ndarray:
        if self.reduction == "none":
            return loss
        total = np.sum(loss)
        return np.asarray(total if self.reduction == "sum" else total / np.sum(weights))


def _far(write: Writer) -> Value:
    return write.number(np.iinfo(np.int64).max, INT64)


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


class FittingLabels(Op, frozen=True):
    """The labels, which fail where they, or weights, have not the lengths of the scores."""

    abstract: ClassVar[bool] = True

    any_length = True

    def infer(self, labels: Fact, scores: Fact, weight: Fact | None = None) -> TensorType:
        classes, shape = _check_shapes(tensor(scores).shape, tensor(labels).shape)
        unify_lengths("the number of classes", classes, *(dims_of(weight, 1, "weight") if weight is not None else ()))
        return tensor(labels).with_shape(shape)

    def run(self, labels: np.ndarray, scores: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        check_types(self, labels, scores, weight)
        return labels

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        labels, scores, weight = inputs[0], inputs[1], inputs.optional(2)
        if not fit(k, labels.shape, (scores.shape[0], *scores.shape[2:])):
            return None
        return None if weight is not None and not fit(k, weight.shape, scores.shape[1:2]) else [labels]


class NegativeLogLikelihoodLoss(ClassLoss, frozen=True):
    """The loss of log-probabilities. Source: ONNX NegativeLogLikelihoodLoss-22."""

    def infer(self, scores: Fact, labels: Fact, weight: Fact | None = None) -> TensorType:
        return self.loss_type(scores, labels, weight)

    def run(self, scores: np.ndarray, labels: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        check_types(self, scores, labels, weight)
        return self.loss(widen(scores), labels, weight).astype(scores.dtype, copy=False)

    def decompose(self, inputs: Sequence[Value | None], build: NodeBuilder) -> list[Value] | None:
        scores, labels, weight = (*inputs, None)[:3]
        assert scores is not None and labels is not None
        write, dtype = Writer(build), tensor(scores).dtype
        loss = self.write_loss(build, write.cast(scores, accumulator(dtype)), labels, weight)
        return None if loss is None else [write.cast(loss, dtype)]


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

    def decompose(self, inputs: Sequence[Value | None], build: NodeBuilder) -> list[Value] | None:
        scores, labels, weight = (*inputs, None)[:3]
        assert scores is not None and labels is not None
        write, dtype = Writer(build), tensor(scores).dtype
        log_probability = write.node(LogSoftmax(1), write.cast(scores, accumulator(dtype)))
        loss = self.write_loss(build, log_probability, labels, weight)
        return None if loss is None else [write.cast(loss, dtype), write.cast(log_probability, dtype)]
