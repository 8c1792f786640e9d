"""Recorded values over time as a picture."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence

import numpy as np

from whorl.errors import SaveError, UnsupportedError
from whorl.mdf.simulation import Simulation

SIZE = 7.0
"""Width in inches; each recorded name takes a panel."""
MOST_LINES = 20


def plot(result: Simulation, path: str | os.PathLike[str], names: Sequence[str] = (), title: str = "") -> None:
    """Draw recorded names, one panel each, into a file whose ending says its format (.png, .svg, .pdf).

    Errors: UnsupportedError without matplotlib; SaveError.
    """
    try:
        figures = importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError:
        raise UnsupportedError("plots need matplotlib", fix="pip install matplotlib") from None
    shown = list(names) or list(result)
    if not shown:
        raise SaveError("nothing was recorded, so there is nothing to plot", fix="record some names")
    figure = figures.Figure(figsize=(SIZE, 0.7 + 1.7 * len(shown)), layout="constrained")
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for panel, name in zip(panels, shown, strict=True):
        for line in _lines(result, name)[:MOST_LINES]:
            panel.plot(result.times, line, linewidth=1)
        panel.set_ylabel(name)
    panels[-1].set_xlabel("time")
    if title:
        figure.suptitle(title)
    try:
        figure.savefig(path, dpi=100)
    except (OSError, ValueError) as error:
        raise SaveError(f"cannot write {os.fspath(path)!r}: {error}") from None


def _lines(result: Simulation, name: str) -> list[np.ndarray]:
    """One line for each element, in a batch for each parameter set."""
    array = result[name]
    time = 0 if result.batch is None else 1
    return list(np.moveaxis(array, time, -1).reshape(-1, array.shape[time]))
