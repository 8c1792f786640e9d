"""The seed of random ops that have none of their own: what the caller of `set_seed` chose for this process."""

from __future__ import annotations

import numpy as np


class Seeds:
    """Seeds for generators: by chance, or the same ones in the same order from a chosen seed on."""

    def __init__(self) -> None:
        self._source: np.random.RandomState | None = None

    def start(self, seed: int) -> None:
        """Begin the order of a seed."""
        self._source = np.random.RandomState(seed % (1 << 32))

    def following(self) -> int | None:
        """The seed of the next generator, None for one by chance."""
        source = self._source
        return None if source is None else int(source.randint(0, 1 << 32, dtype=np.uint32))


SEEDS = Seeds()
