"""A profile as a flame graph, and as a trace that Chrome and Perfetto show."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any

from whorl.api.tracing.spending import RunProfile, Spent

WIDTH, ROW, MARGIN = 1200, 20, 4
"""Pixels."""
LEAST_SHARE = 0.001
"""Of the run: what takes less has no box."""
COLORS = {"native": "#8fbf8f", "called back": "#e0a060", "interpreted": "#d98080"}
OTHER = "#c8c8c8"


def flame_graph(profile: RunProfile, title: str) -> str:
    """An SVG in which a box is as wide as what its node took, above the boxes of what is inside it."""
    boxes = list(_boxes(profile.nodes, 0.0, 1, profile.seconds))
    depth = 1 + max((row for row, *_ in boxes), default=0)
    height = 2 * MARGIN + ROW * depth
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _box(0, 0.0, 1.0, f"{title}: {_shown(profile.seconds)}", title, OTHER),
        *(
            _box(row, start, share, _described(each), each.title, COLORS.get(each.how, OTHER))
            for row, start, share, each in boxes
        ),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _boxes(nodes: Sequence[Spent], start: float, row: int, whole: float) -> Iterator[tuple[int, float, float, Spent]]:
    for each in nodes:
        share = each.seconds / whole if whole else 0.0
        if share >= LEAST_SHARE:
            yield row, start, share, each
            yield from _boxes(each.inside, start, row + 1, whole)
        start += share


def _box(row: int, start: float, share: float, tip: str, label: str, color: str) -> str:
    x, width = MARGIN + start * (WIDTH - 2 * MARGIN), share * (WIDTH - 2 * MARGIN)
    y = MARGIN + ROW * row
    fitting = int(width / 7)
    text = label if len(label) <= fitting else f"{label[: fitting - 2]}.." if fitting > 4 else ""
    return (
        f'<g><title>{html.escape(tip)}</title><rect x="{x:.2f}" y="{y}" width="{max(width, 0.5):.2f}" '
        f'height="{ROW - 1}" fill="{color}" stroke="#ffffff"/>'
        f'<text x="{x + 3:.2f}" y="{y + 14}">{html.escape(text)}</text></g>'
    )


def _described(spent: Spent) -> str:
    parts = [f"{spent.title}: {100 * spent.share:.1f} %, {_shown(spent.seconds)}, {spent.times} times, {spent.how}"]
    return "\n".join([*parts, *([spent.advice] if spent.advice else [])])


def _shown(seconds: float) -> str:
    return f"{1e3 * seconds:.3f} ms"


def chrome_events(profile: RunProfile, process: int = 2) -> list[dict[str, Any]]:
    """What nodes took in one run, all iterations of a node as one event, in Chrome's format."""
    name = {"ph": "M", "pid": process, "tid": 0, "name": "process_name", "args": {"name": "nodes, iterations summed"}}
    return [name, *_events(profile.nodes, 0.0, process)]


def _events(nodes: Sequence[Spent], start: float, process: int) -> Iterator[dict[str, Any]]:
    for each in nodes:
        facts = {"how": each.how, "times": each.times, "ns each": round(each.each, 1), "share": round(each.share, 4)}
        facts |= {"advice": each.advice} if each.advice else {}
        yield {
            "ph": "X",
            "pid": process,
            "tid": 0,
            "name": each.title,
            "ts": round(1e6 * start, 3),
            "dur": round(1e6 * each.seconds, 3),
            "args": facts,
        }
        yield from _events(each.inside, start, process)
        start += each.seconds
