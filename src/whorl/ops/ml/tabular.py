"""What ops over tables share: rows and features, the number types, labels, and the transforms of scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT32, INT64, STRING
from whorl.ir.graph import NodeBuilder, Op, Value
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import require_dtype
from whorl.ops.movement.indexing import Gather

NUMBERS = frozenset((FLOAT32, FLOAT64, INT32, INT64))
"""The element types that most ops of ai.onnx.ml take."""


def numbers(fact: Fact, what: str = "input") -> TensorType:
    """The type of a tensor of numbers, or an error."""
    operand = tensor(fact, what)
    require_dtype(operand.dtype, NUMBERS)
    return operand


def table_dims(operand: TensorType) -> tuple[Dim, Dim]:
    """The rows and features of a table; a tensor of rank 1 is one row."""
    if isinstance(operand.shape, AnyShape):
        return UNKNOWN, UNKNOWN
    if len(operand.shape) not in (1, 2):
        raise TypeRuleError(f"input is {operand}, expected rows of features", fix="reshape it to two axes")
    return (1, operand.shape[0]) if len(operand.shape) == 1 else (operand.shape[0], operand.shape[1])


def table(x: np.ndarray) -> np.ndarray:
    """The tensor as rows of features."""
    if x.ndim not in (1, 2):
        raise RunError(f"input has shape {list(x.shape)}, expected rows of features")
    return x.reshape(1, -1) if x.ndim == 1 else x


def labels_of(strings: Sequence[str], integers: Sequence[int]) -> np.ndarray:
    """The class labels of a classifier, whichever kind it has."""
    if not strings:
        return np.array(integers, np.int64)
    labels = np.empty(len(strings), STRING)
    labels[:] = strings
    return labels


def name_classes(op: Op, strings: Sequence[str], inputs: Sequence[Value | None], build: NodeBuilder) -> Sequence[Value]:
    """The outputs of a classifier of indices, with the strings in their place."""
    indices, scores = build.add_many(op, inputs, ["index", "scores"])
    return [build.add(Gather(), build.constant(labels_of(strings, ())), indices), scores]


def strings_of(texts: Sequence[object], shape: tuple[int, ...]) -> np.ndarray:
    """A string tensor with the given elements."""
    array = np.empty(len(texts), STRING)
    array[:] = texts
    return array.reshape(shape)


def logistic(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), computed without overflow."""
    positive = 1 / (1 + np.exp(-np.abs(x)))
    return np.where(x < 0, 1 - positive, positive)


def probit(x: np.ndarray) -> np.ndarray:
    """The normal quantile, by Winitzki's approximation of erfinv (a = 0.147) as in onnxruntime."""
    y = 2 * x - 1
    log = np.log((1 - y) * (1 + y))
    middle = 2 / (np.pi * 0.147) + log / 2
    inverse = np.sqrt(np.sqrt(middle * middle - log / 0.147) - middle)
    return np.copysign(np.sqrt(2) * inverse, y).astype(x.dtype)


def softmax(x: np.ndarray) -> np.ndarray:
    """exp(x) over the sum of its row."""
    exponential = np.exp(x - x.max(axis=1, keepdims=True))
    return exponential / exponential.sum(axis=1, keepdims=True)


def softmax_zero(x: np.ndarray) -> np.ndarray:
    """Softmax over the scores that are not zero; those within 1e-7 of zero stay (nearly) zero."""
    largest = x.max(axis=1, keepdims=True)
    zero = np.abs(x) <= np.float32(1e-7)
    exponential = np.where(zero, x * np.exp(-largest), np.exp(x - largest))
    return exponential / exponential.sum(axis=1, keepdims=True, where=~zero)


TRANSFORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "NONE": lambda x: x,
    "SOFTMAX": softmax,
    "LOGISTIC": logistic,
    "SOFTMAX_ZERO": softmax_zero,
    "PROBIT": probit,
}


def check_transform(kind: str) -> None:
    """Refuse a post_transform that ONNX does not define."""
    if kind not in TRANSFORMS:
        raise TypeRuleError(f"post_transform {kind!r} is none of {', '.join(TRANSFORMS)}")


def transformed(scores: np.ndarray, kind: str) -> np.ndarray:
    """The post transform of rows of scores. A row of one score knows only PROBIT, as in onnxruntime."""
    if scores.size == 0 or (scores.shape[1] == 1 and kind != "PROBIT"):
        return scores
    return TRANSFORMS[kind](scores)


def both_classes(score: np.ndarray, kind: str, opposite: bool) -> np.ndarray:
    """The scores of two classes from that of the second, in columns.

    Of the transforms only LOGISTIC (of -s and s) and PROBIT count; then `-s, s` if `opposite`, else `1 - s, s`.
    """
    if kind == "LOGISTIC":
        return np.stack([logistic(-score), logistic(score)], axis=1)
    if kind == "PROBIT":
        score = probit(score)
    return np.stack([-score if opposite else 1 - score, score], axis=1)
