"""The matrix by which a value of a body depends on another one: that of a product, its rows or its columns.

What is added on the way is left out: it is the value where the other one is 0, and computed as that.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from whorl.ir.build import Builder
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import AnyShape
from whorl.ops.core.base import known_ints
from whorl.ops.elementwise.arithmetic import Add, Sub
from whorl.ops.linear.einsum import Einsum
from whorl.ops.linear.products import Gemm, MatMul
from whorl.ops.movement.axes import Concat, Slice, Split, Transpose
from whorl.passes.rules.pattern import maker, tensor_type
from whorl.passes.vectorize.batched import Batched
from whorl.passes.vectorize.regions import batch_node

EINSUMS = ("a,ab->b", "ab,bc->ac")
"""Equations that are products of rows with a matrix."""


class NoMap(Exception):
    """A value does not depend on the other one by one matrix."""


class Map(Struct, frozen=True):
    """x @ matrix; without one, x itself, in the columns from `offset` on among zeros."""

    matrix: Value | None
    offset: int = 0


class Dependence:
    """What depends on one value of a body, `root`, by which matrix; `known` are the values of all iterations."""

    def __init__(self, body: Region, root: Value, known: Mapping[Value, Batched], build: Builder) -> None:
        self.body, self.root, self.known, self.build = body, root, known, build
        self.size = width_of(root)
        self.dependents = dependents_of(body, {root})

    def map(self, value: Value) -> Map:
        """How a value depends on the root. Errors: NoMap."""
        if value is self.root:
            return Map(None)
        node = maker(value)
        if value not in self.dependents or node is None:
            raise NoMap
        match node.op:
            case Add() | Sub():
                return self._sum(node)
            case MatMul() | Gemm() | Einsum():
                return self._product(node)
            case Slice() | Split():
                return self._columns(node, value)
            case Concat():
                return self._concatenation(node)
            case _:
                raise NoMap

    def matrix(self, value: Value) -> Value:
        """The matrix by which a value depends on the root. Errors: NoMap where there is none."""
        matrix = self.map(value).matrix
        if matrix is None:
            raise NoMap
        return matrix

    def _sum(self, node: Node) -> Map:
        a, b = (value for value in node.inputs if value is not None)
        if b in self.dependents and (a in self.dependents or isinstance(node.op, Sub)):
            raise NoMap
        return self.map(b if b in self.dependents else a)

    def _product(self, node: Node) -> Map:
        a, b, *added = node.inputs
        if a is None or b is None or any(value in self.dependents for value in added):
            raise NoMap
        turned = isinstance(node.op, Gemm) and bool(node.op.transB)
        if b in self.dependents and isinstance(node.op, MatMul) and tensor_type(b).rank == 1:
            a, b, turned = b, a, True
        is_known = isinstance(node.op, MatMul) or node.op in (Gemm(), Gemm(transB=1), Gemm(beta=0.0))
        if not is_known and not (isinstance(node.op, Einsum) and node.op.equation.replace(" ", "") in EINSUMS):
            raise NoMap
        weights = self.known.get(b)
        if b in self.dependents or weights is None or weights.is_mapped or weights.rank != 2:
            raise NoMap
        matrix = self.build.add(Transpose((1, 0)), weights.value, name=b.name) if turned else weights.value
        inner = self.map(a)
        if inner.matrix is not None:
            raise NoMap
        return Map(self._cut(matrix, inner.offset, inner.offset + self.size, 0))

    def _columns(self, node: Node, value: Value) -> Map:
        start, end = columns_of(node, value)
        source = node.inputs[0]
        assert source is not None
        return Map(self._cut(self.matrix(source), start, end, 1))

    def _concatenation(self, node: Node) -> Map:
        assert isinstance(node.op, Concat)
        parts = [value for value in node.inputs if value is not None]
        inside = [k for k, part in enumerate(parts) if part in self.dependents]
        rank = tensor_type(parts[0]).rank or 1
        if len(inside) != 1 or node.op.axis % rank != rank - 1:
            raise NoMap
        inner = self.map(parts[inside[0]])
        if inner.matrix is not None:
            raise NoMap
        return Map(None, inner.offset + sum(map(width_of, parts[: inside[0]])))

    def _cut(self, matrix: Value, start: int, end: int, axis: int) -> Value:
        if (start, end) == (0, tensor_type(matrix).shape[axis]):  # type: ignore[index]
            return matrix
        numbers = (self.build.int64(number) for number in (start, end, axis))
        return self.build.add(Slice(), matrix, *numbers, name=matrix.name)


def width_of(value: Value) -> int:
    """The length of the last axis. Errors: NoMap where it is not known."""
    shape = tensor_type(value).shape
    if isinstance(shape, AnyShape) or not shape or not isinstance(shape[-1], int):
        raise NoMap
    return shape[-1]


def columns_of(node: Node, value: Value) -> tuple[int, int]:
    """Where the columns begin and end that a node takes of its operand. Errors: NoMap for other parts of it."""
    source = node.inputs[0]
    assert source is not None
    type, width = tensor_type(source), width_of(source)
    last = (type.rank or 0) - 1
    if isinstance(node.op, Split):
        widths = [width_of(part) for part in node.outputs]
        if node.op.axis % (last + 1) != last:
            raise NoMap
        start = sum(widths[: value.index])
        return start, start + widths[value.index]
    lists = [None if x is None else known_ints(x) for x in (*node.inputs[1:], None, None)[:4]]
    starts, ends, axes, steps = lists
    if starts is None or ends is None or (steps is not None and set(steps) != {1}):
        raise NoMap
    if node.inputs[3:4] and axes is None:
        raise NoMap
    columns = (0, width)
    shape = type.shape
    assert not isinstance(shape, AnyShape)
    for axis, start, end in zip(axes or range(len(starts)), starts, ends, strict=True):
        length = shape[axis]
        if not isinstance(length, int):
            raise NoMap
        cut = slice(start, end).indices(length)[:2]
        if axis % (last + 1) == last:
            columns = cut
        elif cut != (0, length):
            raise NoMap
    return columns


def dependents_of(body: Region, roots: set[Value]) -> set[Value]:
    """The values of a body that depend on some of them, these included."""
    dependents = set(roots)
    for node in body.nodes:
        if not dependents.isdisjoint(value for value in node.inputs if value is not None):
            dependents.update(node.outputs)
    return dependents


def evaluate(
    body: Region, value: Value, bound: Mapping[Value, Batched], known: Mapping[Value, Batched], build: Builder
) -> Batched:
    """A value of a body for all iterations, where some of its values are others.

    Errors: NoMap where it depends on what is not known; CannotVectorize.
    """
    dependents = dependents_of(body, set(bound))
    values = {other: batched for other, batched in known.items() if other not in dependents} | dict(bound)
    needed, nodes = {value}, list[Node]()
    for node in reversed(body.nodes):
        if not needed.isdisjoint(output for output in node.outputs if output not in values):
            nodes.append(node)
            needed.update(x for x in node.inputs if x is not None)
    for node in reversed(nodes):
        if any(x is not None and x not in values for x in node.inputs):
            raise NoMap
        batch_node(node, values, build)
    if value not in values:
        raise NoMap
    return values[value]
