"""Runs of one shape as calls of machine code that checks feeds, makes outputs and runs the program, without Python.

Of a run that does little, Python takes most of the time. What may fail, call back or take other shapes goes the long
way: a call gives None then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.codegen import direct_call as code
from whorl.codegen.callers import CLOCK
from whorl.codegen.target import is_available
from whorl.debug import debug
from whorl.errors import CompileError
from whorl.runtime.buffer_pool import is_small
from whorl.runtime.compiled.launch import OWN_BYTES, BoundLaunch, RunMemory
from whorl.runtime.limits import Budget

DirectCall = Callable[[Mapping[str, object]], list[Any] | None]
"""The outputs for feeds; None where they are others, or the program failed. Errors: what the budget's check raises."""
MOST_BYTES = OWN_BYTES << 3
"""Scratch memory that a call may have of its own."""


class Feed(Struct, frozen=True):
    """A name, an array as is to be fed under it, and the elements that it is to have, if the program is for these."""

    name: str
    array: np.ndarray
    contents: bytes | None


class _Cells(np.ndarray):
    """Numbers and addresses, and what keeps alive that which is at the addresses."""

    alive: _Alive


class _Alive(Struct):
    """What is at addresses."""

    objects: list[object]

    def object(self, value: object) -> int:
        """The address of an object."""
        self.objects.append(value)
        return id(value)

    def numbers(self, numbers: Sequence[int]) -> int:
        """The address of some numbers."""
        return self.elements(np.array(numbers, np.int64))

    def elements(self, array: np.ndarray) -> int:
        """The address of an array's elements."""
        self.objects.append(array)
        return array.ctypes.data


def direct_call(
    feeds: Sequence[Feed], bound: BoundLaunch, inputs: Sequence[int], order: Sequence[int], budget: Budget
) -> DirectCall | None:
    """The call for arrays of these names, types and shapes, some of which are a launch's inputs; None if there is none.

    `order` says which of the launch's results each output is. The budget answers polls.
    """
    interface = code.interface() if is_available() else None
    if interface is None or not _may_be_called(bound, budget) or sorted(order) != [*range(len(bound.allocators))]:
        return None
    try:
        memory = RunMemory(bound.launch)
        memory.bind(bound)
    except MemoryError:
        return None
    context = 0
    if bound.needs_help:
        memory.set_budget(budget)
        context = memory.context.address
        if not memory.context.block[CLOCK]:
            return None
    launch, start, alive = bound.launch, memory.address, _Alive([bound, memory])
    addresses = [launch.code.address, start, start + launch.inputs_offset, start + launch.outputs_offset, context]
    records = [_expected(feeds, alive), alive.numbers(inputs), _results(bound, order, alive)]
    numbers = [0, len(feeds), len(inputs), len(order), *addresses, *records, *interface]
    cells = np.array(numbers, np.int64).view(_Cells)
    cells.alive = alive
    try:
        return code.function_over(cells)
    except CompileError:
        if debug().is_strict:
            raise
        return None


def _may_be_called(bound: BoundLaunch, budget: Budget) -> bool:
    """Whether a program takes arrays and gives arrays of known shapes, by code that stays as it is."""
    launch = bound.launch
    asks_alone = launch.only_asks and budget.threads == 1
    is_known = bound.is_plain and launch.takes_arrays and launch.improving is None and not bound.graph.grown
    return is_known and (asks_alone or not bound.needs_help) and bound.size <= MOST_BYTES


def _expected(feeds: Sequence[Feed], alive: _Alive) -> int:
    """The address of the records of feeds."""
    cells: list[int] = []
    for feed in feeds:
        dtype, shape, contents = feed.array.dtype, feed.array.shape, np.frombuffer(feed.contents or b"", np.uint8)
        cells += alive.object(feed.name), alive.object(dtype), len(shape), alive.numbers(shape)
        cells += contents.size, alive.elements(contents), 0
    return alive.numbers(cells)


def _results(bound: BoundLaunch, order: Sequence[int], alive: _Alive) -> int:
    """The address of the records of outputs."""
    cells: list[int] = []
    for n, (allocate, (shape, dtype)) in enumerate(zip(bound.allocators, bound.launch.outputs, strict=True)):
        lengths = bound.numbers[shape]
        maker = 0 if is_small(lengths, dtype) else alive.object(allocate)
        cells += maker, alive.object(dtype), len(lengths), alive.numbers(lengths), order.index(n)
    return alive.numbers(cells)
