"""Entries of programs: the machine code itself, or another way to run it where WHORL_DEBUG asks."""

import ctypes

import numpy as np
import pytest

from whorl.codegen.emit import FUNCTION, emit
from whorl.codegen.target import MachineCode
from whorl.debug import Debug
from whorl.ir.dtypes import FLOAT32
from whorl.ir.native.expressions import Buffer, Const, index_const
from whorl.kernel.program import Fail, Program, Store
from whorl.runtime.compiled import debug_entries, entries
from whorl.runtime.compiled.entries import entry_of

OUT = Buffer("x", FLOAT32, (2,))


@pytest.mark.parametrize("by_programs", [False, True])
def test_entry_runs_the_program_on_a_block_of_cells(monkeypatch: pytest.MonkeyPatch, by_programs: bool) -> None:
    for module in (entries, debug_entries):
        monkeypatch.setattr(module, "debug", lambda: Debug(by_programs=by_programs))
    program = Program([], [OUT], [], [Store(OUT, (index_const(1),), Const(FLOAT32, 5.0))])
    code, array = MachineCode(emit(program), FUNCTION), np.zeros(2, np.float32)
    entry = entry_of(program, code.address)
    assert isinstance(entry, ctypes._CFuncPtr) != by_programs  # type: ignore[attr-defined]
    assert entry(np.array([array.ctypes.data, 0, 0], np.int64).ctypes.data) == 0
    assert array.tolist() == [0, 5]


def test_entry_gives_the_status_of_a_failure() -> None:
    program = Program([], [], [], [Fail(3)])
    code, cells = MachineCode(emit(program), FUNCTION), np.zeros(4, np.int64)
    assert entry_of(program, code.address)(cells.ctypes.data) == 3
