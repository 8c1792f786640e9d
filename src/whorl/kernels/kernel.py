"""What a kernel is: a routine on whole arrays that programs call."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec import Struct, field

from whorl.llvm.module import Module

Numbers = Sequence[int]
Arrays = Sequence[np.ndarray]
Dtypes = Sequence[np.dtype]

ANY = -1
"""Stands for a number that only the run knows, where a routine is defined."""
LANES = 16
"""Steps of a kernel that take about as long as a scalar operation."""


def count_steps(numbers: Numbers) -> int:
    """A step for each combination of all numbers, of which 0 counts as 1."""
    return math.prod(max(1, n) for n in numbers)


class Meaning(Struct, frozen=True):
    """`run(arrays, numbers)` computes it on flat arrays; `extents(numbers, dtype)` the elements used of each.

    `work(numbers)` is about how many scalar statements take as long. `steps(numbers)` counts what its innermost loop
    does, LANES of which take about as long as a scalar operation.

    `factors` are the positions of the numbers whose product is about the steps, of a kernel that can be taken in parts.

    The first `written` operands are overwritten, none of which may overlap another operand, unless it is said what may.
    Those at `tables` are int32, those at `narrow` any of these element types, all others are of one element type.
    """

    written: int
    extents: Callable[[Numbers, np.dtype], tuple[int, ...]]
    run: Callable[[Arrays, Numbers], None]
    tables: tuple[int, ...] = ()
    narrow: Mapping[int, frozenset[np.dtype]] = field(default_factory=dict[int, frozenset[np.dtype]])
    work: Callable[[Numbers], int] = count_steps
    steps: Callable[[Numbers], int] = count_steps
    factors: tuple[int, ...] = ()


class Kernel(Struct, frozen=True):
    """A kernel's facets, joined under the name by which programs call it.

    `define(module, dtypes, numbers)` adds its routine to a module, for the element types of all operands, and returns
    the routine's name. A number on which the text of a routine does not depend may be `ANY`. Routines take the
    addresses of all operands, all numbers, and where there are `factors` the first of `PARTS` to compute and the one
    after the last (`llvm/routine.py`); and they poll.
    """

    name: str
    meaning: Meaning
    define: Callable[[Module, Dtypes, Numbers], str]
