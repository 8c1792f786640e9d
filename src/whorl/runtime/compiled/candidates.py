"""What of a plan native code may run, by its nodes and the types of their values alone."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.constants import Constant
from whorl.ir.dtypes import INTEGERS, STRING
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import TensorType, Type
from whorl.lowering.native_types import NATIVE
from whorl.lowering.storage import rows_type
from whorl.lowering.strings import can_number_strings, has_strings
from whorl.ops.control.flow import If, Loop

MOST_VALUES = 1024
"""Inputs and outputs of a node in a subgraph: memory is planned by looking at all pairs."""


def is_native_candidate(node: Node) -> bool:
    """Whether a subgraph may have a node: one with a native form, all values tensors of element types with code.

    Sequences of tensors count as their rows.
    """
    made = () if node.op.keys_of_rows else node.outputs
    values = [v for v in (*node.inputs, *made) if v is not None]
    known = NATIVE | {STRING} if can_number_strings(node.op) else NATIVE
    if (
        not node.outputs
        or len(values) > MOST_VALUES
        or not all(isinstance(t := rows_type(v.type), TensorType) and t.dtype in known for v in values)
    ):
        return False
    if isinstance(node.op, If | Loop):
        inner = [n for region in node.regions for n in region.nodes]
        return all(isinstance(n.op, Constant) or is_native_candidate(n) for n in inner)
    return has_native_form(node) and not node.regions


def has_native_form(node: Node) -> bool:
    """Whether the op of a node may have one, or another op with numbers in the place of strings."""
    kind = type(node.op)
    if kind.lower is not Op.lower or kind.decompose is not Op.decompose or node.op.keys_of_rows:
        return True
    return kind.numbered is not Op.numbered and any(map(has_strings, (*node.inputs, *node.outputs)))


def has_loop(node: Node) -> bool:
    return isinstance(node.op, Loop) or any(has_loop(n) for region in node.regions for n in region.nodes)


def trip_counts(nodes: Sequence[Node], inputs: Sequence[Value]) -> list[int]:
    """The inputs that say how many rows a loop collects, whose memory is then there before it begins."""
    counted = {
        node.inputs[0]
        for node in nodes
        if isinstance(node.op, Loop) and node.op.collected and not node.op.scanned and not node.op.may_stop(node)
    }
    for node in reversed(nodes):
        if not node.regions and not counted.isdisjoint(node.outputs):
            counted.update(node.inputs)
    return [n for n, value in enumerate(inputs) if value in counted and _is_one_integer(value.type)]


def _is_one_integer(type: Type) -> bool:
    is_one = isinstance(type, TensorType) and type.shape in ((), (1,))
    return is_one and isinstance(type, TensorType) and type.dtype in INTEGERS
