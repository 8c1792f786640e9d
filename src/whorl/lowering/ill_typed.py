"""Nodes that their own types refuse: legal in a body or a branch that never runs, and an error once one is reached.

Lowering such a node would rely on rules that do not hold of its types. A branch that has one is cut short: a run that
takes it fails, and the interpreter says why; what the If gives then has the types of the other branch. Elsewhere the
node becomes an op without a native form, and `run` gives the error where it is reached.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, ClassVar

from whorl.ir.graph import Node, Op, Region, Value, walk
from whorl.ir.types import Type
from whorl.ops.control.flow import If


class IllTyped(Op, frozen=True):
    """An op without a native form: what lowering and decomposition may rely on does not hold of its types."""

    abstract: ClassVar[bool] = True

    op: Op

    @property
    def name(self) -> str:
        return self.op.name

    def run(self, *inputs: Any) -> Any:
        return self.op.run(*inputs)


class Failing(Op, frozen=True):
    """All that is left of a branch with an op that its types refuse: it has no results."""

    abstract: ClassVar[bool] = True
    always_fails = True

    op: Op
    types: tuple[Type, ...]

    @property
    def name(self) -> str:
        return self.op.name

    def infer(self) -> tuple[Type, ...]:
        return self.types


def set_aside(nodes: Iterable[Node]) -> None:
    """Leave these nodes to `run`, which decides when they are reached."""
    for node in nodes:
        node.op = IllTyped(node.op)


def cut_short(region: Region, ill_typed: Collection[Node]) -> bool:
    """Leave of branches inside that surely fail nothing but that, if the other branch may not; whether there were any.

    A failing branch without another one is left to the branch around it.
    """
    changed = False
    for node in [each for each in walk(region) if isinstance(each.op, If)]:
        failing = [_failing_node(inner, ill_typed) for inner in node.regions]
        for cause, inner in zip(failing, node.regions, strict=True):
            if cause is not None and None in failing and not cause.op.always_fails:
                _fail_at(cause, inner)
                changed = True
    return changed


def _failing_node(region: Region, ill_typed: Collection[Node]) -> Node | None:
    """The first node with which every run of a region fails; None where there may be none."""
    for node in region.nodes:
        if node in ill_typed or node.op.always_fails:
            return node
        if isinstance(node.op, If):
            causes = [_failing_node(inner, ill_typed) for inner in node.regions]
            if None not in causes:
                return causes[0]
    return None


def _fail_at(cause: Node, region: Region) -> None:
    types = tuple(value.type for value in region.results)
    node = Node(Failing(cause.op, types), [], (), cause.name)
    node.outputs = [Value(v.name, v.type, node, index) for index, v in enumerate(region.results)]
    region.nodes, region.results = [node], list(node.outputs)
