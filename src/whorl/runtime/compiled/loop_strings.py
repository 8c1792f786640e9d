"""A Loop that runs alone, with numbers in the place of strings: what enters it, and what comes back."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.ir.constants import Constant
from whorl.ir.dtypes import STRING
from whorl.ir.forking import import_whole
from whorl.ir.graph import Node, Value
from whorl.lowering.strings import has_strings, number_strings
from whorl.ops.control.flow import Loop
from whorl.ops.control.iteration import Iteration
from whorl.runtime.compiled.program_cache import region_of
from whorl.runtime.values import is_sequence

Own = dict[str, int]


class NumberedLoop:
    """A Loop on numbers, `node`, that does what one on strings does; the very same where there are none.

    Raises Unsupported where something inside reads more of strings than which are equal.
    """

    def __init__(self, node: Node) -> None:
        owners = {v: v.owner for v in node.inputs if v is not None}
        constants = {v: owner for v, owner in owners.items() if isinstance(owner, Node) and _is_constant(owner)}
        inputs = [v for v in owners if v not in constants]
        region = region_of([node], inputs, node.outputs, [*constants.values()])
        strings = number_strings(region)
        self.node, self.table = node, None
        if strings is None:
            return
        self.node = region.nodes[-1]
        self.table = import_whole("whorl.runtime.compiled.strings").StringTable(strings)
        assert isinstance(node.op, Loop)
        carried, after = node.outputs[: node.op.carried], node.outputs[node.op.carried :]
        self.carried = _positions(carried)
        self.last, self.collected = _positions(after[: node.op.last]), _positions(after[node.op.last :])

    def enter(self, iteration: Iteration) -> tuple[Iteration, Own] | None:
        """The iteration with numbers, which shares nothing with it that changes, and the strings of this run alone.

        None where an element is no string.
        """
        own = Own()
        if self.table is None:
            return iteration, own
        result = copy.copy(iteration)
        result.elements = [[] for _ in iteration.elements]
        try:
            result.state, result.rows, result.captured = (
                [self._encode(x, own) for x in values]
                for values in (iteration.state, iteration.rows, iteration.captured)
            )
        except TypeError:
            return None
        return result, own

    def _encode(self, value: Any, own: Own) -> Any:
        assert self.table is not None
        if is_sequence(value):
            return [self._encode(x, own) for x in value]
        return self.table.encode_array(value, own) if value.dtype == STRING else value

    def leave(self, numbered: Iteration, iteration: Iteration, own: Own) -> None:
        """Let an iteration stand where the one with numbers stands."""
        if numbered is iteration:
            return
        iteration.index, iteration.go_on = numbered.index, numbered.go_on
        iteration.state = self._decode(numbered.state, self.carried, own)
        iteration.last = self._decode(numbered.last, self.last, own)
        for elements, more in zip(iteration.elements, self.decode_rows(numbered.elements, own), strict=True):
            elements.extend(more)

    def decode_rows(self, rows: Sequence[Any], own: Own) -> list[Any]:
        """What iterations collected."""
        return [*rows] if self.table is None else self._decode(rows, self.collected, own)

    def _decode(self, values: Sequence[Any], positions: Sequence[int], own: Own) -> list[Any]:
        return [self._decoded(x, [*own]) if n in positions else x for n, x in enumerate(values)]

    def _decoded(self, value: Any, own: Sequence[str]) -> Any:
        assert self.table is not None
        if is_sequence(value):
            return [self._decoded(x, own) for x in value]
        return self.table.decode_array(np.asarray(value), own)


def _is_constant(node: Node) -> bool:
    return isinstance(node.op, Constant)


def _positions(values: Sequence[Value]) -> list[int]:
    return [n for n, value in enumerate(values) if has_strings(value)]
