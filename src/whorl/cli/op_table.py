"""How many nodes of each op a model has, before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from whorl.ir.constants import Constant
from whorl.ir.graph import Module

Counts = Mapping[str, int]


def count_ops(module: Module) -> Counter[str]:
    """The nodes of each op, in bodies and branches too; constants are none."""
    return Counter(node.op.name for node in module.nodes() if not isinstance(node.op, Constant))


def op_lines(before: Counts, after: Counts) -> list[str]:
    """A table of the ops whose number changed, the greatest change first; nothing where there are none."""
    changed = [name for name in {**before, **after} if before.get(name, 0) != after.get(name, 0)]
    changed.sort(key=lambda name: (-abs(before.get(name, 0) - after.get(name, 0)), name))
    if not changed:
        return []
    width = max(len("op"), *map(len, changed))
    rows = [f"  {name:<{width}} {before.get(name, 0):>7} {after.get(name, 0):>7}" for name in changed]
    return [f"  {'op':<{width}} {'before':>7} {'after':>7}", *rows]


def op_document(before: Counts, after: Counts) -> dict[str, dict[str, int]]:
    """The numbers of all ops, before and after."""
    return {name: {"before": before.get(name, 0), "after": after.get(name, 0)} for name in sorted({*before, *after})}
