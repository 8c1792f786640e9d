"""Going through regions and putting values in the place of others; every value keeps a type that inference gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dims import Linear, names_in
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.infer import Inference, names_of
from whorl.ir.types import AnyShape, TensorType

Visit = Callable[[Node, Builder], "Sequence[Value | None] | None"]
"""Gives the values that take the places of a node's outputs (None for an output that nobody reads), or None where the
node stays. What it adds through the builder goes before the node, whose inputs are already the new ones."""


def rewrite(region: Region, inference: Inference, visit: Visit) -> bool:
    """Visit every node of a region once, in order, then what is inside those that stay; whether anything changed.

    A node is inferred anew where an input of it was replaced, or has another type or other known elements. `visit`
    sees values in the form they have then, so rules may look from a node to the nodes that make its inputs.
    """
    return _Walk(region, inference, visit).run()


class _Walk:
    """One walk through one region."""

    def __init__(self, region: Region, inference: Inference, visit: Visit) -> None:
        self.region, self.inference, self.visit = region, inference, visit
        self.replaced: dict[Value, Value] = {}
        self.changed: set[Value] = set()

    def run(self) -> bool:
        region, old = self.region, self.region.nodes
        build = Builder(region, self.inference)
        region.nodes = []
        edited = False
        for position, node in enumerate(old):
            try:
                edited |= self._node(node, build)
            except BaseException:
                region.nodes += old[position:]
                raise
        region.results = [self.replaced.get(value, value) for value in region.results]
        return edited

    def _node(self, node: Node, build: Builder) -> bool:
        if (self.replaced or self.changed) and self._update_inputs(node):
            self._infer(node)
        values = self.visit(node, build)
        if values is not None:
            pairs = zip(node.outputs, values, strict=False)
            self.replaced.update((old, new) for old, new in pairs if new is not None and new is not old)
            return True
        edited = [rewrite(region, self.inference, self.visit) for region in node.regions]
        if any(edited):
            self._infer(node)
        self.region.nodes.append(node)
        return any(edited)

    def _update_inputs(self, node: Node) -> bool:
        """Put new values in the place of old ones; whether an input is other than it was."""
        dirty = False
        for index, value in enumerate(node.inputs):
            if value in self.replaced:
                node.inputs[index] = value = self.replaced[value]
                dirty = True
            dirty = dirty or value in self.changed
        return dirty

    def _infer(self, node: Node) -> None:
        before = [(value.type, value.known) for value in node.outputs]
        self.inference.visited.clear()
        self.inference.node(node)
        for value, (type, known) in zip(node.outputs, before, strict=True):
            if value.type != type or not _same_elements(value.known, known):
                self.changed.add(value)


def _same_elements(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and a.tolist() == b.tolist()


def resumed_inference(module: Module) -> Inference:
    """Inference that goes on where the one that typed the module ended: dims keep their names.

    As inside bodies, what it finds ill-shaped is left to fail when it runs.
    """
    inference = Inference(names_of(module.main.arguments))
    inference.depth = 1
    regions = [module.main]
    while regions:
        region = regions.pop()
        for value in region.arguments:
            _note_names(value, inference)
        for node in region.nodes:
            for value in node.outputs:
                _note_names(value, inference)
            regions += node.regions
    return inference


def _note_names(value: Value, inference: Inference) -> None:
    """Remember the names that a value's type mentions, and those that were given to this very value."""
    type = value.type
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return
    for axis, dim in enumerate(type.shape):
        if not isinstance(dim, Linear):
            continue
        names = names_in(dim)
        inference.used |= names
        for text in names:
            if text.partition("'")[0] == f"{value.name}.{axis}":
                inference.owners.setdefault(text, value)


def count_uses(region: Region) -> Counter[Value]:
    """How often each value of a region is read by its nodes and results."""
    uses: Counter[Value] = Counter(region.results)
    for node in region.nodes:
        uses.update(value for value in node.inputs if value is not None)
    return uses
