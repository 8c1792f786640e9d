"""Batching rules of attention: rows are more sequences of the batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Op, Value
from whorl.ops.attention.dot_product import Attention
from whorl.ops.attention.linear_attention import CausalConvWithState, LinearAttention
from whorl.ops.attention.rotary import RotaryEmbedding
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.shapes import Expand, Shape
from whorl.passes.vectorize.batched import Batched, Operands, align, give_all_rows, lengths_of, row_count
from whorl.passes.vectorize.rules.folding import batch_folded, folded, length_along
from whorl.passes.vectorize.rules.rule import Rule


def batch_attention(op: Attention, operands: Operands, build: Builder) -> Sequence[Batched]:
    """A mask that is the same for the sequences of a batch gets as many as the rows then are."""
    inputs = list(operands)
    axes: list[int | None] = [0] * len(inputs)
    mask, query = inputs[3] if len(inputs) > 3 else None, inputs[0]
    assert query is not None
    if mask is not None and not _serves_all(mask):
        rows, sequences = row_count(operands, build), length_along(query, 0, build)
        inputs[3] = Batched(_for_sequences(mask, rows, sequences, build))
    elif mask is not None:
        axes[3] = None
    return batch_folded(op, inputs, axes, None, build)


def _serves_all(mask: Batched) -> bool:
    """Whether a mask broadcasts over sequences, however many."""
    return not mask.is_mapped and (mask.rank < 4 or lengths_of(mask.value)[0] == 1)


def _for_sequences(mask: Batched, rows: Value, sequences: Value, build: Builder) -> Value:
    """The mask for each row and each of its sequences."""
    whole = align(Batched(give_all_rows(mask, rows, build)), 4, build)
    rest = build.add(Shape(2), whole, name="shape")
    return build.add(Expand(), whole, build.add(Concat(0), rows, sequences, rest, name="shape"), name="mask")


def batch_rotary(op: RotaryEmbedding, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Without positions, the angles are those of each sequence; with them, of a table."""
    has_positions = len(operands) > 3 and operands[3] is not None
    return batch_folded(op, operands, (0, None, None, 0) if has_positions else (0, 0, 0), None, build)


RULES: Mapping[type[Op], Rule] = {
    Attention: batch_attention,
    RotaryEmbedding: batch_rotary,
    LinearAttention: folded(0, 0, 0, 0, 0, 0),
    CausalConvWithState: folded(0, None, None, 0),
}
