"""The memory of hoisted values: they lie there while a loop runs, where the body may make one element at a time.

So they have a limit together, and what is much larger than all that it is made of, say by broadcasting, remains in the
loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whorl.ir.graph import Node, Region, Value
from whorl.passes.rules.conditions import size_in_bytes

LIGHT = 1 << 16
"""Bytes of operands and results up to which a node is computed also where its results may not be read."""
SMALL = 1 << 20
"""Bytes that a hoisted value may have, whatever it is made of."""
GROWTH = 4
"""A larger one may have so many times the bytes of what it is made of."""


def is_light(node: Node) -> bool:
    """Whether the operands and results of a node are small tensors of known lengths."""
    sizes = [size_in_bytes(value.type) for value in (*node.inputs, *node.outputs) if value is not None]
    return sum(size or 0 for size in sizes) <= LIGHT and None not in sizes


def affordable(region: Region, moved: Sequence[Node], most: int) -> list[Node]:
    """Those of the nodes to be hoisted whose results, as far as the rest of the region reads them, may lie in memory.

    `most`: bytes of all results together. Results of unknown lengths do not count.
    """
    sources = _sources(moved)
    while moved:
        results = _read_outside(region, moved)
        total = sum(_size(value) for value in results)
        spread = [v for v in results if _size(v) > max(SMALL, GROWTH * sum(map(_size, sources[v])))]
        if total <= most and not spread:
            break
        moved = _without(moved, spread or [max(results, key=_size)])
    return list(moved)


def _sources(moved: Iterable[Node]) -> dict[Value, set[Value]]:
    """What each result of the nodes is made of: values of which none is a result of them."""
    sources: dict[Value, set[Value]] = {}
    for node in moved:
        inputs = [sources.get(value, {value}) for value in node.inputs if value is not None]
        sources.update(dict.fromkeys(node.outputs, set[Value]().union(*inputs)))
    return sources


def _read_outside(region: Region, moved: Sequence[Node]) -> list[Value]:
    """The results of nodes that other nodes of their region, or its own results, read."""
    nodes = set(moved)
    read = set[Value | None](region.results).union(*(n.inputs for n in region.nodes if n not in nodes))
    return [value for node in moved for value in node.outputs if value in read]


def _without(moved: Sequence[Node], values: Iterable[Value]) -> list[Node]:
    """The nodes but for those that make the values, or follow from them."""
    gone: set[Value | None] = set(values)
    remaining: list[Node] = []
    for node in moved:
        if gone.isdisjoint(node.outputs) and gone.isdisjoint(node.inputs):
            remaining.append(node)
        else:
            gone.update(node.outputs)
    return remaining


def _size(value: Value) -> int:
    return size_in_bytes(value.type) or 0
