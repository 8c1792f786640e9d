"""Linear recurrences as an LSTM whose gates are what they are given: c = f * c + i * g, with i and o always 1.

The terms are the input: the weights of the input hand a factor to the forget gate and a term to the candidate, those of
the hidden state are 0. Every product and sum is that of the loop, but 0 times what is not finite is NaN, which the
elements of its group meet, too. The elements of a row are a batch of groups, since a row costs as many products as it
has elements times the size of a group.
"""

from __future__ import annotations

import math

import numpy as np

from whorl.ir.graph import Value
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.movement.shapes import Reshape, Shape
from whorl.ops.recurrent.rnn import LSTM
from whorl.passes.vectorize.batched import Batched, CannotVectorize, lengths_of
from whorl.passes.vectorize.forms import Recurrence
from whorl.passes.vectorize.stacks import Stacks

GROUP = 16
"""The largest size of a group."""
WIDEST = 128
"""Elements of a row above which the loop is as fast."""


class Linear(Recurrence):
    """factor * state + term."""

    title = "a linear recurrence"

    factor: Batched
    term: Batched

    def table(self, stacks: Stacks, first: Value) -> Value:
        _require_narrow(first)
        build, size = stacks.build, _group(first)
        groups = build.int64(0, -1, size)
        parts = (self.factor, self.term)
        pair = [build.add(Reshape(), _rows(stacks, x, first), groups, name=x.value.name) for x in parts]
        inputs = build.add(Concat(2), *pair, name=self.state.name)
        start = build.add(Reshape(), first, build.int64(1, -1, size), name=first.name)
        op = LSTM(
            activation_alpha=(1.0, 1.0, 1.0),
            activation_beta=(0.0, 0.0, 0.0),
            activations=("Affine", "Affine", "Affine"),
            hidden_size=size,
        )
        weights, recurrent, bias = (build.constant(x) for x in _weights(size))
        operands = [inputs, weights, recurrent, bias, None, start, start]
        values = build.add_many(op, operands, [self.state.name, "last", "last_c"])[0]
        shape = build.add(Concat(0), build.add(Shape(0, 1), values), build.add(Shape(), first), name="shape")
        values = build.add(Reshape(), values, shape, name=self.state.name)
        return stacks.after(first, stacks.first(values, stacks.count))


def _rows(stacks: Stacks, value: Batched, first: Value) -> Value:
    """A row for each iteration and one of zeros: engines refuse sequences without a step."""
    build, rows = stacks.build, stacks.all_rows(value, first)
    shape = build.add(Concat(0), build.int64(1), build.add(Shape(), first), name="shape")
    zeros = build.add(ConstantOfShape(np.zeros(1, np.float32)), shape, name="zeros")
    return build.add(Concat(0), rows, zeros, name=rows.name)


def _require_narrow(first: Value) -> None:
    """Refuse rows so wide that their loop is faster. Errors: CannotVectorize."""
    known = math.prod(dim for dim in lengths_of(first) if isinstance(dim, int))
    if known > WIDEST:
        raise CannotVectorize(f"rows of {known} elements are as fast in a loop")


def _group(first: Value) -> int:
    """The largest size of a group that divides the last axis."""
    *_, last = lengths_of(first) or (1,)
    return next((size for size in range(GROUP, 1, -1) if isinstance(last, int) and last % size == 0), 1)


def _weights(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """W, R and B of the gates i, o, f, c."""
    weights, bias = np.zeros((1, 4 * size, 2 * size), np.float32), np.zeros((1, 8 * size), np.float32)
    weights[0, 2 * size :] = np.eye(2 * size)
    bias[0, : 2 * size] = 1
    return weights, np.zeros((1, 4 * size, size), np.float32), bias
