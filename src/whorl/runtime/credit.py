"""What one run may spend on compiling, by the length of the model.

A long model starts soon, interpreted for the most part, and later runs compile the rest. Code that the disk has counts
for nothing, and a loop that goes on for long is compiled all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from whorl.codegen.target import compiled_bytes

LEAST, OF_A_NODE = 3 << 16, 3 << 6
"""Bytes of LLVM IR that a run may compile: at least, and for each node of the model where that is more."""
LOWERING = 1 << 7
"""Bytes of IR that take as long to compile as lowering one node."""
LATE = 500
"""Iterations of a loop after which it is compiled all the same: it may have many more."""


class Credit:
    """How many bytes of IR a run may still compile. What the disk has compiled already costs next to nothing."""

    def __init__(self, nodes: int) -> None:
        self.left = max(LEAST, OF_A_NODE * nodes)

    @property
    def is_spent(self) -> bool:
        return self.left <= 0

    @contextmanager
    def charged(self, nodes: int = 0) -> Iterator[None]:
        """Pay for what is compiled inside, and for lowering so many nodes."""
        before = compiled_bytes()
        try:
            yield
        finally:
            self.left -= compiled_bytes() - before + LOWERING * nodes
