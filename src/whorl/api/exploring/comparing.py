"""Where two traces of the same values part: each value's first difference, and which of them comes first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from whorl.api.tracing.differing import DEFAULTS, Tolerances, measure
from whorl.api.tracing.value_trace import ValueTrace
from whorl.ir.dtypes import COMPLEX, STRING
from whorl.ir.graph import Module
from whorl.passes.expose.reading import Records
from whorl.passes.expose.scopes import Scope, scopes_of, values_in

Position = tuple[int, ...]
"""Where a value is made: the positions of the nodes around it in their regions, then its own."""


def compare_traces(
    module: Module, ours: ValueTrace, theirs: ValueTrace, tolerances: Tolerances = DEFAULTS
) -> dict[str, Any]:
    """For each path that both have, the iterations in which it first differs and a text; and the first path of all.

    Iterations that only one of them made are no differences of values: `trips` names the loops of which that is so.
    """
    values = dict(_differences(ours, theirs, tolerances))
    positions = dict(_positions(module))
    loops = {path: each.loops for path, each in ((path, ours.records(path)) for path in values)}
    order = sorted(values, key=lambda path: _rank(values[path]["iterations"], loops[path], positions, path))
    trips = [path for path, each in ours.trip_counts.items() if _counts_differ(each, theirs.trip_counts.get(path))]
    return {"values": values, "first": order[0] if order else None, "trips": trips}


def _differences(ours: ValueTrace, theirs: ValueTrace, tolerances: Tolerances) -> Iterator[tuple[str, dict[str, Any]]]:
    common = set(theirs)
    for path in ours:
        if path not in common or (path in ours.summaries) != (path in theirs.summaries):
            continue
        a, b = _aligned(ours.records(path), theirs.records(path))
        row = _first_row(a, b, tolerances)
        if row is None:
            continue
        difference = measure(a.at_row(row), b.at_row(row), tolerances)
        if difference is not None:
            yield path, {"iterations": a.iterations[row].tolist(), "text": difference.text}


def _aligned(a: Records, b: Records) -> tuple[Records, Records]:
    """The records of both in the iterations that both have."""
    if np.array_equal(a.iterations, b.iterations):
        return a, b
    ours: list[list[int]] = a.iterations.tolist()
    theirs: list[list[int]] = b.iterations.tolist()
    rows = {tuple(row): k for k, row in enumerate(theirs)}
    pairs = [(k, rows[tuple(row)]) for k, row in enumerate(ours) if tuple(row) in rows]
    return _take(a, [k for k, _ in pairs]), _take(b, [k for _, k in pairs])


def _take(records: Records, rows: list[int]) -> Records:
    values = records.values
    chosen = values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows]
    return Records(records.path, records.loops, records.iterations[rows], chosen)


def _first_row(ours: Records, theirs: Records, tolerances: Tolerances) -> int | None:
    a, b = ours.values, theirs.values
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape and a.dtype == b.dtype != STRING:
        (wrong,) = np.nonzero(_wrong_rows(a, b, tolerances))
        return int(wrong[0]) if len(wrong) else None
    rows = range(ours.count)
    return next((k for k in rows if measure(ours.at_row(k), theirs.at_row(k), tolerances) is not None), None)


def _wrong_rows(a: np.ndarray, b: np.ndarray, tolerances: Tolerances) -> np.ndarray:
    """Whether each record differs, as `measure` says it."""
    relative, absolute = tolerances.get(str(a.dtype), (0.0, 0.0))
    axes = tuple(range(1, a.ndim))
    if not relative and not absolute and a.dtype.kind in "biu":
        return np.asarray((a != b).any(axes))
    wide = np.complex128 if a.dtype in COMPLEX else np.float64
    with np.errstate(all="ignore"):
        close = np.isclose(b.astype(wide), a.astype(wide), rtol=relative, atol=absolute, equal_nan=True)
    return np.asarray(~close.all(axes))


def _counts_differ(a: Records, b: Records | None) -> bool:
    return b is not None and not (np.array_equal(a.iterations, b.iterations) and np.array_equal(a.values, b.values))


def _positions(module: Module) -> Iterator[tuple[str, Position]]:
    """Where each value, and each loop by its path, is made."""
    around: dict[Scope, Position] = {}
    for scope in scopes_of(module):
        node, outer = scope.node, scope.around
        own: Position = ()
        if node is not None and outer is not None:
            own = (*around[outer], outer.region.nodes.index(node))
            yield f"{scope.path}@", own
        around[scope] = own
        position = {value: k for k, each in enumerate(scope.region.nodes) for value in each.outputs}
        for named in values_in(scope):
            yield named.path, (*own, position.get(named.value, -1))


def _rank(iterations: list[int], loops: tuple[str, ...], positions: Mapping[str, Position], path: str) -> list[float]:
    """A key by which what is computed earlier comes first: positions, and after that of a loop its iteration."""
    own = positions.get(path, ())
    depths = {
        len(positions[f"{loop}@"]): k for loop, k in zip(loops, iterations, strict=True) if f"{loop}@" in positions
    }
    key: list[float] = []
    for depth, position in enumerate(own, 1):
        key.append(position)
        if depth in depths:
            key.append(depths[depth])
    # What a node gives comes after what happens inside of it.
    return [*key, math.inf]
