"""Kernel programs as LLVM IR.

A program is one function over a block of cells (`frame`). It writes scalars and buffer addresses back before it returns
0, or returns the status of a `Fail` at once.
"""

from __future__ import annotations

from whorl.codegen.frame import Frame
from whorl.codegen.statements import Statements
from whorl.codegen.target import host
from whorl.debug import dump_program
from whorl.kernel.program import Fail, Program
from whorl.llvm.function import Function
from whorl.llvm.module import Machine, Module
from whorl.phases import Phase, in_phase

FUNCTION = "whorl_run"


@in_phase(Phase.EMIT)
def emit(program: Program, machine: Machine | None = None) -> Module:
    """The LLVM IR of a program, for the host unless a machine is named."""
    return _emit(program, machine or host(), "", None)


def emit_numbered(program: Program, machine: Machine) -> tuple[Module, list[Fail]]:
    """The LLVM IR of a program that a library embeds, and where it may fail.

    The status of failure n is n + FIRST_FAILURE; the iteration numbers around it follow the other cells.
    """
    failures: list[Fail] = []
    return _emit(program, machine, "internal", failures), failures


def _emit(program: Program, machine: Machine, linkage: str, failures: list[Fail] | None) -> Module:
    module = Module(machine)
    module.comment = dump_program(program)
    f = Function(module, f"@{FUNCTION}", "i64", {"cells": "ptr noundef"}, linkage)
    frame = Frame(f, program)
    frame.open()
    Statements(frame, program, failures).write(program.body)
    frame.close()
    f.give(f.index(0))
    return module
