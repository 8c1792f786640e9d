"""Entries of programs: their machine code as functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from whorl.debug import debug
from whorl.ir.forking import import_whole
from whorl.kernel.program import Program

Entry = Callable[[int], int]
"""Takes the address of the block of cells and returns a status."""
_Native = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


def entry_of(program: Program, address: int) -> Entry:
    """The function that runs a program whose machine code is at an address."""
    native = _Native(address)
    if not debug().changes_runs:
        return native
    change: Callable[[Program, Entry], Entry] = import_whole("whorl.runtime.compiled.debug_entries").debugged_entry
    return change(program, native)
