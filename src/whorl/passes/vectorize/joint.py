"""Carried values that have a closed form together, as h and c of an LSTM: layers in the place of their updates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from msgspec import Struct

from whorl.errors import TypeRuleError
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import TensorType
from whorl.ops.elementwise.comparison import Where
from whorl.ops.recurrent.rnn import GRU
from whorl.passes.vectorize.batched import Batched, CannotVectorize
from whorl.passes.vectorize.branches import selection_of
from whorl.passes.vectorize.cells import Reader, layer_of
from whorl.passes.vectorize.layer_steps import layer_of_steps
from whorl.passes.vectorize.layers import Layer, Mask, run_layer
from whorl.passes.vectorize.linear_maps import dependents_of
from whorl.passes.vectorize.masks import masked_update
from whorl.passes.vectorize.stacks import Stacks


class Closed(Struct, frozen=True):
    """What a layer makes known: values of the body for all iterations, and the last of what is carried, by number."""

    title: str
    known: Mapping[Value, Batched]
    final: Mapping[int, Value]
    nodes: set[Node]
    """Nodes of the body that the layer is, where nothing else needs them."""


class Carried(Struct, frozen=True):
    """The body of a loop: what it carries, what is known for all iterations, and nodes that are not computed yet."""

    body: Region
    states: Sequence[Value]
    firsts: Sequence[Value]
    known: Mapping[Value, Batched]
    pending: Sequence[Node]
    stacks: Stacks

    def close(self, left: Sequence[int]) -> Closed | None:
        """The layer that some of the carried values are. Errors: CannotVectorize where it has no form here."""
        build, reason = self.stacks.build, ""
        for chosen in self._choices(left):
            before = len(build.region.nodes)
            try:
                closed = self._layer(chosen)
            except (CannotVectorize, TypeRuleError) as why:
                closed, reason = None, str(why)
            if closed is not None:
                return closed
            del build.region.nodes[before:]
        if reason:
            raise CannotVectorize(reason)
        return None

    def _choices(self, left: Sequence[int]) -> Iterator[Sequence[int]]:
        tensors = [k for k in left if isinstance(self.states[k].type, TensorType)]
        yield from permutations(tensors, 2)
        yield from ([k] for k in tensors)

    def _layer(self, chosen: Sequence[int]) -> Closed | None:
        states, firsts = [self.states[k] for k in chosen], [self.firsts[k] for k in chosen]
        outer = [self.body.results[1 + k] for k in chosen]
        number = self.body.arguments[0]
        masked = [masked_update(*pair, number, self.known) for pair in zip(states, outer, strict=True)]
        mask = None if masked[0] is None else masked[0][0]
        if any((each and each[0]) != mask for each in masked):
            return None
        updates = [update if each is None else each[1] for update, each in zip(outer, masked, strict=True)]
        layer = layer_of_steps(chosen, states, updates, self.known, self.stacks, mask)
        if layer is None:
            layer = layer_of(chosen, states, updates, Reader(self.body, self.known, self.stacks, firsts[0]), mask)
        if layer is None:
            return None
        nodes = self._nodes(states, outer)
        read = self._read(nodes, states, {*chosen})
        hidden = dependents_of(self.body, {*states[1:]}) - {updates[0], outer[0]}
        if read & hidden or not self._reads_where_rows_go_on(updates[0], outer[0], mask, nodes):
            return None
        return self._close(
            layer, firsts, updates[0], outer[0], states[0] if read - {updates[0], outer[0]} else None, nodes
        )

    def _close(
        self, layer: Layer, firsts: Sequence[Value], update: Value, outer: Value, state: Value | None, nodes: set[Node]
    ) -> Closed:
        stacks, run = self.stacks, run_layer(layer, self.stacks, firsts)
        known = {update: Batched(run.rows)}
        after = run.rows
        if layer.mask is not None:
            after = self._after(layer.mask, run.rows, run.last[0])
            known[outer] = Batched(after)
        if state is not None:
            known[state] = Batched(stacks.first(stacks.after(firsts[0], after), stacks.count))
        final = dict(zip(layer.states, run.last, strict=True))
        title = f"{'a' if isinstance(layer.op, GRU) else 'an'} {layer.op.name}"
        return Closed(title, known, final, set() if state is not None else nodes)

    def _after(self, mask: Mask, rows: Value, last: Value) -> Value:
        """h after each iteration: where a row has stopped, the last one."""
        condition = self.known[mask.condition]
        pair = (rows, last) if mask.goes_on else (last, rows)
        return self.stacks.build.add(Where(), condition.value, *pair, name=rows.name)

    # ---- who reads what ----------------------------------------------------------------------------------------

    def _nodes(self, states: Sequence[Value], updates: Sequence[Value]) -> set[Node]:
        """The nodes between states and updates."""
        dependents = dependents_of(self.body, {*states})
        needed, nodes = {*updates}, set[Node]()
        for node in reversed(self.body.nodes):
            if not needed.isdisjoint(node.outputs) and not dependents.isdisjoint(node.outputs):
                nodes.add(node)
                needed.update(value for value in node.inputs if value is not None)
        return nodes

    def _read(self, nodes: set[Node], states: Sequence[Value], chosen: set[int]) -> set[Value]:
        """The states, and values on the way to their updates, that something else reads."""
        own = {*states, *(value for node in nodes for value in node.outputs)}
        read = {value for node in self.pending if node not in nodes for value in node.inputs if value is not None}
        read.update(value for n, value in enumerate(self.body.results) if n - 1 not in chosen)
        return own & read

    def _reads_where_rows_go_on(self, update: Value, outer: Value, mask: Mask | None, nodes: set[Node]) -> bool:
        """Whether what rows that have stopped would become is only read where they go on."""
        if mask is None:
            return True
        if any(value is update for value in self.body.results):
            return False
        for node in self.pending:
            if update in node.inputs and outer not in node.outputs and node not in nodes:
                selection = selection_of(node)
                if selection is None or selection[0] is not mask.condition or selection[2 - mask.goes_on] is not update:
                    return False
                if selection[1 + mask.goes_on] is update:
                    return False
        return True
