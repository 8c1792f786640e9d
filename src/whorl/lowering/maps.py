"""Maps as rows: a list of maps with the same keys leaves a program as the table of its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from whorl.errors import RunError
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.lowering.graph_program import Keys
from whorl.ops.core.base import length_of


class Table(Op, frozen=True):
    """The input as rows of so many elements; a vector is one row."""

    abstract: ClassVar[bool] = True
    any_length = True

    columns: int

    def infer(self, x: Fact) -> TensorType:
        operand = tensor(x)
        is_table = not isinstance(operand.shape, AnyShape) and len(operand.shape) == 2
        return operand.with_shape((length_of(x, 0) if is_table else 1, self.columns))

    def run(self, x: np.ndarray) -> np.ndarray:
        rows = np.atleast_2d(x)
        if rows.shape != (len(rows), self.columns):
            raise RunError(f"{list(x.shape)} are no rows of {self.columns}")
        return rows

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x,) = inputs
        if len(x.shape) not in (1, 2):
            return None
        k.fail_unless(k.compare("eq", k.length(x.shape[-1]), k.const(self.columns)))
        rows = x.shape[0] if len(x.shape) == 2 else 1
        return [k.view(x.dtype, (rows, self.columns), lambda index: x.at(index[-len(x.shape) :]), x.cost, k.flat(x))]


def open_maps(region: Region) -> tuple[tuple[int, Keys], ...]:
    """Let the tables of results that are lists of maps be the results; where those are, and the keys of each row."""
    opened: list[tuple[int, Keys]] = []
    for position, value in enumerate(region.results):
        owner = value.owner
        keys = owner.op.keys_of_rows if isinstance(owner, Node) else ()
        if isinstance(owner, Node) and keys:
            (rows,), op = owner.inputs, Table(len(keys))
            assert rows is not None
            table = Node(op, [rows], (), owner.name)
            table.outputs = [Value(value.name, op.infer(rows), table, 0)]
            region.nodes.append(table)
            region.results[position] = table.outputs[0]
            opened.append((position, keys))
    return tuple(opened)
