"""Runs long loops natively: when a Loop changes over from the interpreter, and its programs by operand shapes.

A loop on optionals or sequences of unequal tensors has no native form.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from whorl.codegen.target import is_available
from whorl.errors import LimitError, RunError
from whorl.ir.forking import renew_in_children
from whorl.ir.graph import Node
from whorl.ir.types import Type
from whorl.ops.control.flow import Loop
from whorl.ops.control.iteration import Iteration
from whorl.runtime.compiled.background import compile_aside, compile_in_background, spend
from whorl.runtime.compiled.loop import CompiledLoop, LoopRun
from whorl.runtime.compiled.loop_strings import NumberedLoop
from whorl.runtime.compiled.memory import SequenceSignature, state_signature
from whorl.runtime.compiled.program_cache import has_loop
from whorl.runtime.compiled.refusals import Refusal, refusal_of
from whorl.runtime.compiled.shape_signatures import DynamicDims, OperandShapes, ProgramsByShape, choose_dynamic_dims
from whorl.runtime.interpreter.accelerator import LoopRunner
from whorl.runtime.interpreter.step import Frame, Run
from whorl.runtime.limits import Budget
from whorl.runtime.trace import now

if TYPE_CHECKING:
    from concurrent.futures import Future

POLL_EVERY = 64
"""Iterations between polls for the background compiler."""
WORTHWHILE = 16
"""Iterations that must be left for a loop that was interpreted so far to change over."""
LATE = 500
"""Iterations of a loop after which it is compiled without credit: it may have many more."""
LONG_BITS = 16
"""Trip counts that differ by less than this factor, as a power of two, share a program."""


class LoopPrograms(LoopRunner):
    """The program cache of one Loop node: a `CompiledLoop` or `Refusal` for each signature of operand shapes.

    It takes over after so many interpreted iterations; `waits`: for the compiler, which else works in the background.
    """

    def __init__(self, node: Node, after: int, waits: bool) -> None:
        self.node, self.after, self.waits = node, after, waits
        self.is_nested = any(has_loop(each) for each in node.regions[0].nodes)
        self.types = _operand_types(node)
        self.interpreted = 0
        self.programs = ProgramsByShape[CompiledLoop | Refusal]()
        self.pending: Future[CompiledLoop | Refusal] | None = None
        renew_in_children(self)

    def renew(self) -> None:
        """In the child of a fork, where nothing is under way."""
        self.pending = None

    def serves(self, run: Run) -> bool:
        """Where memory is limited, the interpreter counts it."""
        return not run.is_memory_limited

    def is_due(self, iteration: Iteration, run: Run) -> bool:
        """Late enough that compiling pays, and where the program is there or may be waited for."""
        after = self.after
        most = self._most(run.budget)
        if run.budget.credit.is_spent and after < LATE and not self._is_made(iteration, most):
            after = LATE
        remaining = None if iteration.bound is None else iteration.bound - iteration.index
        pays = after == 0 or (self.interpreted >= after and (remaining is None or remaining >= WORTHWHILE))
        if pays and (self.waits or (iteration.index % POLL_EVERY == 0 and self._is_ready(iteration, most))):
            return True
        self.interpreted += 1
        return False

    def _most(self, budget: Budget) -> int | None:
        """How many iterations the loops inside may do, where there are any."""
        return budget.limits.max_iterations if self.is_nested else None

    def _is_made(self, iteration: Iteration, most: int | None) -> bool:
        """Whether there is a program, or surely none."""
        signature = self._signature(iteration, most)
        return isinstance(signature, Refusal) or self.programs.find(*signature) is not None

    def _is_ready(self, iteration: Iteration, most: int | None) -> bool:
        """Whether there is a program, or surely none; else one is made in the background."""
        if self._is_made(iteration, most):
            return True
        if self.pending is None or self.pending.done():
            snapshot = copy.copy(iteration)
            self.pending = compile_in_background(lambda: self.compile_for(snapshot, most))
        return False

    def run(self, iteration: Iteration, frame: Frame, run: Run, is_outermost: bool) -> list[np.ndarray] | None:
        """Run a loop to its end; returns the rows it collected.

        None where there is no native form, or where native code met an error: the iteration then stands at most a slice
        before it, for the interpreter to meet it again and name its location.
        """
        with spend(run.budget.credit):
            return self._run(iteration, frame, run.budget, is_outermost)

    def _run(self, iteration: Iteration, frame: Frame, budget: Budget, is_outermost: bool) -> list[np.ndarray] | None:
        program = self._wait_for(iteration, budget)
        entered = None if isinstance(program, Refusal) else self.numbered.enter(iteration)
        if isinstance(program, Refusal) or entered is None:
            return None
        numbered, own = entered
        rows = self._run_program(program, numbered, frame, budget, is_outermost)
        self.numbered.leave(numbered, iteration, own)
        return None if rows is None else self.numbered.decode_rows(rows, own)

    def _run_program(
        self, program: CompiledLoop, iteration: Iteration, frame: Frame, budget: Budget, is_outermost: bool
    ) -> list[np.ndarray] | None:
        native, trace = self._begin(program, iteration, budget), budget.trace
        if native is None:
            return None
        while not iteration.is_over:
            frame.iteration = iteration.index
            budget.check_iteration(iteration.index)
            first, start = iteration.index, now()
            is_done = native.advance(budget.limits.max_iterations)
            if trace is not None:
                count = iteration.index - first
                trace.add(self.node.title, "slice", start, iteration=first, iterations=count, native=True)
            if not is_done:
                for elements, rows in zip(iteration.elements, native.collected(), strict=True):
                    elements.extend(rows[k, ...] for k in range(len(rows)))
                return None
            if is_outermost:
                budget.report(self.node.title, iteration.index, iteration.bound)
        native.finish()
        return native.collected()

    def _begin(self, program: CompiledLoop, iteration: Iteration, budget: Budget) -> LoopRun | None:
        try:
            return LoopRun(program, iteration, budget)
        except LimitError:
            raise
        except (RunError, ValueError, ArithmeticError, IndexError, TypeError, MemoryError):
            return None
        except Exception as error:
            refusal_of(error, self.node.title)
            return None

    def _wait_for(self, iteration: Iteration, budget: Budget) -> CompiledLoop | Refusal:
        """As `compile_for`, while limits are polled; where one is passed, compiling goes on in the background."""
        most = self._most(budget)
        signature = self._signature(iteration, most)
        if isinstance(signature, Refusal):
            return signature
        program = self.programs.find(*signature)
        if program is not None:
            return program
        snapshot, trace, start = copy.copy(iteration), budget.trace, now()
        program = compile_aside(lambda: self.compile_for(snapshot, most), budget.check)
        if trace is not None:
            trace.add_compilation(self.node.title, start, program.reason if isinstance(program, Refusal) else None)
        return program

    def compile_for(self, iteration: Iteration, most: int | None) -> CompiledLoop | Refusal:
        """The program for a loop about to run, in which loops may do `most` iterations, or why there is none."""
        signature = self._signature(iteration, most)
        if isinstance(signature, Refusal):
            return signature
        return self.programs.find(*signature) or self._compile(iteration, most, *signature)

    @functools.cached_property
    def numbered(self) -> NumberedLoop:
        """The loop with numbers in the place of strings. Errors: Unsupported."""
        return NumberedLoop(self.node)

    def _signature(self, iteration: Iteration, most: int | None) -> tuple[Hashable, OperandShapes] | Refusal:
        """What a program depends on; why there can be none."""
        if not is_available():
            return Refusal("llvmlite is not installed")
        carried: list[np.ndarray | SequenceSignature] = []
        for x in iteration.state:
            signature = state_signature(x)
            if signature is None:
                return _NOT_TENSORS
            carried.append(signature)
        if not all(isinstance(x, np.ndarray) for x in iteration.captured):
            return _NOT_TENSORS
        shapes: list[tuple[Hashable, tuple[int, ...]]] = [(x.dtype, x.shape) for x in carried]
        shapes += [(x.dtype, x.shape[1:]) for x in iteration.rows]
        shapes += [(x.dtype, x.shape) for x in iteration.captured]
        reached = tuple(iteration.bound is not None and len(x) >= iteration.bound for x in iteration.captured if x.ndim)
        return (reached, (iteration.bound or 0).bit_length() // LONG_BITS, most), shapes

    def _compile(
        self, iteration: Iteration, most: int | None, flags: Hashable, shapes: OperandShapes
    ) -> CompiledLoop | Refusal:
        dynamic = choose_dynamic_dims(self.types, shapes)
        program = self._attempt(iteration, dynamic, most)
        if isinstance(program, Refusal):
            program = self._attempt(iteration, {}, most) if dynamic else program
            self.programs.add({}, flags, shapes, program)
            return program
        states = len(iteration.state)
        lengths = enumerate(program.program.lengths)
        growable = {(n, axis): f"{n}.{axis}" for n, steps in lengths for axis in steps if n < states}
        self.programs.add({**dynamic, **growable}, flags, shapes, program)
        return program

    def _attempt(self, iteration: Iteration, dynamic: DynamicDims, most: int | None) -> CompiledLoop | Refusal:
        try:
            entered = self.numbered.enter(iteration)
            if entered is None:
                return Refusal("an element is no string")
            return CompiledLoop(self.numbered.node, entered[0], dynamic, most)
        except Exception as error:
            return refusal_of(error, self.node.title)

    @property
    def reasons(self) -> list[str]:
        """Why there was no native form, for each combination of shapes without one."""
        return [program.reason for program in self.programs.all if isinstance(program, Refusal)]


def _operand_types(node: Node) -> list[Type]:
    """The declared types of the carried, scanned and captured operands of a Loop, a slice's for what it scans."""
    op, body = node.op, node.regions[0]
    assert isinstance(op, Loop)
    _, _, states, _, captured = op.split(node.inputs)
    slices = op.split(body.arguments)[3]
    return [*(v.type for v in states if v is not None), *(v.type for v in slices), *(v.type for v in captured)]


_NOT_TENSORS = Refusal("it takes values that are not tensors, or sequences of tensors that differ")
