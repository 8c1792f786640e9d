"""Batching rules of ops that write at indices: rows write each into its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.core.base import normal_axis
from whorl.ops.movement.axes import Concat, ReverseSequence
from whorl.ops.movement.scattering import ScatterElements, ScatterND, TensorScatter
from whorl.ops.movement.shapes import Expand, Shape
from whorl.passes.vectorize.batched import Batched, Operands, all_mapped, row_count
from whorl.passes.vectorize.rules.folding import batch_folded, folded, row_numbers
from whorl.passes.vectorize.rules.rule import Rule


def batch_scatter_elements(op: ScatterElements, operands: Operands, build: Builder) -> Sequence[Batched]:
    x = operands[0]
    assert x is not None
    moved = replace(op, axis=1 + normal_axis(op.axis, x.rank))
    return [Batched(build.add(moved, *all_mapped(operands, build)))]


def batch_scatter_nd(op: ScatterND, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The number of the row goes before each index."""
    indices = operands[1]
    assert indices is not None
    data, own, updates = all_mapped(operands, build)
    rank = indices.rank + 1
    shape = build.add(Concat(0), build.add(Shape(0, rank - 1), own), build.int64(1), name="shape")
    numbers = build.add(Expand(), row_numbers(row_count(operands, build), rank, build), shape, name="row")
    return [Batched(build.add(op, data, build.add(Concat(rank - 1), numbers, own, name="indices"), updates))]


def batch_reverse_sequence(op: ReverseSequence, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Rows are more sequences of the batch."""
    return batch_folded(op, operands, (op.batch_axis, 0), (op.batch_axis,), build)


RULES: Mapping[type[Op], Rule] = {
    ScatterElements: batch_scatter_elements,
    ScatterND: batch_scatter_nd,
    TensorScatter: folded(0, 0, 0),
    ReverseSequence: batch_reverse_sequence,
}
