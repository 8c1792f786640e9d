"""Work without Python's collector of cycles."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

MANY = 1 << 12
"""New objects from which on they are taken for old ones after a pause."""


@contextmanager
def collector_paused() -> Generator[None]:
    """Imports, reading and lowering make many objects and drop few: the collector would go through them in vain.

    Nor does it do so afterwards: they are old ones from then on.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] >= MANY and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
