"""Kernel programs as LLVM IR.

A program is one function over a block of cells (`frame`), and a function for each of its distinct nests where it has
several. It writes scalars and buffer addresses back before it returns 0, or returns the status of a `Fail` at once.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from whorl.codegen.frame import Frame, ProgramFailures
from whorl.codegen.nest_functions import NestFrame, name_of, open_function
from whorl.codegen.ranges import add_ranges
from whorl.codegen.routines import routines_for
from whorl.codegen.statements import Statements
from whorl.codegen.target import host
from whorl.debug import debug, dump_program
from whorl.kernel.canonical import Nest, NestDescription
from whorl.kernel.equality import key_of
from whorl.kernel.outline import is_glue, may_stay_unoptimised, only_calls_kernels, outline, spreads_of
from whorl.kernel.program import Fail, Program, text_of
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Machine, Module, Unit
from whorl.phases import Phase, in_phase

FUNCTION = "whorl_run"


NEST_MODULES = 1024
"""Nests whose text is remembered."""


@in_phase(Phase.EMIT)
def emit(program: Program, machine: Machine | None = None) -> ProgramModule:
    """The LLVM IR of a program, for the host unless a machine is named; nests that others may have lie outside."""
    return ProgramModule(program, machine or host())


class ProgramModule(Module):
    """The LLVM IR of a program, written when it is read: where an equal program has code, nothing reads it."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.program, self.nests = program, outline(program)
        effort = Effort.GLUE if self.nests and is_glue(program, self.nests) else Effort.LOOPS
        key = key_of(program, self.nests) if debug().folder is None else ""
        super().__init__(machine, effort, key)
        self.is_complete = False

    @property
    def optimised(self) -> int:
        """The statements that LLVM optimises: the distinct nests of glue, else all outermost ones."""
        return len(set(self.nests.values())) if self.effort == Effort.GLUE else len(self.program.body)

    @property
    def quick(self) -> frozenset[str]:
        if self.effort != Effort.GLUE:
            return frozenset()
        nests = set(self.nests.values())
        return frozenset(name_of(nest) for nest in nests if may_stay_unoptimised(nest.statement))

    @in_phase(Phase.EMIT)
    def complete(self) -> None:
        if self.is_complete:
            return
        self.is_complete = True
        frame = _open(self.program, self, "")
        _add_nests(self, self.nests)
        routines = routines_for(self.machine)
        Statements(frame, self.program.calls, self.nests, routines=routines).write(self.program.body)
        _close(frame)


def emit_numbered(program: Program, machine: Machine) -> tuple[Module, list[Fail]]:
    """The LLVM IR of a program that a library embeds, and where it may fail.

    The status of failure n is n + FIRST_FAILURE; the iteration numbers around it follow the other cells. What threads
    may share are functions of their own (`ranges`).
    """
    module, fails = Module(machine), list[Fail]()
    frame = _open(program, module, "internal")
    nests = add_ranges(module, program, fails)
    Statements(frame, program.calls, nests, ProgramFailures(frame, fails)).write(program.body)
    _close(frame)
    return module, fails


def _open(program: Program, module: Module, linkage: str) -> Frame:
    module.comment = dump_program(program)
    f = Function(module, f"@{FUNCTION}", "i64", {"cells": "ptr noundef"}, linkage)
    frame = Frame(f, program, in_cells=module.effort == Effort.GLUE)
    frame.open()
    return frame


def _close(frame: Frame) -> None:
    frame.close()
    frame.f.give(frame.f.index(0))


def _add_nests(module: Module, nests: Mapping[int, Nest]) -> None:
    for nest in nests.values():
        if name_of(nest) not in module:
            module.add(Unit(name_of(nest), _nest_module(nest, module.machine)))


@functools.lru_cache(NEST_MODULES)
def _nest_module(nest: Nest, machine: Machine) -> Module:
    """The LLVM IR of a nest's function, in which more effort takes a quarter longer and makes no faster code."""
    effort = Effort.GLUE if only_calls_kernels(nest.statement) else Effort.ROUTINES
    module, name = Module(machine, effort), name_of(nest)
    module.comment = dump_program(text_of([nest.statement]), name.removeprefix("@whorl."))
    f, parameters = open_function(module, nest)
    frame = NestFrame(f, nest, parameters)
    inside = {} if nest.is_spread else {id(s): NestDescription(s).nest(()) for s in spreads_of([nest.statement])}
    _add_nests(module, inside)
    Statements(frame, nests=inside, routines=routines_for(machine)).write([nest.statement])
    frame.close()
    f.give(f.index(0))
    return module
