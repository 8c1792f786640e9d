"""A second entry of a program: some of its cells hold NumPy arrays, whose memory it finds out itself.

Asking an array for its address from Python takes longer than a small program. The address is the first field after the
object's head, which NumPy's binary interface promises to C code (`PyArrayObject_fields.data`).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

import numpy as np

from whorl.codegen.emit import FUNCTION
from whorl.llvm.function import Function
from whorl.llvm.module import Module

ARRAYS_FUNCTION = "whorl_run_arrays"


@functools.cache
def address_offset() -> int | None:
    """Where in an array object the address of its memory lies; None where this Python keeps it elsewhere."""
    offset = object.__basicsize__
    probe = np.empty(3)
    if np.ndarray.__basicsize__ < offset + ctypes.sizeof(ctypes.c_void_p):
        return None
    address = ctypes.c_void_p.from_address(id(probe) + offset).value
    return offset if address == probe.ctypes.data else None


def add_arrays_entry(module: Module, cells: Sequence[int], offset: int) -> None:
    """Add a function that replaces the arrays in `cells` by the addresses of their memory, then runs the program."""
    if module.key:
        module.key += f" {[*cells]} {offset}"
    f = Function(module, f"@{ARRAYS_FUNCTION}", "i64", {"cells": "ptr noundef"}, "")
    for n in cells:
        cell = f.offset(f["cells"], "i64", n)
        field = f.offset(f.load("ptr", cell), "i8", offset)
        f.store(f.load("ptr", field), cell)
    f.give(f.call(f"@{FUNCTION}", "i64", f["cells"], attributes=" noinline"))
