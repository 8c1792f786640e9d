"""Where two sides differ first, as far as the outputs of a model alone tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.api.tracing.differing import Difference, Tolerances, measure
from whorl.api.tracing.reordering import Reordering
from whorl.ir.graph import Module, Node, Value
from whorl.ops.control.flow import Collected, Loop
from whorl.passes.expose.scopes import name_of_node


class Operand(Struct, frozen=True):
    """A value that a node reads, on both sides; `theirs` is None where the other model has no such node."""

    name: str
    ours: Any
    theirs: Any


class First(Struct, frozen=True):
    """Where two sides differ first.

    `loops`: the paths of the loops around, outermost first, with the iteration of each. `node` and `value` are what
    differs there first, `output` the value of the main graph through which that shows. `note` says what else is known,
    `reordering` what another order of the node's sums can do.
    """

    output: str
    loops: list[tuple[str, int]]
    node: str
    value: str
    difference: Difference | None = None
    operands: list[Operand] = []
    note: str = ""
    reordering: Reordering | None = None


def first_output(module: Module, ours: Sequence[Any], theirs: Sequence[Any], tolerances: Tolerances) -> First | None:
    """The first output that differs; of a loop also the iteration, where one of its outputs tells it.

    Where a loop collects fewer rows on one side, that is the iteration that only the other one makes.
    """
    results = module.main.results
    differences = [measure(a, b, tolerances) for a, b in zip(ours, theirs, strict=False)]
    different = [(k, each) for k, each in enumerate(differences) if each is not None]
    if not different:
        return None
    first, difference = different[0]
    node = results[first].owner
    output = module.output_names[first]
    if not isinstance(node, Node):
        return First(output, [], "", output, difference)
    loops: list[tuple[str, int]] = []
    note = ""
    for k, each in different:
        if results[k].owner is not node or loops:
            continue
        how = _collected(results[k])
        counts = None if how is None else _counts(how, ours[k], theirs[k])
        number = min(counts) if counts else which_iteration(results[k], each)
        note = f"{describe_counts(*counts)}; " if counts else ""
        loops = [] if number is None else [(name_of_node(node), number)]
    return First(output, loops, node.title, output, difference, note=note)


def describe_counts(ours: int, theirs: int) -> str:
    """That a loop makes other numbers of iterations."""
    return f"the loop makes {ours} iterations here, {theirs} there"


def which_iteration(value: Value, difference: Difference) -> int | None:
    """The iteration that the first element to differ of a collected value is of, if it is stacked from the front."""
    how = _collected(value)
    if how is None or not how.stack or how.reverse or not difference.index:
        return None
    return difference.index[how.axis % len(difference.index)]


def _collected(value: Value) -> Collected | None:
    node = value.owner
    if not isinstance(node, Node) or not isinstance(node.op, Loop):
        return None
    number = value.index - node.op.carried - node.op.last
    return node.op.collected[number] if number >= 0 else None


def _counts(how: Collected, ours: Any, theirs: Any) -> tuple[int, int] | None:
    """How many elements were stacked on both sides, if that is all that differs of the shapes."""
    a, b = np.shape(ours), np.shape(theirs)
    if not how.stack or len(a) != len(b) or not a:
        return None
    axis = how.axis % len(a)
    same = all(x == y for k, (x, y) in enumerate(zip(a, b, strict=True)) if k != axis)
    return (a[axis], b[axis]) if same and a[axis] != b[axis] else None
