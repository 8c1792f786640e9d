"""Runs of one shape as calls of machine code that checks feeds, makes outputs and runs the program, without Python.

Of a run that does little, Python takes most of the time. Other shapes, and what fails, go the long way: a call gives
None then. It runs on one thread; after a run that had work for more, it gives None for good.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.codegen import direct_call as code
from whorl.codegen.callers import CLOCK
from whorl.codegen.objects import WORD
from whorl.codegen.target import is_available
from whorl.debug import debug
from whorl.errors import CompileError
from whorl.runtime.buffer_pool import LARGE, is_small
from whorl.runtime.compiled.launch import OWN_BYTES, SPARE_BYTES, BoundLaunch, RunMemory
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
    if interface is None or not _may_be_called(bound) or sorted(order) != [*range(len(bound.graph.outputs))]:
        return None
    try:
        memory = RunMemory(bound.launch)
        memory.bind(bound)
    except MemoryError:
        return None
    context = 0
    if bound.needs_help:
        memory.set_budget(budget)
        memory.context.leave_pool()
        context = memory.context.address
        if not memory.context.block[CLOCK]:
            return None
    launch, start, alive = bound.launch, memory.address, _Alive([bound, memory])
    addresses = [launch.code.address, start, start + launch.inputs_offset, start + launch.outputs_offset, context]
    grown = _grown(memory, order, alive)
    records = [_expected(feeds, alive), alive.numbers(inputs), _results(bound, order, alive), *grown]
    numbers = [0, len(feeds), len(inputs), len(bound.allocators), *addresses, *records, *interface]
    cells = np.array(numbers, np.int64).view(code.Cells)
    cells.alive = alive
    try:
        return code.function_over(cells)
    except (CompileError, MemoryError, RuntimeError):  # the long way gives the same results
        if debug().is_strict:
            raise
        return None


def _may_be_called(bound: BoundLaunch) -> bool:
    """Whether a program takes arrays and gives arrays, by code that will not change."""
    launch = bound.launch
    is_known = bound.is_plain and launch.takes_arrays and launch.improving is None and not launch.has_calls
    return is_known and bound.size <= MOST_BYTES


def _grown(memory: RunMemory, order: Sequence[int], alive: _Alive) -> list[int]:
    """The cells for outputs whose lengths the program tells: they lie in memory that grows."""
    if not memory.growing:
        return [0] * 6
    is_large = np.zeros(1, np.int64)

    def grow(old: int, size: int) -> int:
        start = memory.buffers.grow(old, size)
        is_large[0] = memory.buffers.size > SPARE_BYTES
        return start

    def finish() -> list[np.ndarray]:
        results = memory.take_outputs()
        is_large[0] = 0
        return results

    cells: list[int] = []
    for n, (cell, shape, lengths, dtype) in memory.outputs.items():
        cells += len(lengths), alive.object(dtype), len(shape), alive.numbers(shape), order.index(n)
        cells += alive.numbers([n for pair in lengths for n in pair]), memory.address + cell * WORD, dtype.itemsize
    memory.context.set_callbacks(memory.run_op, grow)
    head = [alive.numbers(cells), len(memory.outputs), LARGE, alive.elements(is_large)]
    return [*head, alive.object(finish), alive.object(partial(memory.trim, is_stale=True))]


def _expected(feeds: Sequence[Feed], alive: _Alive) -> int:
    """The address of the records of feeds."""
    cells: list[int] = []
    for feed in feeds:
        dtype, shape, contents = feed.array.dtype, feed.array.shape, np.frombuffer(feed.contents or b"", np.uint8)
        cells += alive.object(feed.name), alive.object(dtype), len(shape), alive.numbers(shape)
        cells += contents.size, alive.elements(contents), 0
    return alive.numbers(cells)


def _results(bound: BoundLaunch, order: Sequence[int], alive: _Alive) -> int:
    """The address of the records of outputs whose shapes are known before the run."""
    cells: list[int] = []
    numbers = [n for n in range(len(bound.graph.outputs)) if n not in bound.graph.grown]
    for n, allocate, (shape, dtype) in zip(numbers, bound.allocators, bound.launch.outputs, strict=True):
        lengths = bound.numbers[shape]
        maker = 0 if is_small(lengths, dtype) else alive.object(allocate)
        cells += maker, alive.object(dtype), len(lengths), alive.numbers(lengths), order.index(n)
    return alive.numbers(cells)
