"""Einsum written out: operands contracted pair by pair as matrix products."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.graph import Value
from whorl.ir.types import Fact, tensor
from whorl.ops.core.base import dims_of
from whorl.ops.core.writer import Writer
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.shapes import Reshape, Shape
from whorl.ops.reduce.reductions import ReduceSum

Labels = tuple[str, ...]


class Operand(Struct, frozen=True):
    """A value and the label of each of its axes."""

    value: Value
    labels: Labels

    @property
    def lengths(self) -> dict[str, Dim]:
        return dict(zip(self.labels, lengths_of(self.value), strict=True))


def contract(write: Writer, operands: Sequence[Operand], result: Labels) -> Value:
    """The sum of products over every label that the result lacks; no operand has a label twice."""
    longest = {label: n for each in operands for label, n in each.lengths.items() if n != 1}
    operands = [_drop_broadcast(write, each, longest) for each in operands]
    total = operands[0]
    for position, other in enumerate(operands[1:], 1):
        later = {label for each in operands[position + 1 :] for label in each.labels}
        total = _multiply(write, total, other, later | set(result))
    total = _sum_out(write, total, set(result))
    missing = [label for label in result if label not in total.labels]
    if missing:
        value = write.unsqueeze(total.value, *range(len(missing)))
        total = Operand(value, (*missing, *total.labels))
    return _transpose(write, total, result).value


def _drop_broadcast(write: Writer, x: Operand, longest: Collection[str]) -> Operand:
    """Without axes of length 1, which broadcast."""
    axes = [n for n, (label, length) in enumerate(x.lengths.items()) if length == 1]
    if not axes:
        return x
    labels = tuple(label for n, label in enumerate(x.labels) if n not in axes)
    return Operand(write.squeeze(x.value, *axes), labels)


def _sum_out(write: Writer, x: Operand, needed: Collection[str]) -> Operand:
    """The sum over every label outside `needed`."""
    axes = [n for n, label in enumerate(x.labels) if label not in needed]
    if not axes:
        return x
    value = write.node(ReduceSum(keepdims=0), x.value, write.build.int64(*axes))
    return Operand(value, tuple(label for label in x.labels if label in needed))


def _transpose(write: Writer, x: Operand, labels: Labels) -> Operand:
    return Operand(write.transpose(x.value, [x.labels.index(label) for label in labels]), labels)


def _multiply(write: Writer, x: Operand, y: Operand, needed: Collection[str]) -> Operand:
    """The product of two operands, summed over the labels of both outside `needed`."""
    x, y = _sum_out(write, x, {*needed, *y.labels}), _sum_out(write, y, {*needed, *x.labels})
    shared = [label for label in x.labels if label in y.labels]
    batch = tuple(label for label in shared if label in needed)
    inner = tuple(label for label in shared if label not in needed)
    left = tuple(label for label in x.labels if label not in shared)
    right = tuple(label for label in y.labels if label not in shared)
    labels = (*batch, *left, *right)
    has_names = not all(isinstance(length, int) for length in (x.lengths | y.lengths).values())
    if has_names and len(left) == len(inner) == len(right) == 1:  # a matrix for each index of the batch, as it is
        factors = (_transpose(write, x, (*batch, *left, *inner)), _transpose(write, y, (*batch, *inner, *right)))
        return Operand(write.node(MatMul(), *(each.value for each in factors)), labels)

    def matrix(operand: Operand, *groups: Labels) -> Value:
        value = _transpose(write, operand, tuple(label for group in groups for label in group)).value
        return _reshape(write, value, groups if batch else groups[1:], (x, y))

    product = write.node(MatMul(), matrix(x, batch, left, inner), matrix(y, batch, inner, right))
    return Operand(_reshape(write, product, [(label,) for label in labels], (x, y)), labels)


def _reshape(write: Writer, x: Value, groups: Sequence[Labels], operands: Sequence[Operand]) -> Value:
    """x with an axis for each group of labels, whose lengths are those of operands."""
    lengths = {label: length for each in operands for label, length in each.lengths.items()}
    shape = tuple(dims.product(lengths[label] for label in group) for group in groups)
    if lengths_of(x) == shape:
        return x
    if sum(not isinstance(n, int) for n in shape) <= 1:
        return write.node(Reshape(), x, write.build.int64(*(n if isinstance(n, int) else -1 for n in shape)))
    sizes = [_size(write, group, operands) for group in groups]
    return write.node(Reshape(allowzero=1), x, write.concat(sizes, 0))


def _size(write: Writer, group: Labels, operands: Sequence[Operand]) -> Value:
    """The product of the lengths of labels, as int64[1]."""
    total = write.build.int64(1)
    for label in group:
        operand = next(each for each in operands if label in each.labels)
        axis = operand.labels.index(label)
        total = write.mul(total, write.node(Shape(axis, axis + 1), operand.value))
    return total


def lengths_of(fact: Fact) -> tuple[Dim, ...]:
    """The lengths of a tensor that has a rank."""
    return dims_of(fact, tensor(fact).rank or 0, "an operand")
