"""Nodes that their own types refuse: legal in a body or a branch that never runs, and an error once one is reached.

Lowering such a node would rely on rules that do not hold of its types. It becomes an op without a native form instead,
and `run` gives the error where it is reached.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from whorl.ir.graph import Node, Op


class IllTyped(Op, frozen=True):
    """An op without a native form: what lowering and decomposition may rely on does not hold of its types."""

    abstract: ClassVar[bool] = True

    op: Op

    @property
    def name(self) -> str:
        return self.op.name

    def run(self, *inputs: Any) -> Any:
        return self.op.run(*inputs)


def set_aside(nodes: Iterable[Node]) -> None:
    """Leave these nodes to `run`, which decides when they are reached."""
    for node in nodes:
        node.op = IllTyped(node.op)
