"""Native loops at run time: a Loop specialised to the shapes it meets, compiled once, and run in slices of time."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.codegen.emit import emit
from whorl.codegen.target import MachineCode, is_available
from whorl.errors import RunError, TypeRuleError, WhorlError
from whorl.ir.constants import Constant
from whorl.ir.graph import Node, Value
from whorl.ir.infer import Inference
from whorl.ir.op import as_values
from whorl.ir.types import Fact, Known, TensorType
from whorl.ir.walk import clone_region
from whorl.lowering.builder import Unsupported
from whorl.lowering.loops import LoopProgram, lower_loop, sizes
from whorl.ops.control import Loop
from whorl.ops.iteration import Iteration
from whorl.runtime.limits import Budget
from whorl.runtime.prologue import Prologue, Workspace, split_off

WORTHWHILE = 16
"""Iterations that must be left for a loop that was interpreted so far to change over."""
SLICE_SECONDS = 0.02
"""How long native code runs before limits are checked again."""
FIRST_SLICE, LONGEST_SLICE = 64, 1 << 22
FIRST_CAPACITY = 1024
EXACT_BYTES = 1 << 32
"""Memory for collected rows that is asked for at once where their number is known; beyond it, it grows."""
SPARE_BYTES = 1 << 26
"""Scratch memory that a loop keeps between runs."""
_Entry = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_Callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class NativeLoop:
    """The native forms of one Loop node, one for each signature of operand shapes."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.compiled: dict[tuple, CompiledLoop | str] = {}

    def is_due(self, iteration: Iteration, after: int, seen: int) -> bool:
        """Whether so much has been interpreted, and is left, that compiling pays; `after` 0 is always."""
        if after == 0:
            return True
        left = None if iteration.bound is None else iteration.bound - iteration.index
        return seen >= after and (left is None or left >= WORTHWHILE)

    def run(self, iteration: Iteration, frame: list[Any], budget: Budget, title: str | None) -> list[np.ndarray] | None:
        """Run a loop to its end; returns the rows it collected.

        None where there is no native form, or where native code met an error: the iteration then stands at most a slice
        before it, for the interpreter to meet it again and name its place.
        """
        compiled = self.compiled_for(iteration)
        if isinstance(compiled, str):
            return None
        try:
            native = NativeRun(compiled, iteration)
        except (RunError, ValueError, ArithmeticError, IndexError, TypeError):
            return None
        while not iteration.is_over:
            frame[1] = iteration.index
            budget.check_iteration(iteration.index)
            if not native.advance(budget.limits.max_iterations):
                for held, rows in zip(iteration.elements, native.collected(), strict=True):
                    held.extend(rows[k, ...] for k in range(len(rows)))
                return None
            if title is not None:
                budget.report(title, iteration.index, iteration.bound)
        native.finish()
        return native.collected()

    def compiled_for(self, iteration: Iteration) -> CompiledLoop | str:
        """The native form for a loop about to run, or why there is none."""
        if not is_available():
            return "llvmlite is not installed"
        operands = [*iteration.state, *iteration.rows, *iteration.captured]
        if not all(isinstance(x, np.ndarray) for x in operands):
            return "it takes values that are not tensors"
        rows = tuple(iteration.bound is not None and len(x) >= iteration.bound for x in iteration.captured if x.ndim)
        signature = (rows, *((x.dtype, x.shape) for x in operands))
        if signature not in self.compiled:
            try:
                self.compiled[signature] = CompiledLoop(self.node, iteration)
            except (Unsupported, TypeRuleError) as reason:
                self.compiled[signature] = str(reason)
        return self.compiled[signature]


class CompiledLoop:
    """Machine code for a Loop at fixed operand shapes."""

    def __init__(self, node: Node, iteration: Iteration) -> None:
        special, self.prologue, fixed = specialise(node, iteration)
        self.program: LoopProgram = lower_loop(special, fixed)
        self.code = MachineCode(emit(self.program.program), "whorl_run")
        self.entry = _Entry(self.code.address)
        self.may_fail = self.program.may_fail
        self.slice = FIRST_SLICE
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

    def __init__(self, compiled: CompiledLoop, iteration: Iteration) -> None:
        self.compiled, self.iteration = compiled, iteration
        self.callback: Any = None
        program = compiled.program
        self.memory = compiled.memory()
        rows, extra = compiled.prologue.run(iteration.rows, iteration.captured, iteration.bound, self.memory)
        self.first = iteration.index
        captured = [*iteration.captured, *extra]
        pairs = zip(iteration.state, program.carried, strict=True)
        self.pairs = [(np.array(x, order="C"), np.empty(sizes(t), t.dtype)) for x, t in pairs]
        self.rows = [np.ascontiguousarray(x) for x in rows]
        self.captured = [np.ascontiguousarray(captured[n]) for n in program.captured]
        self.capacity = self._first_capacity()
        self.outs = [np.empty((self.capacity, *sizes(t)), t.dtype) for t in program.collected]
        self.scratch = [
            self.memory.array(n, [length or 0 for length in b.shape], b.dtype)
            for n, b in enumerate(program.program.scratch)
        ]
        self.cells = np.zeros(4 + len(program.program.buffers) + len(self.scratch), np.int64)
        self.cells[0], self.cells[2] = iteration.index, iteration.go_on
        arrays = [x for pair in self.pairs for x in pair] + self.rows + self.captured
        self._point(3, arrays)
        self._point(3 + len(program.program.buffers), self.scratch)
        self.out_cell = 3 + len(arrays)
        self._point(self.out_cell, self.outs, self.first)
        if program.program.calls:
            self.callback = _Callback(self._run_op)
            self.cells[-1] = ctypes.cast(self.callback, ctypes.c_void_p).value or 0
            captured = program.program.buffers[2 * len(self.pairs) + len(self.rows) :]
            memory = dict(zip(program.program.scratch, self.scratch, strict=True))
            memory |= dict(zip(captured, self.captured, strict=False))
            self.calls = [
                (
                    call.op.run,
                    [None if b is None else memory[b] for b in call.inputs],
                    [memory[b] for b in call.outputs],
                )
                for call in program.program.calls
            ]

    def _run_op(self, number: int) -> int:
        """Run an op that has no native form on the program's memory; 1 if it fails or its result has another shape."""
        run, inputs, outputs = self.calls[number]
        try:
            for target, value in zip(outputs, as_values(run(*inputs)), strict=False):
                if target.shape != value.shape or target.dtype != value.dtype:
                    return 1
                target[...] = value
        except (WhorlError, ValueError, ArithmeticError, IndexError, TypeError, MemoryError):
            return 1
        return 0

    def _point(self, cell: int, arrays: Sequence[np.ndarray], skipped: int = 0) -> None:
        """Write addresses; `skipped` rows before the first belong to iterations that ran elsewhere."""
        for k, array in enumerate(arrays):
            row = array.nbytes // max(1, len(array)) if skipped else 0
            self.cells[cell + k] = _address(array) - skipped * row

    def _first_capacity(self) -> int:
        bound = self.iteration.bound
        left = None if bound is None else bound - self.first
        row = sum(math.prod(sizes(t)) * t.dtype.itemsize for t in self.compiled.program.collected)
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
        status = compiled.entry(_address(cells))
        elapsed = time.perf_counter() - start
        if status:
            self.iteration.state, self.callback = before, None
            return False
        if stop - i == size:
            compiled.slice = int(min(LONGEST_SLICE, max(1, size * min(SLICE_SECONDS / max(elapsed, 1e-6), 16.0))))
        self.iteration.index, self.iteration.go_on = int(cells[0]), bool(cells[2])
        return True

    def finish(self) -> None:
        """Give the carried values to the iteration, which is over."""
        self.iteration.state, self.callback = self._states(), None
        self.compiled.release(self.memory)

    def _states(self) -> list[np.ndarray]:
        """The current one of each pair of carried buffers, by the address that the code left."""
        return [
            now if int(self.cells[3 + 2 * k]) == _address(now) else other for k, (now, other) in enumerate(self.pairs)
        ]

    def _grow(self, needed: int) -> None:
        done = int(self.cells[0]) - self.first
        self.capacity = max(needed, 2 * self.capacity)
        for k, old in enumerate(self.outs):
            self.outs[k] = np.empty((self.capacity, *old.shape[1:]), old.dtype)
            self.outs[k][:done] = old[:done]
        self._point(self.out_cell, self.outs, self.first)

    def collected(self) -> list[np.ndarray]:
        """What this run collected, an iteration a row."""
        done = self.iteration.index - self.first
        return [out[:done] for out in self.outs]


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def specialise(node: Node, iteration: Iteration) -> tuple[Node, Prologue, list[np.ndarray | None]]:
    """A copy of a Loop typed for these operands, what was moved out of it, and the captured values that are fixed."""
    op = node.op
    assert isinstance(op, Loop)
    trip, condition, _, _, outer = op.split(node.inputs)
    body = clone_region(node.regions[0])
    states = [Known(TensorType(x.dtype, x.shape)) for x in iteration.state]
    captured = [
        Known(TensorType(x.dtype, x.shape), _numbers(v)) for x, v in zip(iteration.captured, outer, strict=True)
    ]
    copy = Node(op, [], [body], node.name)
    scanned = [
        Known(TensorType(x.dtype, _unmoved(x.shape, how.axis)))
        for x, how in zip(iteration.rows, op.scanned, strict=True)
    ]
    facts: list[Fact | None] = [trip, condition, *states, *scanned, *captured]
    copy.inputs = facts  # type: ignore[assignment]
    inference = Inference()
    inference.depth = 1
    types = op.infer_regions(copy, inference)
    copy.outputs = [Value(v.name, t, copy, v.index) for v, t in zip(node.outputs, types, strict=False)]
    constants = [_constant(v) for v in outer]
    goes_on = not iteration.stops or _is_true(body.results[0])
    length = iteration.bound if goes_on else None
    prologue = split_off(body, copy, length, {n: x for n, x in enumerate(constants) if x is not None})
    fixed = constants + [_constant(v) for v in prologue.results]
    return copy, prologue, fixed


def _unmoved(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The shape of a scanned value whose scanned axis was moved to the front."""
    rest, axis = list(shape[1:]), axis % len(shape)
    rest.insert(axis, shape[0])
    return tuple(rest)


def _numbers(value: Value | None) -> np.ndarray | None:
    """The known elements of an operand where all are numbers, which then hold for every run."""
    if value is None or value.known is None or not all(isinstance(e, bool | int | float) for e in value.known.flat):
        return None
    return value.known


def _is_true(value: Value) -> bool:
    return value.known is not None and value.known.size == 1 and value.known.flat[0] is True


def _constant(value: Value | None) -> np.ndarray | None:
    if value is None or not isinstance(value.owner, Node) or not isinstance(value.owner.op, Constant):
        return None
    return value.owner.op.run()
