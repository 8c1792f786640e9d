"""Consumers of the values of a region: the ops that take a value first, and how many nests compute with it.

A costly value that several nests read is materialised; one whose readers are all in one nest is computed there, once an
element, in a register.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from msgspec import Struct

from whorl.ir.graph import Op, Region, Value
from whorl.ir.native.view import View
from whorl.lowering.builder import FUNCTION_COST, KernelBuilder
from whorl.ops.core.base import Elementwise
from whorl.ops.elementwise.arithmetic import Identity

MATERIALIZE_SHARED_COST = FUNCTION_COST + 1
"""Cost per element above which a value with several consumers is materialised."""


class Readers(Struct, frozen=True):
    """For each value, the ops that read it as their first input, and what ends the elementwise chains that begin there.

    A chain ends at a node that is not elementwise, or among the region's results of a shape, which one nest computes.
    `broadcasts` is how many nodes read it as elements of a larger tensor, each of them many times.
    """

    first: dict[Value, list[Op]]
    ends: dict[Value, frozenset[object]]
    broadcasts: Counter[Value]

    @classmethod
    def of(cls, region: Region) -> Readers:
        first: defaultdict[Value, list[Op]] = defaultdict(list)
        ends: defaultdict[Value, frozenset[object]] = defaultdict(frozenset)
        broadcasts = Counter[Value]()
        for value in region.results:
            ends[value] |= {_shape(value)}
        for node in reversed(region.nodes):
            if node.inputs and node.inputs[0] is not None:
                first[node.inputs[0]].append(node.op)
            through = isinstance(node.op, Elementwise | Identity)
            chain_ends = frozenset[object]().union(*(ends[v] for v in node.outputs)) if through else frozenset((node,))
            for value in node.inputs:
                if value is not None:
                    ends[value] |= chain_ends
            if isinstance(node.op, Elementwise):
                broadcasts.update(v for v in node.inputs if v is not None and _shape(v) != _shape(node.outputs[0]))
        return cls(dict(first), dict(ends), broadcasts)

    def materialise(self, value: Value, view: View, k: KernelBuilder) -> View:
        """The tensor materialised, if several nests would compute it at a cost; within one nest, each element once."""
        ends = self.ends.get(value, frozenset())
        if k.shape_in_run(view.shape) is None or view.size == 1 or view.buffer is not None:
            return k.materialise_costly(view)
        if self.broadcasts[value] > 1:
            return k.materialise_reread(view)
        if ends == frozenset[object]((_shape(value),)):
            return k.cache_in_nest(view)
        return (
            k.materialise(view)
            if len(ends) > 1 and view.cost >= MATERIALIZE_SHARED_COST
            else k.materialise_costly(view)
        )


def _shape(value: Value) -> object:
    return getattr(value.type, "shape", None)
