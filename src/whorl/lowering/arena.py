"""Scratch memory of a program in one block: buffers that are never needed at the same time share their bytes.

A run borrows a block and gives it back, so runs at the same time have their own. Buffers whose lengths follow from
those of the inputs share slots, of which each run computes the sizes.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim

ALIGNMENT = 64
TYPICAL = 64
"""What a length is taken for while buffers are sorted by their sizes."""


class Arena(Struct, frozen=True):
    """The bytes that scratch memory of fixed size takes, and where in it each scratch buffer begins.

    `slots` follow it; `members` are the numbers of the scratch buffers in them, with those of their slots.
    """

    size: int
    offsets: tuple[int, ...]
    slots: tuple[tuple[Dim, ...], ...] = ()
    members: tuple[tuple[int, int], ...] = ()

    def allocate(self, lengths: Mapping[str, int]) -> tuple[int, tuple[int, ...]]:
        """The size of the whole block, and all offsets, where names are these lengths."""
        size, starts = self.size, list[int]()
        for slot in self.slots:
            starts.append(size)
            size += aligned(max(dims.evaluate(count, lengths) for count in slot))
        offsets = list(self.offsets)
        for buffer, slot in self.members:
            offsets[buffer] = starts[slot]
        return size, tuple(offsets)


def aligned(size: int) -> int:
    """A size in bytes, rounded up to what each buffer takes."""
    return -(-size // ALIGNMENT) * ALIGNMENT
