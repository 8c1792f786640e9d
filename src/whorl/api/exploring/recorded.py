"""A trace as data of a page: the elements of each value at its ticks, what lies between them, NaN and infinities."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.api.exploring.packing import Packer
from whorl.api.exploring.ticks import Loops, Ticks, collect_ticks
from whorl.api.tracing.value_trace import ValueTrace
from whorl.ir.dtypes import COMPLEX, STRING, name_of
from whorl.ir.guards import is_array
from whorl.passes.expose.reading import Records

BUDGETS = 4_800_000, 2_400_000, 1_200_000
"""Bytes of recorded elements in a page, before they are compressed; the last fit into two megabytes in any case."""
SERVED = 256_000_000
"""Bytes of recorded elements in a page that is served."""
TICKS = 100_000, 20_000, 4000, 2000, 1000, 500, 250, 120, 60, 20
COLUMNS = 256, 64, 32, 16, 8, 4, 2, 1
Rows = np.ndarray | Sequence[np.ndarray]
"""The elements of each record."""
FEW = 24
"""Characters of a text that a page shows."""


class Detail(Struct, frozen=True):
    """How much of a trace a page has: ticks of each loop, and elements of each value at a tick."""

    ticks: int
    columns: int

    @property
    def worth(self) -> float:
        """How much a reader learns from it: ticks count for more than elements."""
        return math.log2(self.ticks) + 0.4 * math.log2(self.columns)


def choose_detail(traces: Sequence[ValueTrace], budget: int) -> Detail:
    """The most detail whose bytes keep within a budget; the least where none does."""
    sizes = [(each.count, _largest(each)) for trace in traces for each in map(trace.records, trace)]
    ordered = sorted((Detail(t, c) for t in TICKS for c in COLUMNS), key=lambda each: each.worth, reverse=True)
    return next((each for each in ordered if _cost(sizes, each) <= budget), ordered[-1])


def _cost(sizes: Sequence[tuple[int, int]], detail: Detail) -> int:
    return sum(
        min(rows, detail.ticks) * (4 * min(elements, detail.columns) + 12 * (elements > 1 or rows > detail.ticks))
        for rows, elements in sizes
    )


def _largest(records: Records) -> int:
    """The most elements that a record has."""
    values = records.values
    if isinstance(values, np.ndarray):
        return math.prod(values.shape[1:])
    return max((_size(value) for value in values), default=0)


def _size(value: Any) -> int:
    return int(value.size) if is_array(value) else sum(map(_size, value))


def pack_traces(traces: Sequence[ValueTrace], names: Sequence[str], packer: Packer, detail: Detail) -> list[Any]:
    """Each trace as a document with the same ticks."""
    members = [dict(_all_records(trace)) for trace in traces]
    ticks = collect_ticks(members, detail.ticks)
    axes = {loops: k for k, loops in enumerate(ticks)}
    shared = [
        {"loops": list(loops), "rows": packer.add(each.rows.astype(np.int32)), "total": each.total}
        | ({} if len(each.rows) == each.total else {"codes": packer.add(each.codes.astype(np.uint32))})
        for loops, each in ticks.items()
    ]
    return [
        {"name": name, "axes": shared} | _Trace(trace, ticks, axes, packer, detail.columns).document()
        for name, trace in zip(names, traces, strict=True)
    ]


def _all_records(trace: ValueTrace) -> Iterator[tuple[str, Records]]:
    yield from ((path, trace.records(path)) for path in trace)
    yield from ((f"{path}@trips", each) for path, each in trace.trip_counts.items())
    yield from ((f"{path}@taken", each) for path, each in trace.branches.items())


class _Trace:
    """One trace on its way into a page."""

    def __init__(
        self, trace: ValueTrace, ticks: Mapping[Loops, Ticks], axes: Mapping[Loops, int], packer: Packer, columns: int
    ) -> None:
        self.trace, self.ticks, self.axes, self.packer, self.columns = trace, ticks, axes, packer, columns

    def document(self) -> dict[str, Any]:
        trace = self.trace
        return {
            "values": {path: self._value(path) for path in trace},
            "trips": {path: self._numbers(each) for path, each in trace.trip_counts.items()},
            "branches": {path: self._numbers(each) for path, each in trace.branches.items()},
        }

    def _rows(self, records: Records) -> tuple[dict[str, Any], np.ndarray]:
        """Where records belong, and which of them are the first at a tick.

        That is an axis and, unless there is one for each tick, their ticks.
        """
        if not records.loops:
            return {}, np.arange(records.count)
        ticks = self.ticks[records.loops]
        positions = ticks.positions(records)
        own, firsts = np.unique(positions, return_index=True)
        entry: dict[str, Any] = {"axis": self.axes[records.loops]}
        if len(own) != len(ticks.rows):
            entry["ticks"] = self.packer.add(own.astype(np.uint32))
        return entry, firsts

    def _numbers(self, records: Records) -> dict[str, Any]:
        """One number for each record."""
        entry, firsts = self._rows(records)
        numbers = np.asarray(records.values).reshape(-1)[firsts]
        return entry | {"numbers": self.packer.add(numbers.astype(np.int32))}

    def _value(self, path: str) -> dict[str, Any]:
        records = self.trace.records(path)
        entry, firsts = self._rows(records)
        entry |= {"records": records.count}
        if path in self.trace.summaries:
            return entry | self._summary(records, firsts)
        flat, dtype = _flat(records)
        entry |= {"dtype": name_of(dtype)} | self._shapes(records, firsts)
        if dtype == STRING:
            return entry | {"texts": [_text(_row(flat, k)) for k in firsts]}
        return entry | self._elements(flat, firsts)

    def _shapes(self, records: Records, firsts: np.ndarray) -> dict[str, Any]:
        """The shapes that occur, and for each record which one it has."""
        values = records.values
        if isinstance(values, np.ndarray):
            return {"shapes": [_shape_text(values.shape[1:])]}
        texts = [_shape_of(values[k]) for k in firsts]
        known = {text: k for k, text in enumerate(dict.fromkeys(texts))}
        entry: dict[str, Any] = {"shapes": list(known)}
        if len(known) > 1:
            numbers = np.array([known[text] for text in texts], np.uint32)
            sizes = np.array([_size(values[k]) for k in firsts], np.uint32)
            entry |= {"shape": self.packer.add(numbers), "sizes": self.packer.add(sizes)}
        return entry

    def _elements(self, flat: Rows, firsts: np.ndarray) -> dict[str, Any]:
        """Elements at ticks, a column for each; least, greatest and mean where there are more than these."""
        largest = flat.shape[1] if isinstance(flat, np.ndarray) else max(map(len, flat), default=0)
        columns = min(largest, self.columns)
        cells = _cells(flat, firsts, columns)
        entry: dict[str, Any] = {"elements": largest, "columns": columns, "cells": self.packer.add(_narrow(cells))}
        stats = _Statistics(flat, firsts)
        if largest > 1 or len(firsts) < len(flat):
            entry["stats"] = self.packer.add(_narrow(stats.table))
        return entry | self._marks("nan", stats.nan) | self._marks("inf", stats.inf)

    def _marks(self, name: str, counts: np.ndarray) -> dict[str, Any]:
        """The ticks at which something was counted."""
        (rows,) = np.nonzero(counts)
        if not len(rows):
            return {}
        return {name: [self.packer.add(rows.astype(np.uint32)), self.packer.add(counts[rows].astype(np.uint32))]}

    def _summary(self, records: Records, firsts: np.ndarray) -> dict[str, Any]:
        """What a trace has instead of a value that was too large."""
        table = np.asarray(records.values, np.float64)[firsts]
        entry = {"dtype": "", "shapes": ["summary"], "elements": 0, "columns": 0}
        stats = {"stats": self.packer.add(_narrow(table[:, :3].T)), "cells": self.packer.add(np.zeros(0, np.float32))}
        return entry | stats | self._marks("nan", table[:, 4]) | self._marks("inf", table[:, 5])


class _Statistics:
    """Of the records at each tick and up to the next: least, greatest and mean finite element, and counts of others."""

    def __init__(self, flat: Rows, firsts: np.ndarray) -> None:
        count = len(flat)
        rows = np.empty((5, count))
        for begin in range(0, count, 4096):
            block = flat[begin : begin + 4096]
            if isinstance(block, np.ndarray):
                rows[:, begin : begin + len(block)] = _measure(block)
            else:
                for k, row in enumerate(block):
                    rows[:, begin + k] = _measure(row[None])[:, 0]
        if not len(firsts):
            self.table, self.nan, self.inf = np.empty((3, 0)), np.empty(0), np.empty(0)
            return
        order = firsts
        with np.errstate(all="ignore"):
            low, high = np.fmin.reduceat(rows[0], order), np.fmax.reduceat(rows[1], order)
            has_mean = ~np.isnan(rows[2])
            mean = np.add.reduceat(np.where(has_mean, rows[2], 0), order) / np.add.reduceat(has_mean, order, dtype=int)
        self.table = np.stack([low, high, mean])
        self.nan, self.inf = np.add.reduceat(rows[3], order), np.add.reduceat(rows[4], order)


def _measure(block: np.ndarray) -> np.ndarray:
    """Least, greatest and mean finite element, and counts of NaN and infinity, of each row."""
    finite = np.isfinite(block)
    with np.errstate(all="ignore"):
        nan = np.isnan(block).sum(1)
        low = np.where(finite, block, np.inf).min(1, initial=np.inf)
        high = np.where(finite, block, -np.inf).max(1, initial=-np.inf)
        mean = np.where(finite, block, 0).sum(1) / finite.sum(1)
    empty = ~finite.any(1)
    low[empty] = high[empty] = mean[empty] = np.nan
    return np.stack([low, high, mean, nan, (~finite).sum(1) - nan])


def _flat(records: Records) -> tuple[Rows, np.dtype]:
    """The elements of each record as one row, and their type."""
    values = records.values
    if isinstance(values, np.ndarray):
        return _numbers(values.reshape(len(values), math.prod(values.shape[1:]))), values.dtype
    rows = [_elements_of(value) for value in values]
    dtype = next((row.dtype for row in rows if row.size), np.dtype(np.float32))
    return [_numbers(row) if row.dtype == dtype else np.empty(0) for row in rows], dtype


def _elements_of(value: Any) -> np.ndarray:
    """The elements of a tensor or of all items of a list."""
    if is_array(value):
        return value.reshape(-1)
    items = [_elements_of(item) for item in value]
    return np.concatenate(items) if items else np.empty(0, np.float32)


def _numbers(array: np.ndarray) -> np.ndarray:
    if array.dtype == STRING:
        return array
    return np.abs(array) if array.dtype in COMPLEX else array.astype(np.float64)


def _cells(flat: Rows, firsts: np.ndarray, columns: int) -> np.ndarray:
    """Some elements of some rows, a line for each element; where a row has fewer, what is missing is NaN."""
    if isinstance(flat, np.ndarray):
        return flat[np.ix_(firsts, _sampled(flat.shape[1], columns))].T
    cells = np.full((columns, len(firsts)), np.nan)
    for tick, row in enumerate(firsts):
        elements = _row(flat, row)
        own = elements[_sampled(len(elements), columns)]
        cells[: len(own), tick] = own
    return cells


def _row(flat: Rows, row: int) -> np.ndarray:
    return flat[row]


def _sampled(count: int, columns: int) -> np.ndarray:
    return np.arange(count) if count <= columns else np.linspace(0, count - 1, columns).astype(np.int64)


def _narrow(array: np.ndarray) -> np.ndarray:
    """As float32 where that keeps the range, and integers exact."""
    with np.errstate(all="ignore"):
        narrow = array.astype(np.float32)
    finite = np.isfinite(array)
    whole = finite & (array == np.rint(array))
    lost = (whole & (narrow != array)) | (finite & (~np.isfinite(narrow) | ((narrow == 0) & (array != 0))))
    return array.astype(np.float64) if lost.any() else narrow


def _shape_text(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _shape_of(value: Any) -> str:
    if is_array(value):
        return _shape_text(np.shape(value))
    shapes = list(map(_shape_of, value))
    listed = ", ".join(shapes[:4]) + (", ..." if len(shapes) > 4 else "")
    return f"{len(shapes)} item{'' if len(shapes) == 1 else 's'}: {listed}" if shapes else "no items"


def _text(row: np.ndarray) -> str:
    texts = [str(element)[:FEW] for element in row[:4]]
    return ", ".join(texts) + (", ..." if len(row) > 4 else "")
