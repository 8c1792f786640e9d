"""What a kernel is: a routine on whole arrays that programs call."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

LANES = 16
"""Steps of a kernel that take about as long as a scalar operation."""


def _product(*numbers: int) -> int:
    return math.prod(max(1, n) for n in numbers)


@dataclass(frozen=True)
class Kernel:
    """`run(*places, *numbers)` is the meaning, on flat arrays; `extents(*numbers, dtype)` the elements used at each.

    `work(*numbers)` is about how many scalar statements take as long. `steps(*numbers)` counts what its innermost loop
    does, LANES of which take about as long as a scalar operation.

    The first `written` places are overwritten, none of which may overlap another place. The places at `tables` hold
    int32 numbers, those at `narrow` any of these element types, all others are of one element type.
    """

    name: str
    written: int
    extents: Callable[..., tuple[int, ...]]
    run: Callable[..., None]
    tables: tuple[int, ...] = ()
    narrow: Mapping[int, frozenset[np.dtype]] = field(default_factory=dict)
    work: Callable[..., int] = _product
    steps: Callable[..., int] = _product
