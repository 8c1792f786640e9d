"""What a kernel is: a routine on whole arrays that programs call."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


def _product(*numbers: int) -> int:
    return math.prod(max(1, n) for n in numbers)


@dataclass(frozen=True)
class Kernel:
    """`run(*places, *numbers)` is the meaning, on flat arrays; `extents(*numbers, dtype)` the elements used at each.

    `work(*numbers)` is about how many scalar statements take as long.

    The first `written` places are overwritten, none of which may overlap another place. The places at `tables` hold
    int32 numbers, all others are of one element type.
    """

    name: str
    written: int
    extents: Callable[..., tuple[int, ...]]
    run: Callable[..., None]
    tables: tuple[int, ...] = ()
    work: Callable[..., int] = _product
