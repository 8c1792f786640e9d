"""The routines of kernels for a machine: written when a program first calls them, and once for all programs."""

from __future__ import annotations

import functools
import threading

from whorl.ir.forking import renew_in_children
from whorl.kernel.program import Call
from whorl.kernels.kernel import ANY
from whorl.kernels.table import KERNELS
from whorl.llvm.module import Machine, Module, Unit


class Routines:
    """One module with all routines that programs of this process have called."""

    def __init__(self, machine: Machine) -> None:
        self.module, self.lock = Module(machine), threading.Lock()
        renew_in_children(self)

    def renew(self) -> None:
        """Begin again: in the child of a fork, or where writing a routine was broken off, it may be half written."""
        self.module, self.lock = Module(self.module.machine), threading.Lock()

    def add_to(self, module: Module, call: Call) -> str:
        """Let a module use the routine of a call; its name."""
        with self.lock:
            try:
                name = define_routine(call, self.module)
            except BaseException:
                self.renew()
                raise
            unit = Unit(name, self.module)
        if name not in module:
            module.add(unit)
        return name


@functools.cache
def routines_for(machine: Machine) -> Routines:
    """The routines for a machine."""
    return Routines(machine)


def define_routine(call: Call, module: Module) -> str:
    """Add the routine of a call to a module, unless it has it; its name."""
    dtypes = [buffer.dtype for buffer, _ in call.addresses]
    return KERNELS[call.kernel].define(module, dtypes, call.numbers_or(ANY))
