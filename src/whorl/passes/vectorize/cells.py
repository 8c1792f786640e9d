"""Recurrent cells written as loops: `h = act(x + h @ R)` over all iterations is an RNN.

What is added to the product is the input, computed for all iterations before: the weights of the input are ones on the
diagonal. One more row of zeros is run through, since engines refuse sequences without a step; its result is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whorl.ir.dtypes import FLOAT32
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import lengths_of
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.elementwise.functions import Tanh
from whorl.ops.elementwise.nonlinear import Relu, Sigmoid
from whorl.ops.linear.products import Gemm, MatMul
from whorl.ops.movement.axes import Concat, Transpose
from whorl.ops.movement.filling import ConstantOfShape, EyeLike
from whorl.ops.movement.shapes import Shape, Squeeze, Unsqueeze
from whorl.ops.recurrent.rnn import RNN
from whorl.passes.rules.pattern import maker, tensor_type
from whorl.passes.vectorize.batched import Batched, align
from whorl.passes.vectorize.forms import Recurrence
from whorl.passes.vectorize.stacks import Stacks

ACTIVATIONS: dict[type[Op], str] = {Tanh: "Tanh", Relu: "Relu", Sigmoid: "Sigmoid"}


class Cell(Recurrence):
    """activation(terms + state @ weights)."""

    title = "an RNN"

    activation: str
    terms: list[Batched]
    weights: Value
    is_turned: bool
    """Whether the weights are those of the op: R^T."""

    def table(self, stacks: Stacks, first: Value) -> Value:
        build = stacks.build
        total = self.terms[0]
        for term in self.terms[1:]:
            rank = max(total.rank, term.rank)
            both = [align(x, rank, build) for x in (total, term)]
            total = Batched(build.add(Add(), *both), total.is_mapped or term.is_mapped)
        rows = stacks.all_rows(total, first)
        shape = build.add(Concat(0), build.int64(1), build.add(Shape(), first), name="shape")
        zeros = build.add(ConstantOfShape(np.zeros(1, np.float32)), shape, name="zeros")
        rows = build.add(Concat(0), rows, zeros, name=rows.name)
        axis = build.int64(0)
        ones = build.add(Unsqueeze(), build.add(EyeLike(), self.weights, name="ones"), axis, name="ones")
        turned = self.weights if self.is_turned else build.add(Transpose((1, 0)), self.weights, name=self.weights.name)
        weights = build.add(Unsqueeze(), turned, axis, name=self.weights.name)
        start = build.add(Unsqueeze(), first, axis, name=first.name)
        hidden = lengths_of(tensor_type(self.weights))[0]
        op = RNN(activations=(self.activation,), hidden_size=hidden if isinstance(hidden, int) else None)
        values = build.add_many(op, [rows, ones, weights, None, None, start], [self.state.name, "last"])[0]
        values = build.add(Squeeze(), values, build.int64(1), name=self.state.name)
        return stacks.after(first, stacks.first(values, stacks.count))


def cell_of(
    state: Value, result: Value, term: Callable[[Value | None], Batched | None], nodes: set[Node]
) -> Cell | None:
    """The cell whose update of a state [batch, hidden] has this result; None for other updates."""
    node = maker(result)
    type = tensor_type(state)
    if node is None or node.op.__class__ not in ACTIVATIONS or type.dtype != FLOAT32 or type.rank != 2:
        return None
    inner = {node}
    parts = _summands(node.inputs[0], term, inner)
    products = [made for part in parts if (made := _product(part, state)) is not None]
    terms = [known for part in parts if (known := term(part)) is not None]
    if len(products) != 1 or not terms or len(terms) + 1 != len(parts):
        return None
    _, matrix, *bias = products[0].inputs
    if bias and (known := term(bias[0])) is not None:
        terms.append(known)
    elif bias and bias[0] is not None:
        return None
    weights = term(matrix)
    if weights is None or weights.is_mapped or weights.rank != 2:
        return None
    shape = tensor_type(weights.value).shape
    if not isinstance(shape, tuple) or not isinstance(shape[0], int) or shape[0] != shape[1]:
        return None
    nodes.update(inner, products)
    return Cell(state, nodes, ACTIVATIONS[node.op.__class__], terms, weights.value, _is_turned(products[0]))


def _summands(
    value: Value | None, term: Callable[[Value | None], Batched | None], nodes: set[Node]
) -> Sequence[Value | None]:
    """What is added up to a value; terms that are known are taken whole."""
    node = None if value is None or term(value) is not None else maker(value)
    if node is None or not isinstance(node.op, Add):
        return [value]
    nodes.add(node)
    return [part for each in node.inputs for part in _summands(each, term, nodes)]


def _product(value: Value | None, state: Value) -> Node | None:
    """The node that multiplies the state by a matrix."""
    node = None if value is None else maker(value)
    if node is None or node.inputs[0] is not state:
        return None
    return node if isinstance(node.op, MatMul) or node.op in (Gemm(), Gemm(transB=1)) else None


def _is_turned(product: Node) -> bool:
    return isinstance(product.op, Gemm) and bool(product.op.transB)
