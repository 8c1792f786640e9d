"""The buffers that folding makes: how much memory they hold, and where they go when it is too much."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from whorl.errors import WhorlError
from whorl.ir.dtypes import STRING
from whorl.ir.elements.base import Elements, leaves_of
from whorl.ir.elements.mapping import mapped_file, mapping_of
from whorl.ir.guards import is_array

COUNTED = 4096
"""Bytes below which a buffer is not worth counting."""
POISON = 0xA5
FRACTION = 4
"""The default budgets are this part of the machine's memory, and of the free disk."""


class Pool:
    """Counts the bytes of the arrays that are made, and puts what passes the budget into a file that has no name.

    Nobody frees a buffer: it goes when the last constant that is computed from it goes. `collect` is the check of that:
    with `poison`, buffers that no constant uses are overwritten, so that a forgotten reader is found.
    """

    def __init__(self, budget: int | None = None, poison: bool = False, disk: int | None = None) -> None:
        self.budget = default_budget() if budget is None else budget
        self.disk = disk
        self.on_disk = 0
        self.live = self.peak = self.spilled = 0
        self.poison = poison
        self._arrays: list[np.ndarray] = []

    def keep(self, value: Any) -> Any:
        """A new array or elements, counted; an array that passes the budget is put into a file."""
        if not is_array(value) or value.nbytes < COUNTED or value.dtype == STRING:
            return value
        root = root_of(value)
        if root is None or root.nbytes < COUNTED:
            return value
        if self.live + root.nbytes > self.budget and value.nbytes == root.nbytes:
            return self.spill(value)
        self._count(root)
        return value

    def evaluate(self, elements: Elements) -> np.ndarray:
        """All elements as an array that is kept: in memory, or in a file where they pass the budget."""
        if self.live + elements.nbytes > self.budget:
            return self.spill(elements)
        array = elements.numpy()
        root = root_of(array)
        if root is not None and root.nbytes >= COUNTED:
            self._count(root)
        return array

    def spill(self, value: np.ndarray | Elements) -> np.ndarray:
        """The elements in a mapped file that is gone when nobody uses it any more. Errors: WhorlError."""
        import tempfile

        self._require_disk(value.nbytes)
        try:
            with tempfile.TemporaryFile(prefix="whorl-") as file:
                for block in value.blocks() if isinstance(value, Elements) else (value,):
                    np.ascontiguousarray(block).reshape(-1).view(np.uint8).tofile(file)
                file.flush()
                mapping = mapped_file(file.fileno(), value.nbytes)
        except OSError as error:
            raise WhorlError(f"a temporary file of {value.nbytes} bytes: {error.strerror or error}") from None
        self.spilled += value.nbytes
        self.on_disk += value.nbytes
        weakref.finalize(mapping, self._leave_disk, value.nbytes)
        return np.frombuffer(mapping, value.dtype).reshape(value.shape)

    def _require_disk(self, size: int) -> None:
        """Refuse a file that passes the budget, which by default is a part of what is free."""
        if self.disk is None:
            self.disk = _free_disk() // FRACTION
        if self.on_disk + size > self.disk:
            raise WhorlError(
                f"temporary files would take {self.on_disk + size} bytes, and may take {self.disk}",
                fix="raise disk_budget, or set TMPDIR to a folder on a larger disk",
            )

    def _leave_disk(self, size: int) -> None:
        self.on_disk -= size

    def collect(self, values: Iterable[Any]) -> None:
        """Overwrite the buffers that none of the values, the constants of a module, is computed from."""
        if not self.poison:
            return
        used = {id(root) for value in values for root in roots_of(value)}
        for array in self._arrays:
            if id(array) not in used and array.flags.owndata:
                array.flags.writeable = True
                array.reshape(-1).view(np.uint8)[:] = POISON
        self._arrays = [array for array in self._arrays if id(array) in used]

    def _count(self, root: np.ndarray) -> None:
        size = root.nbytes
        self.live += size
        self.peak = max(self.peak, self.live)
        weakref.finalize(root, self._forget, size)
        if self.poison:
            self._arrays.append(root)

    def _forget(self, size: int) -> None:
        self.live -= size


def root_of(array: np.ndarray) -> np.ndarray | None:
    """The array that owns the memory; None where that is a file or not NumPy's."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    return None if root.base is not None or mapping_of(root) is not None else root


def roots_of(value: Any) -> Iterable[np.ndarray]:
    """The arrays that a constant's value is computed from."""
    arrays: list[np.ndarray] = []
    if isinstance(value, Elements):
        arrays = [leaf.array for leaf in leaves_of(value)]
    elif isinstance(value, np.ndarray):
        arrays = [value]
    return [root for array in arrays if (root := root_of(array)) is not None]


def _free_disk() -> int:
    """The bytes that temporary files may take."""
    import shutil
    import tempfile

    return shutil.disk_usage(tempfile.gettempdir()).free


def default_budget() -> int:
    """A part of the memory that this machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // FRACTION
    except (AttributeError, ValueError, OSError):
        return 4 << 30
