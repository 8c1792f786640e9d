"""Recurrent cells written as loops: over all iterations they are an RNN, a GRU or an LSTM.

The input of the layer is the one value whose products with matrices the gates add, if nothing else changes with the
iteration; otherwise it is what the gates add, and the weights of the input are ones on the diagonal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from whorl.ir.graph import Region, Value
from whorl.ops.elementwise.arithmetic import Neg
from whorl.ops.linear.einsum import Einsum
from whorl.ops.linear.products import Gemm, MatMul
from whorl.ops.movement.axes import Concat, Slice, Transpose
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.movement.shapes import Reshape, Shape, Unsqueeze
from whorl.passes.rules.pattern import maker, tensor_type
from whorl.passes.vectorize.batched import Batched, CannotVectorize, lengths_of
from whorl.passes.vectorize.gates import Cell, Gate, cell_of
from whorl.passes.vectorize.layers import Layer, Mask
from whorl.passes.vectorize.linear_maps import Dependence, Map, NoMap, dependents_of, evaluate, width_of
from whorl.passes.vectorize.stacks import Stacks

WIDEST = 256
"""Columns of all gates up to which ones on the diagonal cost less than the loop."""


def layer_of(
    states: Sequence[int],
    arguments: Sequence[Value],
    updates: Sequence[Value],
    reader: Reader,
    mask: Mask | None,
) -> Layer | None:
    """The layer whose states, h first, have these updates; None for others. Errors: CannotVectorize."""
    h = arguments[0]
    cell = cell_of(arguments, updates, dependents_of(reader.body, {h}))
    if cell is None:
        return None
    try:
        return _Weights(cell, h, reader).layer(states, mask)
    except NoMap:
        return None


class Reader:
    """A body, what is known of its values, and the stacks that add to the graph; `first` is h before the loop."""

    def __init__(self, body: Region, known: Mapping[Value, Batched], stacks: Stacks, first: Value) -> None:
        self.body, self.known, self.stacks, self.build, self.first = body, known, stacks, stacks.build, first

    def dependence(self, root: Value) -> Dependence:
        return Dependence(self.body, root, self.known, self.build)

    def evaluate(self, value: Value, zeros: Mapping[Value, Value]) -> Batched:
        """A value where others are zeros."""
        bound = {key: Batched(zero, is_mapped=False) for key, zero in zeros.items()}
        return evaluate(self.body, value, bound, self.known, self.build)

    def zeros(self, value: Value) -> Value:
        """One row of zeros of the width of a value."""
        rank = tensor_type(value).rank or 1
        return self.build.constant(np.zeros((*(1,) * (rank - 1), width_of(value)), np.float32))


class _Weights:
    """The matrices and biases of one cell, gate by gate."""

    def __init__(self, cell: Cell, h: Value, reader: Reader) -> None:
        self.cell, self.h, self.reader, self.build = cell, h, reader, reader.build
        self.size = width_of(h)
        if any(gate.end - gate.start != self.size for gate in cell.gates):
            raise NoMap
        self.roots = [h] * len(cell.gates)
        if cell.hidden is not None:
            self.roots[-1] = cell.hidden

    def layer(self, states: Sequence[int], mask: Mask | None) -> Layer:
        build = self.build
        recurrent = self._stack([self._recurrent(k) for k in range(len(self.roots))])
        parts = next(filter(None, map(self._by_input, self._inputs())), None) or self._by_ones()
        inputs, weights, bias = parts
        zeros = build.constant(np.zeros((1, len(self.roots) * self.size), np.float32))
        inner = zeros if self.cell.inner is None else self._inner_bias()
        both = build.add(Concat(1), bias, inner, name="bias")
        rank = tensor_type(self.h).rank
        rows = build.add(Unsqueeze(), inputs, build.int64(1), name=inputs.name) if rank == 1 else inputs
        op = replace(self.cell.op, hidden_size=self.size)
        return Layer(op, rows, (weights, recurrent, both), states, mask)

    # ---- the state -------------------------------------------------------------------------------------------

    def _recurrent(self, k: int) -> Value:
        """The columns of a gate's matrix for the state."""
        gate, root = self.cell.gates[k], self.roots[k]
        if root is not self.h and self.cell.inner is not None:
            if self.reader.dependence(root).map(gate.source) != Map(None):
                raise NoMap
            return self.reader.dependence(self.h).matrix(self.cell.inner)
        return self._columns(gate, self.reader.dependence(root).matrix(gate.source))

    def _inner_bias(self) -> Value:
        """The biases of the recurrent products: that of the last gate is multiplied by the reset gate."""
        assert self.cell.inner is not None
        value = self.reader.evaluate(self.cell.inner, {self.h: self.reader.zeros(self.h)})
        before = self.build.constant(np.zeros((1, (len(self.roots) - 1) * self.size), np.float32))
        return self.build.add(Concat(1), before, self._steady(value, self.size), name="bias")

    # ---- the input -------------------------------------------------------------------------------------------

    def _inputs(self) -> Iterator[Value]:
        """Values of iterations that a matrix multiplies on the way to the first gate."""
        known, seen = self.reader.known, [self.cell.gates[0].source]
        rank = tensor_type(self.h).rank
        while seen:
            node = maker(seen.pop())
            for value in () if node is None else node.inputs:
                if value is None:
                    continue
                is_known = value in known and known[value].is_mapped and known[value].rank == rank
                if is_known and node is not None and isinstance(node.op, MatMul | Gemm | Einsum | Concat):
                    yield value
                seen.append(value)

    def _by_input(self, value: Value) -> tuple[Value, Value, Value] | None:
        """The input, its weights and its bias, where only its products with matrices change with the iteration."""
        before = len(self.build.region.nodes)
        try:
            dependence = self.reader.dependence(value)
            matrices = [self._columns(gate, dependence.matrix(gate.source)) for gate in self.cell.gates]
            parts: list[Value] = []
            for gate, root in zip(self.cell.gates, self.roots, strict=True):
                zeros = {root: self.reader.zeros(root), value: self.reader.zeros(value)}
                whole = self._steady(self.reader.evaluate(gate.source, zeros), width_of(gate.source))
                parts.append(self._columns(gate, whole))
        except (NoMap, CannotVectorize):
            del self.build.region.nodes[before:]
            return None
        return self.reader.known[value].value, self._stack(matrices), self.build.add(Concat(1), *parts, name="bias")

    def _by_ones(self) -> tuple[Value, Value, Value]:
        """What the gates add as the input, and ones on the diagonal as its weights."""
        build, count = self.build, len(self.roots)
        if count * self.size > WIDEST:
            raise CannotVectorize(f"its {count} gates of {self.size} add more than products of one value")
        shape = build.add(Shape(), self.reader.first, name="shape")
        zero = build.add(ConstantOfShape(np.zeros(1, np.float32)), shape, name="zeros")
        parts: list[Value] = []
        for gate, root in zip(self.cell.gates, self.roots, strict=True):
            whole = self.reader.evaluate(gate.source, {root: zero})
            part = Batched(self._columns(gate, whole.value), whole.is_mapped)
            parts.append(self.reader.stacks.all_rows(part, self.reader.first))
        inputs = build.add(Concat(-1), *parts, name=self.h.name)
        weights = build.constant(np.eye(count * self.size, dtype=np.float32)[None])
        return inputs, weights, build.constant(np.zeros((1, count * self.size), np.float32))

    # ---- columns ---------------------------------------------------------------------------------------------

    def _steady(self, value: Batched, width: int) -> Value:
        """A row that is the same in all iterations, of a batch too. Errors: NoMap for others."""
        lengths = lengths_of(value.value)
        if value.is_mapped or lengths[-1] != width or any(dim != 1 for dim in lengths[:-1]):
            raise NoMap
        return self.build.add(Reshape(), value.value, self.build.int64(1, width), name="bias")

    def _columns(self, gate: Gate, value: Value) -> Value:
        """The columns of a gate, of the negative where it is turned."""
        if lengths_of(value)[-1] != self.size:
            numbers = (self.build.int64(number) for number in (gate.start, gate.end, -1))
            value = self.build.add(Slice(), value, *numbers, name=value.name)
        return self.build.add(Neg(), value, name=value.name) if gate.is_turned else value

    def _stack(self, matrices: Sequence[Value]) -> Value:
        """[1, gates * hidden, rows] of matrices [rows, hidden]."""
        build = self.build
        whole = build.add(Concat(1), *matrices, name="weights") if len(matrices) > 1 else matrices[0]
        turned = build.add(Transpose((1, 0)), whole, name="weights")
        return build.add(Unsqueeze(), turned, build.int64(0), name="weights")
