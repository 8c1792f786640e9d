"""Progress bars for long loops and for the parts of a table, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
