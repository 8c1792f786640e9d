"""Batching rules of recurrent ops: rows are more sequences of the batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.recurrent.rnn import GRU, LSTM, RNN
from whorl.passes.vectorize.batched import Batched, Operands
from whorl.passes.vectorize.rules.folding import batch_folded
from whorl.passes.vectorize.rules.rule import Rule


def batch_recurrent(op: RNN | GRU | LSTM, operands: Operands, build: Builder) -> Sequence[Batched]:
    """`layout` says which axis the batch is; weights are shared."""
    batch = 0 if op.layout else 1
    states = 2 if isinstance(op, LSTM) else 1
    axes = (batch, None, None, None, 0, *(batch,) * states)
    return batch_folded(op, operands, axes, (0 if op.layout else 2, *(batch,) * states), build)


RULES: Mapping[type[Op], Rule] = dict[type[Op], Rule].fromkeys((RNN, GRU, LSTM), batch_recurrent)
