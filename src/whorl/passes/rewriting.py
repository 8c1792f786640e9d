"""What rules work with: who reads a value, new nodes that are simplified at once, and what goes when a node goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whorl.ir.build import UNTYPED, Builder
from whorl.ir.constants import Constant
from whorl.ir.graph import Module, Node, Op, Region, Value, as_value
from whorl.ir.rewrite import count_uses, rewrite
from whorl.passes.context import Context
from whorl.passes.rules.pattern import RuleSet

Fold = Callable[[Node, Builder, Context], "Sequence[Value | None] | None"]
"""Gives the values that take the places of a node's outputs; None where the node stays."""
_REWRITES_PER_NODE = 20
"""Rules that may be applied in one walk for each node there is: a bound for rule sets that would not end."""
_DEEPEST = 40
"""Rules that may be applied inside each other: to nodes that the one around makes."""


def apply_rules(module: Module, context: Context, rules: RuleSet, fold: Fold, *, is_folded: bool = False) -> None:
    """Walk through every region once, each node after what makes its inputs, and apply the first rule that fits.

    What a rule makes is visited at once, so that a chain is simplified from its beginning to its end in one walk.
    `fold` is asked before any rule; where the module `is_folded` already, only of nodes that are new or read such.
    """
    rewriters: dict[Region, RegionRewriter] = {}
    regions = [module.main]
    while regions:
        region = regions.pop()
        rewriters[region] = RegionRewriter(region, rules, context, fold, is_folded)
        regions += (inner for node in region.nodes for inner in node.regions)
    rewrite(module.main, context.inference, lambda node, build: rewriters[build.region].visit(node, build))


class RegionRewriter:
    """The rules at work in one region."""

    def __init__(self, region: Region, rules: RuleSet, context: Context, fold: Fold, is_folded: bool) -> None:
        self.rules, self.context, self.fold, self.is_folded = rules, context, fold, is_folded
        self.no_match_above: dict[type[Op], set[Value]] = {}
        """Negative cache: values whose producers were searched in vain, by op kind. A search walks the whole chain."""
        self._counts = count_uses(region)
        self._build = Builder(region, context.inference)
        self._gone: set[Node] = set()
        self._new: set[Value | None] = set()
        self._hint = ""
        self._depth = 0
        self._budget = _REWRITES_PER_NODE * (1 + len(region.nodes))

    def visit(self, node: Node, build: Builder) -> Sequence[Value | None] | None:
        """The values that take the places of a node's outputs; None where it stays."""
        if isinstance(node.op, Constant):
            return None
        self._build = build
        values = self._simplified(node) if self._budget > 0 and self._depth < _DEEPEST else None
        if values is None:
            return None
        for old, new in zip(node.outputs, values, strict=False):
            if new is not None and new is not old:
                self._counts[new] += self._counts.pop(old, 0)
                self._new.add(new)
        self._release(node)
        return values

    def uses(self, value: Value) -> int:
        """How many times nodes and results of the region read a value."""
        return self._counts[value]

    def add(self, op: Op, inputs: Sequence[Value | None], outputs: int = 1) -> list[Value]:
        """The outputs of a new node, simplified at once: they may be those of other nodes."""
        node = Node(op, inputs)
        node.outputs = [Value(self._hint, UNTYPED, node, index) for index in range(outputs)]
        self.context.inference.node(node)
        return self.emit(node)

    def emit(self, node: Node) -> list[Value]:
        """What a typed node that was made elsewhere becomes here."""
        self._read(node.inputs)
        self._new.update(node.outputs)
        values = self.visit(node, self._build)
        if values is None:
            self._build.region.nodes.append(node)
            return node.outputs
        return [old if new is None else new for old, new in zip(node.outputs, values, strict=True)]

    def constant(self, value: Any) -> Value:
        """A new constant; NumPy gives a scalar where an array of rank 0 is meant."""
        constant = self._build.constant(as_value(value), self._hint)
        self._new.add(constant)
        return constant

    def _simplified(self, node: Node) -> Sequence[Value | None] | None:
        before, self._hint = self._hint, node.outputs[0].name if node.outputs else ""
        self._depth += 1
        try:
            return self._folded(node) or self._ruled(node)
        finally:
            self._hint = before
            self._depth -= 1

    def _folded(self, node: Node) -> Sequence[Value | None] | None:
        """The constants that a node gives, if it was not asked for them before."""
        if self.is_folded and self._new.isdisjoint(node.inputs) and self._new.isdisjoint(node.outputs):
            return None
        return self.fold(node, self._build, self.context)

    def _ruled(self, node: Node) -> Sequence[Value] | None:
        for rule in self.rules[node.op]:
            values = rule.apply(node, self)
            if values is not None and self.context.may_edit(rule.name):
                self._budget -= 1
                return values
        return None

    def _read(self, values: Sequence[Value | None]) -> None:
        """Count a reader of values; nodes that were gone are back."""
        for value in values:
            if value is None:
                continue
            self._counts[value] += 1
            if isinstance(value.owner, Node) and value.owner in self._gone:
                self._gone.discard(value.owner)
                self._read(value.owner.inputs)

    def _release(self, node: Node) -> None:
        """A node is gone: what only it read has no readers any more, and so on."""
        pending = [node]
        while pending:
            for value in pending.pop().inputs:
                if value is None:
                    continue
                self._counts[value] -= 1
                owner = value.owner
                if isinstance(owner, Node) and self._is_gone(owner):
                    self._gone.add(owner)
                    pending.append(owner)

    def _is_gone(self, node: Node) -> bool:
        if node in self._gone or not node.op.pure or node.regions:
            return False
        return not any(self._counts[value] for value in node.outputs)
