"""Recorded values of loops as a picture: lines over the iterations, or a map of many elements."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import UnsupportedError
from whorl.passes.expose.reading import Records

WIDTH = 7.0
"""Inches; each value takes a panel."""
MOST_LINES = 8
"""Elements up to which each is a line; more are a map with a row for each."""


def plot_records(records: Sequence[Records]) -> Any:
    """A matplotlib Figure with a panel for each value, its records from left to right.

    Records of different lengths leave the rest of their column empty. Errors: UnsupportedError without matplotlib, and
    for values that are not numbers.
    """
    try:
        figures = importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError:
        raise UnsupportedError("plots need matplotlib", fix="pip install 'whorl[plot]'") from None
    tables = [table_of(each) for each in records]
    figure = figures.Figure(figsize=(WIDTH, 0.6 + 1.8 * len(tables)), layout="constrained")
    panels = figure.subplots(max(1, len(tables)), 1, squeeze=False)[:, 0]
    for panel, each, table in zip(panels, records, tables, strict=False):
        panel.set_title(each.path, loc="left", fontsize="medium")
        panel.set_xlabel("iteration" if len(each.loops) == 1 else "record")
        _draw(panel, table, each.iterations[:, 0] if len(each.loops) == 1 else np.arange(len(table)))
    return figure


def table_of(records: Records) -> np.ndarray:
    """The elements of each record in a row of float64, short rows filled with NaN. Errors: UnsupportedError."""
    rows = [np.asarray(value) for value in records.values] if not _is_sequence(records) else []
    if _is_sequence(records) or any(row.dtype.kind not in "biufV" or row.dtype.names for row in rows):
        raise UnsupportedError(f"{records.path!r} has values that are not real numbers", fix="plot others")
    table = np.full((len(rows), max((row.size for row in rows), default=0)), np.nan)
    for filled, row in zip(table, rows, strict=True):
        filled[: row.size] = row.astype(np.float64).ravel()
    return table


def _is_sequence(records: Records) -> bool:
    return any(isinstance(value, list) for value in records.values)


def _draw(panel: Any, table: np.ndarray, positions: np.ndarray) -> None:
    if table.shape[1] <= MOST_LINES:
        panel.plot(positions, table, linewidth=1, marker="." if len(table) < 50 else "")
        return
    ends = (positions[0] - 0.5, positions[-1] + 0.5) if len(positions) else (0.0, 1.0)
    image = panel.imshow(
        table.T, aspect="auto", interpolation="nearest", origin="lower", extent=(*ends, -0.5, table.shape[1] - 0.5)
    )
    panel.set_ylabel("element")
    panel.figure.colorbar(image, ax=panel)
