"""Clocks between the nodes of every region: how long each took, as an output of the model.

A region has a table of its own, which the loops and branches around it carry. Elementwise nodes, which native code
would compute together where they are read, are each computed before the clock behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from msgspec import Struct

from whorl.ir.constants import Constant
from whorl.ir.dtypes import INT64, STRING
from whorl.ir.graph import Module, Node, Op, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType, tensor
from whorl.kernels.clock.meaning import COLUMNS, FIRST, INTERPRETED, TICKS, table_size
from whorl.ops.core.base import Elementwise
from whorl.passes.expose.adding import Captures, add, add_output, constant
from whorl.passes.expose.carrying import carry
from whorl.passes.expose.scopes import Scope

BEFORE, READING = 0, 1
"""Rows of a table: what lies before the first node of a region, and what it takes to read the clock."""


Clock = Callable[[], int]
"""Gives the ticks of a clock."""


class Tick(Op, frozen=True):
    """A table with the time since the last Tick added to a row; the first of a region counts what was before it.

    Machine code reads the processor's clock. The last Tick may have been native where this one is not, so Python has to
    read the same one, by `clock`.
    """

    abstract: ClassVar[bool] = True
    pure = False
    overwrites = 0

    row: int
    clock: Clock

    def infer(self, table: Fact) -> TensorType:
        return tensor(table)

    def run(self, table: np.ndarray) -> np.ndarray:
        now, start = self.clock(), FIRST + COLUMNS * self.row
        table = table.copy()
        table[start + TICKS] += now - table[0]
        table[start + INTERPRETED] += 1
        table[0] = self.clock()
        return table

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (size,) = inputs[0].shape
        buffer = k.writable(inputs[0])
        assert isinstance(size, int)
        k.call("count_ticks", [(buffer, (k.const(0),))], (self.row, (size - FIRST) // COLUMNS))
        return [k.view_of(buffer, (size,))]


class TickBehind(Tick, frozen=True):
    """As Tick, once a value is computed: also gives that value, in memory."""

    abstract: ClassVar[bool] = True

    def infer(self, table: Fact, value: Fact) -> tuple[TensorType, TensorType]:  # type: ignore[override]
        return tensor(table), tensor(value)

    def run(self, table: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[override]
        return Tick.run(self, table), value

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        value = k.materialise(inputs[1])
        table = Tick.lower(self, k, Operands([inputs[0]]), outputs[:1])
        return None if table is None else [*table, value]


class Timed(Struct, frozen=True, eq=False):
    """A region with clocks: its scope in the module that was not edited, the nodes of its rows, the table's output."""

    scope: Scope
    nodes: list[Node]
    output: str


def add_clocks(module: Module, scopes: Sequence[Scope], originals: Sequence[Scope], clock: Clock) -> list[Timed]:
    """Read the clock between the nodes of regions, in place; `originals` are the same scopes of the module before.

    `clock` is what Python reads: `codegen.clock.cycle_counter` unless all is interpreted.

    `retype` has to follow.
    """
    nodes = {scope: [node for node in scope.region.nodes if not isinstance(node.op, Constant)] for scope in scopes}
    timed: list[Timed] = []
    for scope, original in zip(scopes, originals, strict=True):
        own = nodes[scope]
        size = table_size(READING + 1 + len(own))
        initial = constant(module.main, np.zeros(size, np.int64))

        def update(tables: Sequence[Value], scope: Scope = scope, own: Sequence[Node] = own) -> list[Value]:
            return [_read_between(scope, own, tables[0], clock)]

        result = carry(scope.chain, [initial], [TensorType(INT64, (size,))], Captures(), update)[0]
        shown = [node for node in original.region.nodes if not isinstance(node.op, Constant)]
        timed.append(Timed(original, shown, add_output(module, result)))
    return timed


def _read_between(scope: Scope, nodes: Sequence[Node], table: Value, clock: Clock) -> Value:
    """Put clocks before the first of some nodes of a region, and after each; the last table."""
    region = scope.region
    chosen = {id(node) for node in nodes}
    position = region.nodes.index(nodes[0]) if nodes else len(region.nodes)
    before, after = region.nodes[:position], region.nodes[position:]
    region.nodes = before
    for row in (BEFORE, READING):
        table = add(region, Tick(row, clock), table)
    row = READING
    copies: dict[Value, Value] = {}
    for node in after:
        node.inputs = [value if value is None else copies.get(value, value) for value in node.inputs]
        region.nodes.append(node)
        if id(node) not in chosen:
            continue
        row += 1
        if not _is_computed_elsewhere(node):
            table = add(region, Tick(row, clock), table)
            continue
        (value,) = node.outputs
        table = add(region, TickBehind(row, clock), table, value, outputs=2)
        assert isinstance(table.owner, Node)
        copies[value] = table.owner.outputs[1]
        copies[value].type, copies[value].name = value.type, value.name
    region.results = [copies.get(value, value) for value in region.results]
    return table


def _is_computed_elsewhere(node: Node) -> bool:
    """Whether native code may compute a node where it is read."""
    type = node.outputs[0].type if len(node.outputs) == 1 else None
    return isinstance(node.op, Elementwise) and isinstance(type, TensorType) and type.dtype != STRING
