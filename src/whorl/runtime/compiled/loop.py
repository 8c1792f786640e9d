"""Native loops at run time: a Loop specialised to the shapes it meets, compiled once, and run in slices of time.

Between slices the runtime looks at limits and gives collected rows more memory; an iteration that may run long polls
inside. State is copied before a slice only where the program may fail: the interpreter then runs the slice again from
the copy and meets the error. A loop on strings, optionals or sequences of unequal tensors has no native form.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from whorl.codegen.emit import emit
from whorl.codegen.target import MachineCode, is_available
from whorl.errors import LimitError, RunError
from whorl.ir.dims import Dim, substitute
from whorl.ir.forking import renew_in_children
from whorl.ir.graph import Node
from whorl.ir.types import TensorType
from whorl.kernel.polls import insert_polls
from whorl.lowering.expressions import Unsupported
from whorl.lowering.loops import LoopProgram, lower_loop
from whorl.lowering.storage import lengths_of
from whorl.lowering.work import turns_of
from whorl.ops.control.iteration import Iteration
from whorl.runtime.buffer_pool import empty
from whorl.runtime.compiled.background import compile_aside, in_background
from whorl.runtime.compiled.callbacks import efforts_of, run_any, run_op
from whorl.runtime.compiled.context import Caller
from whorl.runtime.compiled.entries import entry_of
from whorl.runtime.compiled.memory import Blocks, Lengthening, Pair, address, as_rows, signature_of
from whorl.runtime.compiled.preheader import Workspace
from whorl.runtime.compiled.refusals import Refusal, refusal_of
from whorl.runtime.compiled.shape_signatures import MOST, Forms
from whorl.runtime.compiled.specialise import Free, specialise
from whorl.runtime.limits import UNLIMITED, Budget
from whorl.runtime.trace import now

WORTHWHILE = 16
"""Iterations that must be left for a loop that was interpreted so far to change over."""
SLICE_SECONDS = 0.01
"""How long native code runs before limits are checked again."""
LONG_BITS = 16
"""Trip counts that differ by less than this factor, as a power of two, share a program."""
FIRST_SLICE, LONGEST_SLICE = 64, 1 << 22
FIRST_TURNS, MOST_TURNS = 1 << 24, 1 << 32
"""Statements that a first slice runs, and that one iteration may run; where it runs more, the loops inside are run in
slices instead, which tell their progress."""
FIRST_CAPACITY = 1024
LEAST_BLOCK, LARGEST_BLOCK = 1 << 12, 1 << 30
"""Bytes that are asked for at once, at least and at most, for a carried value that grows."""
EXACT_BYTES = 1 << 32
"""Memory for collected rows that is asked for at once where their number is known; beyond it, it grows."""
SPARE_BYTES = 1 << 26
"""Scratch memory that a loop keeps between runs."""


class NativeLoop:
    """The native forms of one Loop node, one for each signature of operand shapes."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.forms = Forms()
        self.making: Future[Any] | None = None
        renew_in_children(self)

    def renew(self) -> None:
        """In the child of a fork, where nothing is under way."""
        self.making = None

    def is_due(self, iteration: Iteration, after: int, seen: int) -> bool:
        """Whether so much has been interpreted, and is left, that compiling pays; `after` 0 is always."""
        if after == 0:
            return True
        left = None if iteration.bound is None else iteration.bound - iteration.index
        return seen >= after and (left is None or left >= WORTHWHILE)

    def is_made(self, iteration: Iteration) -> bool:
        """Whether there is a native form, or surely none."""
        asked = self._asked(iteration)
        return isinstance(asked, Refusal) or self.forms.find(*asked) is not None

    def is_ready(self, iteration: Iteration) -> bool:
        """Whether there is a native form, or surely none; else one is made in the background."""
        if self.is_made(iteration):
            return True
        if self.making is None or self.making.done():
            self.making = in_background(self.compiled_for, copy.copy(iteration))
        return False

    def run(self, iteration: Iteration, frame: list[Any], budget: Budget, title: str | None) -> list[np.ndarray] | None:
        """Run a loop to its end; returns the rows it collected.

        None where there is no native form, or where native code met an error: the iteration then stands at most a slice
        before it, for the interpreter to meet it again and name its place.
        """
        trace, known, start = budget.trace, len(self.forms.programs), now()
        compiled = self._waited_for(iteration, budget)
        if trace is not None and len(self.forms.programs) > known:
            trace.add_compilation(self.node.title, start, compiled.reason if isinstance(compiled, Refusal) else None)
        if isinstance(compiled, Refusal):
            return None
        try:
            native = NativeRun(compiled, iteration, budget)
        except LimitError:
            raise
        except (RunError, ValueError, ArithmeticError, IndexError, TypeError, MemoryError):
            return None
        except Exception as error:
            refusal_of(error, self.node.title)
            return None
        while not iteration.is_over:
            frame[1] = iteration.index
            budget.check_iteration(iteration.index)
            first, start = iteration.index, now()
            done = native.advance(budget.limits.max_iterations)
            if trace is not None:
                count = iteration.index - first
                trace.add(self.node.title, "slice", start, iteration=first, iterations=count, native=True)
            if not done:
                for held, rows in zip(iteration.elements, native.collected(), strict=True):
                    held.extend(rows[k, ...] for k in range(len(rows)))
                return None
            if title is not None:
                budget.report(title, iteration.index, iteration.bound)
        native.finish()
        return native.collected()

    def _waited_for(self, iteration: Iteration, budget: Budget) -> CompiledLoop | Refusal:
        """As `compiled_for`, while limits are looked at; where one is passed, compiling goes on in the background."""
        asked = self._asked(iteration)
        if isinstance(asked, Refusal):
            return asked
        found = self.forms.find(*asked)
        return found or compile_aside(self.compiled_for, (copy.copy(iteration),), budget.check)

    def compiled_for(self, iteration: Iteration) -> CompiledLoop | Refusal:
        """The native form for a loop about to run, or why there is none."""
        asked = self._asked(iteration)
        if isinstance(asked, Refusal):
            return asked
        return self.forms.find(*asked) or self._compile(iteration, *asked)

    def _asked(self, iteration: Iteration) -> tuple[tuple, list] | Refusal:
        """What a native form depends on; why there can be none."""
        if not is_available():
            return Refusal("llvmlite is not installed")
        carried = [signature_of(x) for x in iteration.state]
        if any(x is None for x in carried) or not all(isinstance(x, np.ndarray) for x in iteration.captured):
            return Refusal("it takes values that are not tensors, or sequences of tensors that differ")
        shapes = [(x.dtype, x.shape) for x in (*carried, *iteration.captured)]  # type: ignore[union-attr]
        first = len(carried)
        shapes[first:first] = [(x.dtype, x.shape[1:]) for x in iteration.rows]
        reached = tuple(iteration.bound is not None and len(x) >= iteration.bound for x in iteration.captured if x.ndim)
        flags = (reached, (iteration.bound or 0).bit_length() // LONG_BITS)
        return flags, shapes

    def _compile(self, iteration: Iteration, flags: tuple, shapes: list) -> CompiledLoop | Refusal:
        free = self.forms.open_lengths(shapes)
        if len(self.forms.programs) >= MOST:
            return Refusal(f"it met more than {MOST} combinations of shapes")
        try:
            compiled = CompiledLoop(self.node, iteration, free)
        except Exception as error:
            refusal = refusal_of(error, self.node.title)
            if free:
                return self._compile_exactly(iteration, flags, shapes)
            self.forms.add({}, flags, shapes, refusal)
            return refusal
        lengths = enumerate(compiled.program.lengths)
        states = len(iteration.state)
        grown = {(n, axis): f"{n}.{axis}" for n, steps in lengths for axis in steps if n < states}
        self.forms.add({**free, **grown}, flags, shapes, compiled)
        return compiled

    def _compile_exactly(self, iteration: Iteration, flags: tuple, shapes: list) -> CompiledLoop | Refusal:
        try:
            compiled: CompiledLoop | Refusal = CompiledLoop(self.node, iteration, {})
        except Exception as error:
            compiled = refusal_of(error, self.node.title)
        self.forms.add({}, flags, shapes, compiled)
        return compiled

    @property
    def reasons(self) -> list[str]:
        """Why there was no native form, for each combination of shapes without one."""
        return [found.reason for found in self.forms.programs if isinstance(found, Refusal)]


class CompiledLoop:
    """Machine code for a Loop at fixed operand shapes, but for the lengths that `free` names."""

    def __init__(self, node: Node, iteration: Iteration, free: Free | None = None) -> None:
        self.free = dict(free or {})
        special, self.prologue, fixed = specialise(node, iteration, self.free)
        self.program: LoopProgram = lower_loop(special, fixed)
        turns = turns_of(self.program.program, 1)
        if turns > MOST_TURNS:
            raise Unsupported("an iteration takes so long that only the loops inside are native")
        program = self.program.program
        self.polls = insert_polls(program, program.scalars[1])
        self.efforts = efforts_of(program)
        self.needs_help = self.polls or bool(program.calls or program.growing)
        self.code = MachineCode(emit(program), "whorl_run")
        self.entry = entry_of(self.program.program, self.code.address)
        self.may_fail = self.program.may_fail
        self.slice = max(1, min(FIRST_SLICE, FIRST_TURNS // max(1, turns)))
        self.spare: list[Workspace] = []

    def memory(self) -> Workspace:
        """Memory for a run; runs at the same time have their own."""
        try:
            return self.spare.pop()
        except IndexError:
            return Workspace()

    def release(self, memory: Workspace) -> None:
        """Take back the memory of a run that is over."""
        if not self.spare and memory.size <= SPARE_BYTES:
            self.spare.append(memory)


class NativeRun:
    """One execution: the memory of a program, and the cells that its code reads and writes."""

    def __init__(self, compiled: CompiledLoop, iteration: Iteration, budget: Budget = UNLIMITED) -> None:
        self.compiled, self.iteration, self.budget = compiled, iteration, budget
        self.caller: Caller | None = None
        program = compiled.program
        self.memory, self.blocks = compiled.memory(), Blocks()
        rows, extra = compiled.prologue.run(iteration.rows, iteration.captured, iteration.bound, self.memory, budget)
        self.first = iteration.index
        captured = [*iteration.captured, *extra]
        self.base = len(program.program.scalars)
        self.cells = np.zeros(self.base + program.cells, np.int64)
        self.cells[0], self.cells[2] = iteration.index, iteration.go_on
        self.pairs, lengths = list[Pair | Lengthening](), list[int]()
        given = [as_rows(x, type) for x, type in zip(iteration.state, program.carried, strict=False)]
        given += [_nothing(type) for type in program.carried[len(given) :]]
        for x, steps in zip(given, program.lengths, strict=True):
            self.pairs.append(self._lengthening(x, steps, 3 + len(lengths)) if steps else Pair(x))
            lengths += [x.shape[axis] for axis in steps]
        sizes = self._open_sizes(rows, iteration.captured)
        self.cells[3 : self.base] = [*lengths, *(sizes[name] for name in program.free)]
        self.rows = [np.ascontiguousarray(x) for x in rows]
        self.captured = [np.ascontiguousarray(captured[n]) for n in program.captured] + program.constants
        self.collected_shapes = [_shape(t, sizes) for t in program.collected]
        self.capacity = self._first_capacity()
        pairs = zip(self.collected_shapes, program.collected, strict=True)
        self.outs = [empty((self.capacity, *shape), t.dtype) for shape, t in pairs]
        self.scratch = [
            None if b.grows else self.memory.array(n, [int(length or 0) for length in b.shape], b.dtype)  # type: ignore[arg-type]
            for n, b in enumerate(program.program.scratch)
        ]
        self._set_addresses()
        if compiled.needs_help:
            self._set_caller()

    def _open_sizes(self, rows: Sequence[np.ndarray], captured: Sequence[np.ndarray]) -> dict[str, Dim]:
        """The lengths that the program takes as they come, by name."""
        states = self.iteration.state
        shapes = [np.shape(x) for x in states] if self.compiled.free else []
        shapes += [x.shape[1:] for x in rows[: len(self.iteration.rows)]] + [x.shape for x in captured]
        return {name: shapes[n][axis] for (n, axis), name in self.compiled.free.items()}

    def _lengthening(self, x: np.ndarray, steps: dict[int, int | None], cell: int) -> Lengthening:
        """Memory for a carried value that grows: at once what it will take, where that is known."""
        bound, size = self.iteration.bound, 2 * x.nbytes
        if bound is not None and None not in steps.values():
            left = bound - self.first
            after = [n + max(0, (steps.get(axis) or 0) * left) for axis, n in enumerate(x.shape)]
            size = math.prod(after) * x.dtype.itemsize
        size = min(max(size, x.nbytes, LEAST_BLOCK), x.nbytes + LARGEST_BLOCK)
        return Lengthening(x, self.blocks, size, tuple(steps), cell)

    def _set_addresses(self) -> None:
        program, cells = self.compiled.program.program, self.cells
        carried = [place for pair in self.pairs for place in pair.addresses]
        self._point(self.base + len(carried), [*self.rows, *self.captured])
        cells[self.base : self.base + len(carried)] = carried
        self.out_cell = self.base + len(program.buffers) - len(self.outs)
        self._point(self.out_cell, self.outs, self.first)
        after = self.base + len(program.buffers)
        for n, array in enumerate(self.scratch):
            cells[after + n] = 0 if array is None else address(array)
        after += len(self.scratch)
        capacities = [size for pair in self.pairs for size in pair.capacities]
        cells[after + 2 : after + 2 + len(capacities)] = capacities

    def _set_caller(self) -> None:
        program = self.compiled.program.program
        self.caller = Caller()
        self.caller.watch(self.budget.check)
        self.caller.serve(self._run_op, self.blocks.grow)
        self.cells[self.base + len(program.buffers) + len(self.scratch)] = self.caller.address
        captured = program.buffers[2 * len(self.pairs) + len(self.rows) :]
        memory = dict(zip(program.scratch, self.scratch, strict=True))
        memory |= dict(zip(captured, self.captured, strict=False))
        self.arrays = {buffer: array for buffer, array in memory.items() if array is not None}

    def _run_op(self, number: int, cells: int) -> int:
        call = self.compiled.program.program.calls[number]
        effort = self.compiled.efforts[number]
        if call.output_lengths:
            done = run_any(call, effort, self.blocks, cells, self.budget)
        else:
            done = run_op(call, effort, self.arrays, self.budget)
        return 0 if done else 1

    def _point(self, cell: int, arrays: Sequence[np.ndarray], skipped: int = 0) -> None:
        """Write addresses; `skipped` rows before the first belong to iterations that ran elsewhere."""
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
        if self.outs and stop - self.first > self.capacity:
            self._grow(stop - self.first)
        before = [x.copy() for x in self._states()] if compiled.may_fail else []
        cells[1] = stop
        start = time.perf_counter()
        status = compiled.entry(address(cells))
        elapsed = time.perf_counter() - start
        if status:
            self.iteration.state, caller, self.caller = self._as_given(before), self.caller, None
            if caller is not None:
                caller.raise_error()
            return False
        if stop - i == size:
            compiled.slice = int(min(LONGEST_SLICE, max(1, size * min(SLICE_SECONDS / max(elapsed, 1e-6), 16.0))))
        self.iteration.index, self.iteration.go_on = int(cells[0]), bool(cells[2])
        return True

    def finish(self) -> None:
        """Give the carried values to the iteration, which is over."""
        states = self._states()
        self.iteration.last = states[len(self.iteration.state) :]
        self.iteration.state, self.caller = self._as_given(states), None
        self.compiled.release(self.memory)

    def _as_given(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Carried values as the interpreter knows them; what follows them are values of the last iteration."""
        pairs = zip(arrays, self.iteration.state, strict=False)
        return [_elements(x) if isinstance(old, list) else x for x, old in pairs]

    def _states(self) -> list[np.ndarray]:
        """The carried values, by the addresses and the lengths that the code left."""
        return [pair.current(int(self.cells[self.base + 2 * n]), self.cells) for n, pair in enumerate(self.pairs)]

    def _grow(self, needed: int) -> None:
        done = int(self.cells[0]) - self.first
        self.capacity = max(needed, 2 * self.capacity)
        for k, old in enumerate(self.outs):
            self.outs[k] = empty((self.capacity, *old.shape[1:]), old.dtype)
            self.outs[k][:done] = old[:done]
        self._point(self.out_cell, self.outs, self.first)

    def collected(self) -> list[np.ndarray]:
        """What this run collected, an iteration a row."""
        done = self.iteration.index - self.first
        return [out if len(out) == done else out[:done] for out in self.outs]


def _shape(type: TensorType, sizes: dict[str, Dim]) -> list[int]:
    """The shape of a tensor whose lengths follow from those of operands."""
    lengths = (substitute(dim, sizes) for dim in lengths_of(type))
    return [n for n in lengths if isinstance(n, int)]


def _nothing(type: TensorType) -> np.ndarray:
    """What a value of the last iteration is before the first one."""
    return np.zeros([n if isinstance(n, int) else 0 for n in lengths_of(type)], type.dtype)


def _elements(rows: np.ndarray) -> list[np.ndarray]:
    """The tensors of a sequence that was carried as rows."""
    return list(rows) if rows.ndim > 1 else [rows[n, ...] for n in range(len(rows))]
