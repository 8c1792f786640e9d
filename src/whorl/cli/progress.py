"""A progress bar for long loops, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from whorl.runtime.limits import Progress


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
