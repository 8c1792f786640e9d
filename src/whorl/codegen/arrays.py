"""A second entry of a program: some of its cells hold NumPy arrays, whose memory it finds out itself.

Asking an array for its address from Python takes longer than a small program.
"""

from __future__ import annotations

from collections.abc import Sequence

from whorl.codegen.array_address import ARRAYS_FUNCTION
from whorl.codegen.emit import FUNCTION
from whorl.llvm.function import Function
from whorl.llvm.module import Module


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
