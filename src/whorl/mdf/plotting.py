"""Records over time, and graphs, as pictures by matplotlib."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping

import numpy as np

from whorl.errors import SaveError, UnsupportedError
from whorl.mdf.model import Datum, Graph

SIZE = 7.0
"""Width in inches; each recorded name takes a panel."""
MOST_LINES = 20
LAYER, NODE = 2.2, 0.9
"""Inches from one layer of a graph to the next, and from one node of a layer to the next."""
BOX = {"boxstyle": "round,pad=0.5", "facecolor": "#e8eef7", "edgecolor": "#33527a"}
ARROW = {"arrowstyle": "-|>", "color": "#33527a", "shrinkA": 22, "shrinkB": 22, "connectionstyle": "arc3,rad=0.12"}


def plot_lines(times: np.ndarray, panels: Mapping[str, np.ndarray], title: str = "") -> Datum:
    """A matplotlib Figure with a panel for each name, and its first lines in it.

    Errors: SaveError where there is nothing to draw; UnsupportedError without matplotlib.
    """
    if not panels:
        raise SaveError("nothing was recorded, so there is nothing to plot", fix="record some names")
    figure = _figure(SIZE, 0.7 + 1.7 * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (name, lines) in zip(axes, panels.items(), strict=True):
        for line in lines[:MOST_LINES]:
            panel.plot(times, line, linewidth=1)
        panel.set_ylabel(name)
    axes[-1].set_xlabel("time")
    if title:
        figure.suptitle(title)
    return figure


def plot_graph(graph: Graph) -> Datum:
    """A matplotlib Figure with nodes from left to right in the order of the edges. Errors: UnsupportedError."""
    layers = layers_of(graph)
    height = max(map(len, layers), default=1)
    figure = _figure(1.5 + LAYER * len(layers), 1.0 + NODE * height)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_xlim(-0.6, len(layers) - 0.4)
    axes.set_ylim(-0.6, height - 0.4)
    spots = {
        id: (float(x), (height - len(layer)) / 2 + len(layer) - 1 - y)
        for x, layer in enumerate(layers)
        for y, id in enumerate(layer)
    }
    for edge in graph.edges.values():
        axes.annotate("", spots[edge.receiver], spots[edge.sender], arrowprops=ARROW)
    for id, (x, y) in spots.items():
        axes.text(x, y, id, ha="center", va="center", bbox=BOX)
    return figure


def layers_of(graph: Graph) -> list[list[str]]:
    """Ids of nodes: those that nothing leads into, then each in the layer after the last of its senders.

    An edge that closes a cycle, in the order of the file, goes back and puts nothing behind its sender.
    """
    senders: dict[str, list[str]] = {id: [] for id in graph.nodes}
    for edge in graph.edges.values():
        senders[edge.receiver].append(edge.sender)
    depth: dict[str, int] = {}
    for first in graph.nodes:
        waiting = [(first, iter(senders[first]))]
        open_nodes = {first}
        while waiting:
            id, rest = waiting[-1]
            sender = next((each for each in rest if each not in depth and each not in open_nodes), None)
            if sender is not None:
                waiting.append((sender, iter(senders[sender])))
                open_nodes.add(sender)
                continue
            depth.setdefault(id, 1 + max((depth[each] for each in senders[id] if each in depth), default=-1))
            waiting.pop()
    layers: list[list[str]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for id in graph.nodes:
        layers[depth[id]].append(id)
    return layers


def _figure(width: float, height: float) -> Datum:
    try:
        figures = importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError:
        raise UnsupportedError("plots need matplotlib", fix="pip install matplotlib") from None
    return figures.Figure(figsize=(width, height), layout="constrained")


def write_figure(figure: Datum, path: str | os.PathLike[str]) -> None:
    """Write a Figure into a file whose ending says its format (.png, .svg, .pdf). Errors: SaveError."""
    try:
        figure.savefig(path, dpi=100)
    except (OSError, ValueError) as error:
        raise SaveError(f"cannot write {os.fspath(path)!r}: {error}") from None
