"""Origins: what large folded constants were computed from."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from whorl.ir.dtypes import STRING
from whorl.ir.elements.base import Elements, leaves_of
from whorl.ir.graph import Op
from whorl.ir.guards import is_array

LARGE = 1 << 20
"""Bytes from which the origin of a constant is recorded."""
GROWTH = 4
"""Least ratio of the bytes of a constant to those of its origin."""


class Origin(Struct, frozen=True, eq=False):
    """The op and its inputs, which may have origins themselves; the bytes of all constants behind them."""

    op: Op
    inputs: tuple[Any, ...]
    bytes: int


class Origins(Struct):
    """The origins of constants that are alive.

    A value of an unhashable type is known by its identity, so the entry must go with it: an identity is used again.
    """

    by_identity: dict[int, Origin] = field(default_factory=dict[int, Origin])

    def note(self, op: Op, inputs: Sequence[Any], result: Any) -> None:
        """Record the origin of the only result of an op, if it has much fewer bytes."""
        size = _bytes(result)
        if size < LARGE or result.dtype == STRING or not (isinstance(result, Elements) or is_array(result)):
            return
        known = tuple(self.by_identity.get(id(x), x) for x in inputs)
        behind = sum(_bytes_behind(x) for x in known)
        if size >= GROWTH * behind:
            self.by_identity[id(result)] = Origin(op, known, behind)
            weakref.finalize(result, self.by_identity.pop, id(result), None).atexit = False

    def of(self, value: Any) -> Origin | None:
        return self.by_identity.get(id(value))


def _bytes(value: Any) -> int:
    return math.prod(value.shape) * value.dtype.itemsize


def _bytes_behind(source: Any) -> int:
    match source:
        case None:
            return 0
        case Origin():
            return source.bytes
        case Elements():
            return sum(leaf.core().nbytes for leaf in leaves_of(source))
        case _:
            pass
    return _bytes(source)
