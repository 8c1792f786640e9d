"""Hook of mkdocs: docs/measured.svg, the multiples of docs/measured.md as points."""

from __future__ import annotations

import importlib
import io
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "measured.md"
ENGINE = "onnxruntime"
MULTIPLES = re.compile(r"[\d,.x; ]+")
"""A cell that has nothing but multiples, as `28x; 26x`."""
LONGEST = 70
"""Letters of a row's name."""


def rows(text: str) -> dict[str, list[float]]:
    """The multiples of whorl's time that the engine takes, by what was measured, of the page's first table."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    column = table[0].index(ENGINE)
    measured = {row[0]: row[column] for row in table[2:] if len(row) == len(table[0])}
    return {
        name: [float(each.replace(",", "")) for each in re.findall(r"[\d,]*\.?\d+(?=x)", cell)]
        for name, cell in measured.items()
        if MULTIPLES.fullmatch(cell)
    }


def chart(text: str) -> str:
    """The picture, as SVG."""
    points = rows(text)
    figure = importlib.import_module("matplotlib.figure").Figure(
        figsize=(9, 0.6 + 0.34 * len(points)), layout="constrained"
    )
    panel = figure.subplots()
    for height, multiples in enumerate(reversed(points.values())):
        panel.plot(multiples, [height] * len(multiples), "o", color="C0", markersize=5, alpha=0.8)
    names = [name if len(name) <= LONGEST else name[: LONGEST - 3] + "..." for name in points]
    panel.set_yticks(range(len(points)), [name.replace("`", "") for name in reversed(names)], fontsize="small")
    panel.set_xscale("log")
    panel.axvline(1, color="grey", linewidth=1)
    panel.grid(axis="x", alpha=0.3)
    panel.set_xlabel(f"time of {ENGINE} over time of whorl")
    picture = io.StringIO()
    figure.savefig(picture, format="svg", metadata={"Date": None})
    return picture.getvalue()


def on_files(files: Any, config: Any) -> None:
    """Add the picture."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "measured.svg", content=chart(PAGE.read_text(encoding="utf-8"))))
