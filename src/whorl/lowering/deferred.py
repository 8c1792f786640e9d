"""Constants of programs that are computed when a program is first bound, not while it is made."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class DeferredArray:
    """A row-major array that is computed once, when it is asked for."""

    def __init__(self, dtype: np.dtype, shape: tuple[int, ...], compute: Callable[[], np.ndarray]) -> None:
        self.dtype, self.shape = dtype, shape
        self._compute = compute
        self._array: np.ndarray | None = None

    def numpy(self) -> np.ndarray:
        array = self._array
        if array is None:
            array = self._array = np.ascontiguousarray(self._compute())
        return array

    def move_to(self, array: np.ndarray) -> None:
        """Let another array that holds the same be this one from now on."""
        self._array = array
