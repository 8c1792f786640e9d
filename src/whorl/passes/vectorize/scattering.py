"""Tensors that iterations write rows of: one ScatterND of what all of them write."""

from __future__ import annotations

from msgspec.structs import replace

from whorl.ir.dtypes import is_float
from whorl.ir.graph import Value
from whorl.ops.movement.scattering import ScatterND
from whorl.passes.rules.pattern import maker, tensor_type
from whorl.passes.vectorize.batched import Batched, CannotVectorize, give_all_rows, lengths_of
from whorl.passes.vectorize.forms import Recurrence
from whorl.passes.vectorize.rules.windows_of_slices import iteration_and_offset
from whorl.passes.vectorize.stacks import Stacks


class Scattered(Recurrence):
    """A tensor in which each iteration writes elsewhere, or adds, or keeps an extreme."""

    title = "one scatter"

    op: ScatterND
    indices: Batched
    updates: Batched

    def final(self, stacks: Stacks, first: Value) -> Value:
        indices, updates = (give_all_rows(x, stacks.count, stacks.build) for x in (self.indices, self.updates))
        return stacks.build.add(self.op, first, indices, updates, name=self.state.name)


def scattered(state: Value, result: Value, known: dict[Value, Batched], regroups: bool) -> Scattered | None:
    """The closed form of a tensor that a ScatterND updates in each iteration; None for other updates."""
    node = maker(result)
    if node is None or not isinstance(node.op, ScatterND) or node.inputs[0] is not state:
        return None
    indices, updates = (None if value is None else known.get(value) for value in node.inputs[1:])
    if indices is None or updates is None:
        return None
    if node.op.reduction == "none":
        if not _differ(indices):
            return None
    elif node.op.reduction in ("add", "mul") and is_float(tensor_type(state).dtype) and not regroups:
        return None
    return Scattered(state, {node}, replace(node.op), indices, updates)


def _differ(indices: Batched) -> bool:
    """Whether no two iterations write at one index: theirs are the iteration number, or a constant more."""
    if not indices.is_mapped or any(length != 1 for length in lengths_of(indices.value)[1:]):
        return False
    try:
        return iteration_and_offset(indices.value)[1] >= 0
    except CannotVectorize:
        return False
