"""A compiled subgraph ready to run: its machine code, and the memory that each run borrows."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from whorl.codegen.target import MachineCode
from whorl.debug import debug, poison
from whorl.ir.dims import evaluate
from whorl.ir.forking import import_whole
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.types import lengths_of
from whorl.kernel.program import Statement
from whorl.kernels.aligned import aligned_empty
from whorl.llvm.fuel import FUEL
from whorl.lowering import graph_program
from whorl.lowering.graph_program import MOST_ELEMENTS, GraphProgram
from whorl.lowering.work import Ceiling, StepCounter, work_of
from whorl.runtime.buffer_pool import LARGE, empty, make_allocator
from whorl.runtime.compiled.entries import entry_of
from whorl.runtime.compiled.lists import form_lists, list_maker, nothing
from whorl.runtime.compiled.memory import BYTES, GrowableMemory, address, buffer_shape
from whorl.runtime.limits import UNLIMITED, Budget

if TYPE_CHECKING:
    from whorl.lowering.deferred import Origin
    from whorl.runtime.compiled.context import RunContext
    from whorl.runtime.compiled.improving import Improving
    from whorl.runtime.compiled.strings import StringTable

SPARE_BYTES = 1 << 26
"""Scratch memory that a program keeps for the next run; of what takes more, it keeps one."""
SPARE_COUNT = 4
OWN_BYTES = 1 << 14
"""Memory up to which shapes that came twice have their own: to take the lengths of others costs more than a small
program."""
CONTIGUOUS = 0x101
"""NumPy's flags of an array that is row-major and aligned."""
FEW_STATEMENTS, MOST_OPERATIONS = 64, 64
"""Outermost statements of a program whose work is looked at for each binding; operations that one inside may have."""
_CELL = ctypes.sizeof(ctypes.c_int64)
Loss = tuple[int, int, list[Statement]]
NOWHERE: Mapping[int, np.ndarray] = MappingProxyType({})
"""No memory for outputs but that of their own."""


class Launch:
    """Machine code of a graph program; `takes_arrays`: cells of inputs and outputs are those of arrays as objects.

    `origins`: what its constants can be had from again, where that is known. `asks`: it asks now and then whether to go
    on, or shares work with other cores. Any run takes `least_seconds`. `losses`: what runs by
    code that is not optimised: the number of its object, how often a run comes there, and statements of as much work.
    Invariant: a run owns the memory that it borrows, so any number of threads may run it at once.
    """

    def __init__(
        self,
        graph: GraphProgram,
        code: MachineCode,
        takes_arrays: bool,
        asks: bool,
        least_seconds: float,
        losses: Sequence[Loss] = (),
        origins: Sequence[Origin | None] = (),
    ) -> None:
        self.graph, self.code, self.losses, self.origins = graph, code, losses, origins
        self.counters = [(n, times, StepCounter(body)) for n, times, body in losses]
        self.counted: dict[tuple[int, ...], Sequence[tuple[int, int]]] = {}
        self.takes_arrays, self.asks, self.least_seconds = takes_arrays, asks, least_seconds
        program = graph.program
        first = len(program.scalars)
        first_out = first + len(graph.inputs) + len(graph.constants)
        self.outputs = [(lengths_of(t), t.dtype) for n, t in enumerate(graph.outputs) if n not in graph.grown]
        self.shapes = {*map(tuple, graph.shapes.values()), *(shape for shape, _ in self.outputs)}
        self.inputs_offset, self.outputs_offset = first * _CELL, first_out * _CELL
        self.entry = entry_of(program, code.address)
        self.improving: Improving | None = None
        if code.quick:
            self.improving = import_whole("whorl.runtime.compiled.improving").Improving(self)
        self.pack_inputs = struct.Struct(f"{len(graph.inputs)}q").pack_into
        self.pack_outputs = struct.Struct(f"{len(self.outputs)}q").pack_into
        self.has_calls = bool(program.calls)
        lists = [n for n, kind in graph.sequences if kind == graph_program.RAGGED and graph.strings is None]
        self.grown_lists = [n for n in lists if n in graph.grown and n + 1 in graph.grown]
        self.only_asks = self.asks and not (self.has_calls or program.growing)
        self.needs_help = self.has_calls or self.asks or bool(program.growing)
        self.spare: list[RunMemory] = []
        most = FUEL // MOST_OPERATIONS - 1
        self.is_short = Ceiling(most, partial(work_of, program, FUEL, enough=most))
        self.table: StringTable | None = None
        if graph.strings is not None:
            self.table = import_whole("whorl.runtime.compiled.strings").StringTable(graph.strings)

    def steps(self, scalars: Mapping[Expr, int]) -> Sequence[tuple[int, int]]:
        """The steps of a run by code that is not optimised, about, by the numbers of objects.

        To count them takes longer than many a run, so it is done for powers of two.
        """
        lengths = {scalar: 1 << max(length - 1, 0).bit_length() for scalar, length in scalars.items()}
        key = tuple(lengths.values())
        if key not in self.counted:
            self.counted[key] = [(n, times * counter.steps(lengths)) for n, times, counter in self.counters]
        return self.counted[key]

    def suits(self, lengths: Mapping[str, int]) -> bool:
        """Whether it is of use where names are these lengths, 0 or 1 among them, and none made for those is better.

        One that leaves native code for ops which do not take lengths as they come is worse than one made for them.
        """
        return not self.has_calls and self.graph.fits(lengths)

    def bind(self, lengths: Mapping[str, int]) -> BoundLaunch:
        """The launch for inputs of which names have these lengths.

        Raises ValueError or OverflowError where the program has no memory or no meaning for them.
        """
        return BoundLaunch(self, lengths)


class BoundLaunch:
    """A launch for inputs of certain shapes: the lengths that the program takes, and the memory that it needs."""

    def __init__(self, launch: Launch, lengths: Mapping[str, int]) -> None:
        self.launch, graph = launch, launch.graph
        self.graph = graph
        self.scalars = graph.scalars(lengths)
        numbers = {shape: tuple([evaluate(n, lengths) for n in shape]) for shape in launch.shapes}
        for shape in numbers.values():
            if min(shape, default=0) < 0 or math.prod(shape) > MOST_ELEMENTS:
                raise ValueError(f"a tensor would have the shape {shape}")
        self.numbers = numbers
        self.size, self.offsets = graph.arena.allocate(lengths)
        self.allocators = [make_allocator(numbers[shape], dtype) for shape, dtype in launch.outputs]
        self.spare: list[RunMemory] = []
        self.has_run = self.is_large = False
        self.runs = 0
        self.is_plain = launch.table is None and not graph.sequences and not graph.maps
        self.has_calls = launch.has_calls
        self.needs_help = launch.needs_help and not (launch.only_asks and self._is_short())

    def _is_short(self) -> bool:
        """Whether a run does so little for these lengths that nothing can stop it, and no other core is of use."""
        if debug().spreads:
            return False
        body = self.graph.program.body
        return len(body) <= FEW_STATEMENTS and self.launch.is_short.covers(self.scalars)

    def run(
        self,
        arrays: Sequence[np.ndarray],
        budget: Budget = UNLIMITED,
        into: Mapping[int, np.ndarray] = NOWHERE,
        scalars: Sequence[tuple[int, int]] = (),
    ) -> list[Any] | None:
        """Outputs for the arrays of `graph.inputs`, row-major and of the right types; None if the program failed.

        A sequence among the inputs is an array of its rows, one among the outputs a list. `into` is memory for outputs,
        by number, where their shapes are known before the run and theirs; `scalars` are cells that differ in this run.

        What the budget, a signal's handler or an op's callback raises ends the program and is raised here.
        """
        if self.is_plain:
            return self._run(arrays, budget, into, scalars)
        table = self.launch.table
        encoded = (arrays, ()) if table is None else table.encode(arrays)
        results = None if encoded is None else self._run(encoded[0], budget, NOWHERE, scalars)
        if results is None or encoded is None:
            return None
        if table is not None:
            table.decode(results, encoded[1])
        form_lists(results, self.graph.sequences, self.graph.maps)
        return results

    def _run(
        self,
        arrays: Sequence[np.ndarray],
        budget: Budget,
        into: Mapping[int, np.ndarray],
        scalars: Sequence[tuple[int, int]],
    ) -> list[Any] | None:
        launch = self.launch
        if launch.improving is not None:
            self.count(budget)
        try:
            memory = self._borrow()
            results: list[Any] = [allocate() for allocate in self.allocators]
        except (MemoryError, IndexError, ValueError):
            return None
        if into and not self.graph.grown:
            for n, array in into.items():
                if (array.shape, array.dtype) == (results[n].shape, results[n].dtype):
                    results[n] = array
        poison(memory.arena)
        for cell, number in scalars:
            memory.block[cell] = number
        key = id if launch.takes_arrays else address
        launch.pack_inputs(memory.block, launch.inputs_offset, *map(key, arrays))
        launch.pack_outputs(memory.block, launch.outputs_offset, *map(key, results))
        if not self.needs_help:
            status = launch.entry(memory.address)
        else:
            status, results = self._run_with_help(memory, arrays, results, budget)
        self._give_back(memory)
        return None if status else results

    def count(self, budget: Budget) -> None:
        """Before a run of code that may be optimised now. Errors: those of the budget."""
        self.runs += 1
        if (improving := self.launch.improving) is not None:
            improving.count(self.runs, self.launch.steps(self.scalars), budget)

    def _give_back(self, memory: RunMemory) -> None:
        """Let other runs borrow memory."""
        spare = self.launch.spare
        if not self.has_run:
            self.has_run = True
        elif memory.size + memory.buffers.size > OWN_BYTES:
            self.is_large = True
        else:
            spare = self.spare
        if len(spare) < (SPARE_COUNT if memory.size <= SPARE_BYTES else 1):
            spare.append(memory)

    def _borrow(self) -> RunMemory:
        """Memory for a run. Errors: MemoryError, IndexError where another thread took the last just now."""
        if self.spare:
            return self.spare.pop()
        spare = self.launch.spare
        memory = RunMemory(self.launch) if not spare or self._has_no_use_for(spare[-1]) else spare.pop()
        if memory.bound is not self:
            memory.bind(self)
        return memory

    def _has_no_use_for(self, memory: RunMemory) -> bool:
        """Whether memory that shapes share is left to others: a shape that came twice may need little of its own."""
        may_need_little = self.has_run and not self.is_large and self.size <= OWN_BYTES
        return may_need_little and memory.is_large and memory.bound is not self

    def _run_with_help(
        self, memory: RunMemory, arrays: Sequence[np.ndarray], results: list[Any], budget: Budget
    ) -> tuple[int, list[Any]]:
        """Run a program that calls back: to be stopped, for ops that have no native form, or for memory that grows."""
        if self.launch.only_asks:
            memory.set_budget(budget)
            status = self.launch.entry(memory.address)
            if status:
                memory.context.raise_error()
            return status, results
        if self.has_calls:
            memory.set_arrays(self, arrays, results)
        memory.set_budget(budget)
        status = self.launch.entry(memory.address)
        if self.has_calls:
            memory.forget_arrays()
        if status:
            memory.trim(is_stale=True)
            memory.context.raise_error()
            return status, results
        for n, result in zip(memory.outputs, memory.take_outputs(), strict=True):
            results.insert(n, result)
        return status, results

    @property
    def bytes(self) -> int:
        """Memory that a run takes besides its inputs."""
        outputs = self.launch.outputs
        return self.size + sum(dtype.itemsize * math.prod(self.numbers[shape]) for shape, dtype in outputs)


class RunMemory:
    """What one run at a time uses: the block of cells, with the constants' addresses in place, and scratch memory."""

    def __init__(self, launch: Launch) -> None:
        self.graph = graph = launch.graph
        program = graph.program
        self.size = -1
        self.bound: BoundLaunch | None = None
        self.arena = np.empty(0, BYTES)
        inputs, outputs = [0] * len(graph.inputs), [0] * len(launch.outputs)
        cells = [*[0] * len(program.scalars), *inputs, *map(address, graph.arrays), *outputs]
        self.scratch_cell = len(cells)
        cells += [0] * len(program.scratch)
        self.callback_cell = len(cells)
        cells += [0] * (2 + len(program.growing))
        self.block = (ctypes.c_int64 * len(cells))(*cells)
        self.address = ctypes.addressof(self.block)
        self.arrays: dict[Buffer, np.ndarray] = {}
        self.fixed: dict[Buffer, np.ndarray] = {}
        self.buffers = GrowableMemory()
        self.contents: dict[int, tuple[int, np.ndarray]] = {}
        self.growing = [n for n, buffer in enumerate(program.scratch) if buffer.grows]
        self.in_arena = [n for n, buffer in enumerate(program.scratch) if not buffer.grows]
        self.outputs = {
            n: (
                self.scratch_cell + g.scratch,
                [d if isinstance(d, int) else 0 for d in lengths_of(graph.outputs[n])],
                list(g.lengths.items()),
                graph.outputs[n].dtype,
            )
            for n, g in graph.grown.items()
        }
        self.lists: dict[int, Callable[[], list[np.ndarray] | None]] = {}
        for n in launch.grown_lists:
            self._make_list(n)
        self.budget = UNLIMITED
        if launch.needs_help:
            self.context: RunContext = import_whole("whorl.runtime.compiled.context").RunContext()
            self.context.set_check(self.budget.check)
            self.context.set_callbacks(self.run_op, self.buffers.grow)
            self.block[self.callback_cell] = self.context.address
        if program.calls:
            self.callbacks = import_whole("whorl.runtime.compiled.callbacks")
            self.efforts = self.callbacks.efforts_of(program)
            constants = program.buffers[len(inputs) : len(inputs) + len(graph.constants)]
            self.constants = dict(zip(constants, graph.arrays, strict=True))

    def _make_list(self, output: int) -> None:
        """Let the list that an output and the table after it are be made where they lie: nothing is then in theirs."""
        elements, table = self.outputs[output], self.outputs[output + 1]
        counts = [scalar for axis, scalar in table[2] if axis == 0]
        cells = [self.address + n * _CELL for n in (elements[0], table[0], *counts)]
        make = list_maker(elements[3], table[1][1], cells)
        if make is not None:
            self.lists |= {output: make, output + 1: nothing}

    @property
    def is_large(self) -> bool:
        """Whether shapes share it."""
        return self.size + self.buffers.size > OWN_BYTES

    def bind(self, bound: BoundLaunch) -> None:
        """Take the lengths of a run, and scratch memory for them; raises MemoryError where there is none."""
        self.bound = None
        if bound.size > self.size or self.size > SPARE_BYTES:
            self.size = -1
            self.arena = aligned_empty((bound.size,), BYTES)
            self.size = bound.size
        start = address(self.arena)
        if bound.launch.needs_help and not bound.needs_help:
            self.set_budget(UNLIMITED)
        self.block[: len(bound.scalars)] = list(bound.scalars.values())
        for n in self.in_arena:
            self.block[self.scratch_cell + n] = start + bound.offsets[n]
        if self.graph.program.calls:
            self.fixed = self.constants | self._scratch(bound)
        self.bound = bound

    def set_budget(self, budget: Budget) -> None:
        """Before a run that may call back: the limits that hold for it."""
        if budget is self.budget:
            self.context.start_period()
        else:
            self.budget = budget
            self.context.set_check(budget.check)
        self.context.set_threads(budget.threads)

    def _free_growable(self) -> None:
        self.buffers.clear()
        self.contents.clear()
        for n in self.growing:
            self.block[self.scratch_cell + n] = 0
        for n in range(len(self.growing)):
            self.block[self.callback_cell + 2 + n] = 0

    def trim(self, is_stale: bool) -> None:
        """After a run: growable buffers stay for the next one, unless they are large or the cells are stale."""
        if is_stale or debug().poisons or self.buffers.size > SPARE_BYTES:
            self._free_growable()

    def take_outputs(self) -> list[Any]:
        """After a run: the outputs that lie in growable buffers."""
        is_large = self.buffers.size > SPARE_BYTES
        results: list[Any] = []
        for n in self.outputs:
            make_list = self.lists.get(n)
            if make_list is None:
                results.append(self.take_grown(n) if is_large else self.copy_grown(n))
            else:
                results.append(make_list())
        self.trim(is_stale=is_large)
        return results

    def take_grown(self, output: int) -> np.ndarray:
        """An output in the growable buffer that it lies in, which no later run may use then."""
        cell, shape, lengths, dtype = self.outputs[output]
        for axis, scalar in lengths:
            shape[axis] = self.block[scalar]
        start = self.block[cell]
        is_alone = math.prod(shape) and all(
            self.block[each] != start for n, (each, *_) in self.outputs.items() if n != output
        )
        return self.buffers.take(start, shape, dtype) if is_alone else self.copy_grown(output)

    def copy_grown(self, output: int) -> np.ndarray:
        """A copy of an output that lies in a growable buffer; of a small one by NumPy, which takes less to ask."""
        cell, shape, lengths, dtype = self.outputs[output]
        for axis, scalar in lengths:
            shape[axis] = self.block[scalar]
        count, start = math.prod(shape), self.block[cell]
        if not count or count * dtype.itemsize >= LARGE:
            result = empty(shape, dtype)
            ctypes.memmove(address(result), start, result.nbytes)
            return result
        known = self.contents.get(output)
        if known is None or known[0] != start:
            memory = self.buffers.arrays[start]
            known = self.contents[output] = start, memory[: len(memory) // dtype.itemsize * dtype.itemsize].view(dtype)
        return known[1][:count].reshape(shape).copy()

    def _scratch(self, bound: BoundLaunch) -> dict[Buffer, np.ndarray]:
        arrays: dict[Buffer, np.ndarray] = {}
        for buffer, offset in zip(self.graph.program.scratch, bound.offsets, strict=True):
            if buffer.grows:
                continue
            shape = self._shape_of(bound, buffer)
            count = int(np.prod(shape)) * buffer.dtype.itemsize
            arrays[buffer] = self.arena[offset : offset + count].view(buffer.dtype).reshape(shape)
        return arrays

    def _shape_of(self, bound: BoundLaunch, buffer: Buffer) -> tuple[int, ...]:
        """The shape of the tensor that a buffer of known lengths is for."""
        dims = self.graph.shapes.get(buffer)
        return buffer_shape(buffer) if dims is None else bound.numbers[tuple(dims)]

    def set_arrays(self, bound: BoundLaunch, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        """The arrays that callbacks read and write in a run. An output may lie where a tensor of another shape does."""
        buffers = self.graph.program.buffers
        own = dict(zip(buffers, inputs, strict=False))
        for buffer, array in zip(reversed(buffers), reversed(outputs), strict=False):
            own[buffer] = array.reshape(self._shape_of(bound, buffer))
        self.arrays = self.fixed | own

    def forget_arrays(self) -> None:
        """After a run: keep none of its arrays alive."""
        self.arrays = self.fixed

    def run_op(self, number: int, cells: int) -> int:
        call = self.graph.program.calls[number]
        if call.output_lengths:
            is_done = self.callbacks.run_op_any_length(call, self.efforts[number], self.buffers, cells, self.budget)
            return 0 if is_done else 1
        return 0 if self.callbacks.run_op(call, self.efforts[number], self.arrays, self.budget) else 1
