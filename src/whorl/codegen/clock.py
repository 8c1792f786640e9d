"""The processor's clock as a Python function: the same that compiled programs read between their nodes."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

from whorl.codegen.target import MachineCode, host
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module


@functools.cache
def cycle_counter() -> Callable[[], int]:
    """A function that gives the ticks of the clock. Errors: CompileError."""
    module = Module(host(), Effort.GLUE)
    f = Function(module, "@read_clock", "i64", {}, "", "")
    f.give(f.call(module.declare("@llvm.readcyclecounter", "i64", ()), "i64"))
    return _Reader(MachineCode(module, "read_clock"))


class _Reader:
    """Machine code to call, which lives as long as this."""

    def __init__(self, code: MachineCode) -> None:
        self.code = code
        self.function = ctypes.PYFUNCTYPE(ctypes.c_int64)(code.address)

    def __call__(self) -> int:
        return self.function()
