"""Progress on a terminal: bars for long loops and the parts of a table, a line for what else takes long."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from whorl.runtime.limits import Progress

DELAY, PERIOD = 1.0, 0.25
"""Seconds until a line is drawn, and from one drawing to the next."""


def shows_progress(arguments: argparse.Namespace) -> bool:
    """Whether progress is drawn: errors go to a terminal that draws a line anew, and no document is asked for.

    With TQDM_DISABLE, which newer versions of tqdm alone heed, it is not.
    """
    if os.environ.get("TQDM_DISABLE", "0") not in ("", "0"):
        return False
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not arguments.json


@contextmanager
def status_line(enabled: bool, describe: Callable[[], str]) -> Iterator[None]:
    """A line that says what goes on, and for how long, while it does; a thread asks `describe` and draws it."""
    if not enabled:
        yield
        return
    stop = threading.Event()
    drawing = threading.Thread(target=_draw, args=(stop, describe), daemon=True)
    drawing.start()
    try:
        yield
    finally:
        stop.set()
        drawing.join()


def _draw(stop: threading.Event, describe: Callable[[], str]) -> None:
    if stop.wait(DELAY):
        return
    from tqdm import tqdm

    with tqdm(desc=f"{describe()} ", bar_format="{desc}[{elapsed}]", leave=False) as line:
        line.start_t -= DELAY
        while True:
            line.set_description_str(f"{describe()} ")
            if stop.wait(PERIOD):
                return


@contextmanager
def progress_bar(enabled: bool) -> Iterator[Progress | None]:
    """A callback that draws a bar for each outermost loop that takes longer than a second; None where not enabled."""
    if not enabled:
        yield None
        return
    from tqdm import tqdm

    bars: dict[str, tqdm] = {}

    def progress(loop: str, done: int, total: int | None) -> None:
        if loop not in bars:
            bars[loop] = tqdm(total=total, desc=loop, unit="it", delay=1.0, leave=False)
        bars[loop].update(done - bars[loop].n)

    try:
        yield progress
    finally:
        for bar in bars.values():
            bar.close()


@contextmanager
def parts_bar(enabled: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A callback that draws how many parts are done; None where not enabled."""
    if not enabled:
        yield None
        return
    from tqdm import tqdm

    with tqdm(unit="part", delay=1.0) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield progress
