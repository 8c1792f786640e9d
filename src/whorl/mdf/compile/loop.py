"""Parts of a program: names of inputs and outputs, arguments of a body, and whether a body may run once more."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from whorl.ir.graph import Region, Value
from whorl.ir.types import TensorType
from whorl.mdf.compile.scope import Scope, Traced, lengths
from whorl.mdf.variables import Cell
from whorl.passes.unroll.legality import CannotUnroll, require_speculatable

BATCH = 256
"""About how many parameter sets a batch has."""


def may_run_once_more(body: Region) -> bool:
    """Whether an iteration whose results nobody takes cannot fail."""
    try:
        require_speculatable(body)
    except CannotUnroll:
        return False
    return not any(node.regions for node in body.nodes)


def size_of(values: Iterable[Traced]) -> int:
    """The elements of some values, of a batch as long as many are."""
    return sum(math.prod(n if isinstance(n, int) else BATCH for n in lengths(value)) for value in values)


def rows_after(rows: Mapping[Cell, Traced], body: Scope) -> dict[Cell, Value]:
    """What is recorded at the end of an iteration."""
    return {cell: body.value(value) for cell, value in rows.items()}


def insert_argument(region: Region, at: int, name: str, type: TensorType) -> Value:
    """A new argument before others."""
    argument = region.add_argument(name, type)
    region.arguments.insert(at, region.arguments.pop())
    region.set_arguments(region.arguments)
    return argument


def argument_names(cells: Mapping[Cell, object]) -> dict[Cell, str]:
    """The names of the inputs among some cells."""
    return {cell: value.value.name for cell, value in cells.items() if isinstance(value, Traced)}


def unique(names: Sequence[str]) -> list[str]:
    """The names, with a number behind those that were there before."""
    count: dict[str, int] = {}
    result = []
    for name in names:
        count[name] = count.get(name, 0) + 1
        result.append(name if count[name] == 1 else f"{name} {count[name]}")
    return result
