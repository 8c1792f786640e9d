"""A compiled loop: machine code of a Loop for the shapes of its operands, and its execution in slices of time.

Between slices the runtime polls limits and gives collected rows more memory; an iteration that may run long polls
inside. Invariant: state is copied before a slice wherever the program may fail, so that the interpreter runs the slice
again from the copy and meets the error.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from whorl.codegen.emit import emit
from whorl.codegen.target import MachineCode
from whorl.ir.dims import Dim, substitute
from whorl.ir.graph import Node
from whorl.ir.types import TensorType, lengths_of
from whorl.kernel.outline import spreads_of
from whorl.kernel.polls import insert_polls
from whorl.kernel.spread import spread
from whorl.lowering.expressions import Unsupported
from whorl.lowering.loops import LoopProgram, lower_loop
from whorl.lowering.work import turns_of
from whorl.ops.control.iteration import Iteration
from whorl.runtime.buffer_pool import empty
from whorl.runtime.compiled.callbacks import efforts_of, run_op, run_op_any_length
from whorl.runtime.compiled.context import RunContext
from whorl.runtime.compiled.entries import entry_of
from whorl.runtime.compiled.memory import (
    DoubleBuffer,
    GrowableDoubleBuffer,
    GrowableMemory,
    address,
    buffer_shape,
    stack_sequence,
    unstack,
)
from whorl.runtime.compiled.preheader import Workspace
from whorl.runtime.compiled.shape_signatures import DynamicDims
from whorl.runtime.compiled.specialise import specialise
from whorl.runtime.limits import UNLIMITED, Budget

SLICE_SECONDS = 0.01
"""How long native code runs before limits are checked again."""
FIRST_SLICE, LONGEST_SLICE = 64, 1 << 22
FIRST_TURNS, MOST_TURNS = 1 << 24, 1 << 32
"""Statements that a first slice runs, and that one iteration may run; where it runs more, the loops inside are run in
slices instead, which report their progress."""
FIRST_CAPACITY = 1024
LEAST_BLOCK, LARGEST_BLOCK = 1 << 12, 1 << 30
"""Bytes that are reserved at once, at least and at most, for a carried value that grows."""
EXACT_BYTES = 1 << 32
"""Memory for collected rows that is reserved at once where their number is known; beyond it, it grows."""
SPARE_BYTES = 1 << 26
"""Scratch memory that a loop keeps between runs."""


class CompiledLoop:
    """Machine code for a Loop at fixed operand shapes, but for its dynamic dims.

    A loop inside may do `most_iterations`; the one that runs is counted by who runs it.
    """

    def __init__(
        self, node: Node, iteration: Iteration, dynamic: DynamicDims | None = None, most_iterations: int | None = None
    ) -> None:
        self.dynamic = dict(dynamic or {})
        special, self.preheader, fixed = specialise(node, iteration, self.dynamic)
        self.program: LoopProgram = lower_loop(special, fixed, most_iterations)
        turns = turns_of(self.program.program, 1)
        if turns > MOST_TURNS:
            raise Unsupported("an iteration takes so long that only the loops inside are native")
        program = self.program.program
        spread(program)
        self.polls = insert_polls(program, program.scalars[1])
        self.efforts = efforts_of(program)
        self.needs_help = self.polls or bool(program.calls or program.growing or spreads_of(program.body))
        self.code = MachineCode(emit(program), "whorl_run")
        self.entry = entry_of(self.program.program, self.code.address)
        self.may_fail = self.program.may_fail
        self.slice = max(1, min(FIRST_SLICE, FIRST_TURNS // max(1, turns)))
        self.spare: list[Workspace] = []

    def borrow_memory(self) -> Workspace:
        """Memory for a run; runs at the same time have their own."""
        try:
            return self.spare.pop()
        except IndexError:
            return Workspace()

    def release(self, memory: Workspace) -> None:
        """Take back the memory of a run that is over."""
        if not self.spare and memory.size <= SPARE_BYTES:
            self.spare.append(memory)


class LoopRun:
    """One execution of a compiled loop: its memory, and the cells that its code reads and writes."""

    def __init__(self, compiled: CompiledLoop, iteration: Iteration, budget: Budget = UNLIMITED) -> None:
        self.compiled, self.iteration, self.budget = compiled, iteration, budget
        self.context: RunContext | None = None
        program = compiled.program
        self.memory, self.buffers = compiled.borrow_memory(), GrowableMemory()
        rows, extra = compiled.preheader.run(iteration.rows, iteration.captured, iteration.bound, self.memory, budget)
        self.first = iteration.index
        captured = [*iteration.captured, *extra]
        self.base = len(program.program.scalars)
        self.cells = np.zeros(self.base + program.cells, np.int64)
        self.cells[0], self.cells[2] = iteration.index, iteration.go_on
        self.states: list[DoubleBuffer | GrowableDoubleBuffer] = []
        lengths: list[int] = []
        first = [stack_sequence(x, type) for x, type in zip(iteration.state, program.carried, strict=False)]
        first += [_initial_last_value(type) for type in program.carried[len(first) :]]
        for x, steps in zip(first, program.lengths, strict=True):
            self.states.append(self._growable(x, steps, 3 + len(lengths)) if steps else DoubleBuffer(x))
            lengths += [x.shape[axis] for axis in steps]
        sizes = self._dynamic_sizes(rows, iteration.captured)
        self.cells[3 : self.base] = [*lengths, *(sizes[name] for name in program.free)]
        self.rows = [np.ascontiguousarray(x) for x in rows]
        self.captured = [np.ascontiguousarray(captured[n]) for n in program.captured] + program.constants
        self.collected_shapes = [_shape(t, {**sizes}) for t in program.collected]
        self.capacity = self._first_capacity()
        pairs = zip(self.collected_shapes, program.collected, strict=True)
        self.collected_rows = [empty((self.capacity, *shape), t.dtype) for shape, t in pairs]
        self.scratch = [
            None if b.grows else self.memory.array(n, buffer_shape(b), b.dtype)
            for n, b in enumerate(program.program.scratch)
        ]
        self._set_addresses()
        if compiled.needs_help:
            self._set_context()

    def _dynamic_sizes(self, rows: Sequence[np.ndarray], captured: Sequence[np.ndarray]) -> dict[str, int]:
        """The values of the program's dynamic dims, by name."""
        dynamic, states = self.compiled.dynamic, self.iteration.state
        shapes: list[tuple[int, ...]] = [np.shape(x) for x in states] if dynamic else []
        shapes += [x.shape[1:] for x in rows[: len(self.iteration.rows)]] + [x.shape for x in captured]
        return {name: shapes[n][axis] for (n, axis), name in dynamic.items()}

    def _growable(self, x: np.ndarray, steps: dict[int, int | None], cell: int) -> GrowableDoubleBuffer:
        """Memory for a carried value that grows: at once its final size, where that is known."""
        bound, size = self.iteration.bound, 2 * x.nbytes
        if bound is not None and None not in steps.values():
            left = bound - self.first
            after = [n + max(0, (steps.get(axis) or 0) * left) for axis, n in enumerate(x.shape)]
            size = math.prod(after) * x.dtype.itemsize
        size = min(max(size, x.nbytes, LEAST_BLOCK), x.nbytes + LARGEST_BLOCK)
        return GrowableDoubleBuffer(x, self.buffers, size, tuple(steps), cell)

    def _set_addresses(self) -> None:
        program, cells = self.compiled.program.program, self.cells
        carried = [start for state in self.states for start in state.addresses]
        self._write_addresses(self.base + len(carried), [*self.rows, *self.captured])
        cells[self.base : self.base + len(carried)] = carried
        self.collected_cell = self.base + len(program.buffers) - len(self.collected_rows)
        self._write_addresses(self.collected_cell, self.collected_rows, self.first)
        after = self.base + len(program.buffers)
        for n, array in enumerate(self.scratch):
            cells[after + n] = 0 if array is None else address(array)
        after += len(self.scratch)
        capacities = [size for state in self.states for size in state.capacities]
        cells[after + 2 : after + 2 + len(capacities)] = capacities

    def _set_context(self) -> None:
        program = self.compiled.program.program
        self.context = RunContext()
        self.context.set_check(self.budget.check)
        self.context.set_threads(self.budget.threads)
        self.context.set_callbacks(self._run_op, self.buffers.grow)
        self.cells[self.base + len(program.buffers) + len(self.scratch)] = self.context.address
        captured = program.buffers[2 * len(self.states) + len(self.rows) :]
        memory = dict(zip(program.scratch, self.scratch, strict=True))
        memory |= dict(zip(captured, self.captured, strict=False))
        self.arrays = {buffer: array for buffer, array in memory.items() if array is not None}

    def _run_op(self, number: int, cells: int) -> int:
        call = self.compiled.program.program.calls[number]
        effort = self.compiled.efforts[number]
        if call.output_lengths:
            done = run_op_any_length(call, effort, self.buffers, cells, self.budget)
        else:
            done = run_op(call, effort, self.arrays, self.budget)
        return 0 if done else 1

    def _write_addresses(self, cell: int, arrays: Sequence[np.ndarray], skipped: int = 0) -> None:
        """Write addresses of arrays; `skipped` rows before the first belong to iterations that were interpreted."""
        for k, array in enumerate(arrays):
            row = array.nbytes // max(1, len(array)) if skipped else 0
            self.cells[cell + k] = address(array) - skipped * row

    def _first_capacity(self) -> int:
        bound = self.iteration.bound
        left = None if bound is None else bound - self.first
        pairs = zip(self.collected_shapes, self.compiled.program.collected, strict=True)
        row = sum(math.prod(shape) * t.dtype.itemsize for shape, t in pairs)
        if left is not None and not self.iteration.stops and left * row <= EXACT_BYTES:
            return left
        return FIRST_CAPACITY if left is None else min(left, FIRST_CAPACITY)

    def advance(self, most: int | None) -> bool:
        """Run for about a slice of time, at most to iteration `most`; False if the program failed.

        After a failure the iteration stands where the slice began.
        """
        cells, compiled, bound = self.cells, self.compiled, self.iteration.bound
        i, size = int(cells[0]), compiled.slice
        stop = min(x for x in (i + size, bound, most) if x is not None)
        if self.collected_rows and stop - self.first > self.capacity:
            self._grow(stop - self.first)
        before = [x.copy() for x in self._current_states()] if compiled.may_fail else []
        cells[1] = stop
        start = time.perf_counter()
        status = compiled.entry(address(cells))
        elapsed = time.perf_counter() - start
        if status:
            self.iteration.state, context, self.context = self._as_values(before), self.context, None
            if context is not None:
                context.raise_error()
            return False
        if stop - i == size:
            compiled.slice = int(min(LONGEST_SLICE, max(1, size * min(SLICE_SECONDS / max(elapsed, 1e-6), 16.0))))
        self.iteration.index, self.iteration.go_on = int(cells[0]), bool(cells[2])
        return True

    def finish(self) -> None:
        """Give the carried values to the iteration, which is over."""
        states = self._current_states()
        self.iteration.last = states[len(self.iteration.state) :]
        self.iteration.state, self.context = self._as_values(states), None
        self.compiled.release(self.memory)

    def _as_values(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray | list[np.ndarray]]:
        """Carried values in the interpreter's form: sequences as lists."""
        pairs = zip(arrays, self.iteration.state, strict=False)
        return [unstack(x) if isinstance(old, list) else x for x, old in pairs]

    def _current_states(self) -> list[np.ndarray]:
        """The carried values, by the addresses and the lengths that the code left."""
        return [state.current(int(self.cells[self.base + 2 * n]), self.cells) for n, state in enumerate(self.states)]

    def _grow(self, needed: int) -> None:
        done = int(self.cells[0]) - self.first
        self.capacity = max(needed, 2 * self.capacity)
        for k, old in enumerate(self.collected_rows):
            self.collected_rows[k] = empty((self.capacity, *old.shape[1:]), old.dtype)
            self.collected_rows[k][:done] = old[:done]
        self._write_addresses(self.collected_cell, self.collected_rows, self.first)

    def collected(self) -> list[np.ndarray]:
        """What this run collected, an iteration a row."""
        done = self.iteration.index - self.first
        return [rows if len(rows) == done else rows[:done] for rows in self.collected_rows]


def _shape(type: TensorType, sizes: dict[str, Dim]) -> list[int]:
    """The shape of a tensor whose lengths follow from those of operands."""
    lengths = (substitute(dim, sizes) for dim in lengths_of(type))
    return [n for n in lengths if isinstance(n, int)]


def _initial_last_value(type: TensorType) -> np.ndarray:
    """A value of the last iteration, before the first one."""
    return np.zeros([n if isinstance(n, int) else 0 for n in lengths_of(type)], type.dtype)
