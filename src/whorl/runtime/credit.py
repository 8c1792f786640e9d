"""What one run may spend on compiling, by the length of the model.

A long model starts soon, interpreted for the most part, and later runs compile the rest. Code that the disk has counts
for nothing, and a loop that goes on for long is compiled all the same.
"""

from __future__ import annotations

LEAST, OF_A_NODE = 3 << 16, 3 << 6
"""Bytes of LLVM IR that a run may compile: at least, and for each node of the model where that is more."""
LOWERING = 1 << 7
"""Bytes of IR that take as long to compile as lowering one node."""


class Credit:
    """How many bytes of IR a run may still compile."""

    def __init__(self, nodes: int) -> None:
        self.left = max(LEAST, OF_A_NODE * nodes)

    @property
    def is_spent(self) -> bool:
        return self.left <= 0

    def spend(self, compiled: int, nodes: int) -> None:
        """Pay for so many compiled bytes of IR, and for lowering so many nodes."""
        self.left -= compiled + LOWERING * nodes
