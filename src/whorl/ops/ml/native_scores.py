"""Native form of what follows from scores: post transforms of rows, and the class that they choose."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np
from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, FLOAT64, INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import Index, View
from whorl.ir.types import TensorType

_FEW = 8
"""Scores of a row up to which rows are taken side by side."""
_TINY = float(np.float32(1e-7))
"""Scores within this of zero are zero to SOFTMAX_ZERO."""


def logistic(k: NativeBuilder, x: Expr) -> Expr:
    """1 / (1 + exp(-x)), computed without overflow."""
    one = k.const(1.0, x.dtype)
    positive = k.div(one, k.add(one, k.apply("exp", k.apply("neg", k.apply("abs", x)))))
    return k.select(k.compare("lt", x, k.const(0.0, x.dtype)), k.sub(one, positive), positive)


def probit(k: NativeBuilder, x: Expr) -> Expr:
    """The normal quantile, as `tabular.probit`."""

    def number(value: float) -> Expr:
        return k.const(value, x.dtype)

    y = k.sub(k.mul(number(2.0), x), number(1.0))
    log = k.apply("log", k.mul(k.sub(number(1.0), y), k.add(number(1.0), y)))
    middle = k.add(number(2 / (math.pi * 0.147)), k.div(log, number(2.0)))
    root = k.apply("sqrt", k.sub(k.mul(middle, middle), k.div(log, number(0.147))))
    inverse = k.apply("abs", k.apply("sqrt", k.sub(root, middle)))
    size = k.mul(k.const(math.sqrt(2), FLOAT64), k.cast(inverse, FLOAT64))
    is_negative = k.compare("lt", y, number(0.0))
    return k.cast(k.select(is_negative, k.apply("neg", size), size), x.dtype)


_OF_ELEMENTS: dict[str, Callable[[NativeBuilder, Expr], Expr]] = {"LOGISTIC": logistic, "PROBIT": probit}


def transform_rows(k: NativeBuilder, scores: Buffer, shape: tuple[Dim, Dim], kind: str) -> None:
    """The post transform of rows of scores, written over them. A row of one score knows only PROBIT."""
    if kind == "NONE" or (shape[1] == 1 and kind != "PROBIT"):
        return
    if function := _OF_ELEMENTS.get(kind):
        with k.loop(dims.product(shape), parallel=True) as position:
            index = k.const(0), position
            k.store(scores, index, function(k, k.load(scores, index)))
        return
    count = shape[1]
    if isinstance(count, int) and count <= _FEW:
        with k.loop(shape[0], parallel=True) as row:
            _softmax_of_few(k, scores, row, count, kind == "SOFTMAX_ZERO")
        return
    with k.nest(shape[:1]) as row:
        _softmax(k, scores, row, shape[1], kind == "SOFTMAX_ZERO")


def _softmax(k: NativeBuilder, scores: Buffer, row: Index, count: Dim, leaves_zeros: bool) -> None:
    """exp(x - largest) over its sum; of scores near zero `x * exp(-largest)` instead, which the sum leaves out."""
    dtype = scores.dtype
    zero = k.const(0.0, dtype)

    def score(index: Index) -> Expr:
        return k.load(scores, (*row, *index))

    largest = k.reduce((count,), k.const(-np.inf, dtype), lambda most, at: k.apply("max", most, score(at)))
    total = k.variable(dtype, "total", once=False)
    k.assign(total, zero)
    with k.nest((count,), parallel=False) as index:
        x = k.let(score(index))
        value = k.apply("exp", k.sub(x, largest))
        if leaves_zeros:
            is_zero = k.let(k.compare("le", k.apply("abs", x), k.const(_TINY, dtype)))
            value = k.let(k.select(is_zero, k.mul(x, k.apply("exp", k.apply("neg", largest))), value))
            k.assign(total, k.select(is_zero, total, k.add(total, value)))
        else:
            value = k.let(value)
            k.assign(total, k.add(total, value))
        k.store(scores, (*row, *index), value)
    whole = k.let(k.add(total, k.const(0.0, dtype)))
    with k.nest((count,)) as index:
        k.store(scores, (*row, *index), k.div(score(index), whole))


def _softmax_of_few(k: NativeBuilder, scores: Buffer, row: Expr, count: int, leaves_zeros: bool) -> None:
    """The same of so few scores that rows are taken side by side."""
    dtype = scores.dtype
    xs = [k.let(k.load(scores, (row, k.const(n)))) for n in range(count)]
    largest = k.let(reduce(lambda x, y: k.apply("max", x, y), xs))
    values = [k.let(k.apply("exp", k.sub(x, largest))) for x in xs]
    total = k.const(0.0, dtype)
    if leaves_zeros:
        flags = [k.let(k.compare("le", k.apply("abs", x), k.const(_TINY, dtype))) for x in xs]
        factor = k.let(k.apply("exp", k.apply("neg", largest)))
        values = [k.let(k.select(f, k.mul(x, factor), v)) for f, x, v in zip(flags, xs, values, strict=True)]
        for flag, value in zip(flags, values, strict=True):
            total = k.select(flag, total, k.add(total, value))
    else:
        total = reduce(k.add, values, total)
    total = k.let(total)
    for n, value in enumerate(values):
        k.store(scores, (row, k.const(n)), k.div(value, total))


def both_classes(k: NativeBuilder, score: Expr, kind: str, opposite: bool) -> tuple[Expr, Expr]:
    """The scores of two classes from that of the second, as `tabular.both_classes`."""
    if kind == "LOGISTIC":
        return logistic(k, k.apply("neg", score)), logistic(k, score)
    if kind == "PROBIT":
        score = k.let(probit(k, score))
    return k.apply("neg", score) if opposite else k.sub(k.const(1.0, score.dtype), score), score


class Chosen(Struct, frozen=True):
    """The index of a class for each row, in memory."""

    buffer: Buffer

    @classmethod
    def of_rows(cls, k: NativeBuilder, rows: Dim) -> Chosen:
        return cls(k.temporary(INT64, (rows,), "chosen"))

    def labels(self, k: NativeBuilder, labels: np.ndarray) -> View:
        """The label of each row's class."""
        own = k.view_of(self.buffer)
        if (labels == np.arange(len(labels))).all():
            return own
        names = k.constant(labels, TensorType(INT64, labels.shape))
        return k.view(INT64, own.shape, lambda index: names.at((own.at(index),)), 2)


def first_largest(k: NativeBuilder, count: int, score: Callable[[Expr], Expr], dtype: np.dtype) -> Expr:
    """The index of the first of the largest scores; NaN is above all."""
    best, chosen = k.variable(dtype, "best", once=False), k.variable(INT64, "index", once=False)
    k.assign(best, score(k.const(0)))
    k.assign(chosen, k.const(0))
    with k.loop(k.const(count - 1), hint="class") as number:
        index = k.let(k.add(number, k.const(1)))
        other = k.let(score(index))
        is_nan, is_best_nan = (k.apply("isnan", x, dtype=BOOL) for x in (other, best))
        is_above = k.apply("and", k.apply("not", is_best_nan), k.apply("or", is_nan, k.compare("gt", other, best)))
        is_above = k.let(is_above)
        k.assign(chosen, k.select(is_above, index, chosen))
        k.assign(best, k.select(is_above, other, best))
    return chosen
