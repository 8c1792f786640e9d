"""How much of a trace one run may record: values in batches within a budget of bytes, spilled to disk in between."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.errors import RunError
from whorl.ir.dtypes import STRING
from whorl.ir.guards import is_array
from whorl.ir.types import AnyShape, TensorType
from whorl.passes.expose.reading import Records
from whorl.passes.expose.scopes import NamedValue
from whorl.passes.expose.summaries import SUMMARY, can_summarize

COPIES = 3
"""What a run holds of a collected value at once: it grows, and the caller's copy."""


class Plan(Struct, frozen=True):
    """The paths that each run records, those of which only summaries are, and whether records go to disk."""

    batches: list[list[str]]
    summaries: frozenset[str] = frozenset()
    spills: bool = False


def known_elements(named: NamedValue) -> int | None:
    """The number of elements of a value in one iteration, where its type says it."""
    type = named.value.type
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return None
    lengths = [dim for dim in type.shape if isinstance(dim, int)]
    return math.prod(lengths) if len(lengths) == len(type.shape) else None


def plan_batches(chosen: Sequence[NamedValue], counts: Mapping[str, tuple[int, int]], budget: int) -> Plan:
    """Batches of values whose bytes keep a run within the budget.

    `counts`: for each path its records and their elements in all. Errors: RunError where even summaries are too many.
    """
    room = max(1, budget // COPIES)
    batches: list[list[str]] = [[]]
    summaries: set[str] = set()
    left = room
    total = 0
    for named in chosen:
        records, elements = counts[named.path]
        size = elements * _width(named)
        if size > room:
            size = 8 * len(SUMMARY) * records
            if size > room or not can_summarize(named.value):
                raise RunError(
                    f"{records} records of {named.path!r} exceed the budget of {budget} bytes",
                    fix="record fewer of them: every=N, first=N, last=N or when=CONDITION; or allow more bytes",
                )
            summaries.add(named.path)
        if size > left and batches[-1]:
            batches.append([])
            left = room
        batches[-1].append(named.path)
        left -= size
        total += size
    return Plan(batches, frozenset(summaries), total > room)


def _width(named: NamedValue) -> int:
    type = named.value.type
    return type.dtype.itemsize if isinstance(type, TensorType) else 8


def spill(records: Records, path: Path) -> Records:
    """The records with their values in a file, read as they are used; texts and lists of lists stay in memory."""
    values = records.values
    arrays: list[Any] = [values] if isinstance(values, np.ndarray) else values
    if not all(is_array(array) and array.dtype != STRING for array in arrays):
        return records
    if not sum(array.size for array in arrays):
        return records
    # Written, not copied into a mapping of the file, whose pages would count as this process's memory.
    with path.open("wb") as file:
        for array in arrays:
            np.ascontiguousarray(array).reshape(-1).view(np.uint8).tofile(file)
    memory = np.memmap(path, arrays[0].dtype, "c")
    ends = np.cumsum([0, *(array.size for array in arrays)]).tolist()
    pieces = [memory[a:b].reshape(array.shape) for a, b, array in zip(ends, ends[1:], arrays, strict=False)]
    return replace(records, values=pieces[0] if isinstance(values, np.ndarray) else pieces)
