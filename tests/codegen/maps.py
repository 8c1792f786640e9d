"""Functions of an element as kernel programs: run on arrays by the host, or compiled for another machine and read."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

from whorl.codegen.emit import FUNCTION, emit
from whorl.codegen.target import MachineCode, optimised
from whorl.codegen.target import machine as machine_of_host
from whorl.ir.dtypes import BY_NAME, INT64
from whorl.ir.native.expressions import Buffer, Expr, Var
from whorl.kernel.program import Program
from whorl.llvm.module import Module, Source
from whorl.lowering.builder import KernelBuilder

Function = Callable[..., Expr]
"""The expression of an output element from a KernelBuilder and the input elements."""
WITHOUT_FMA = "-fma,-fma4,-avx2,-avx512f"
V3 = ("x86_64-unknown-linux-gnu", "x86-64-v3")
BASELINE = ("x86_64-unknown-linux-gnu", "x86-64")
ARM = ("aarch64-unknown-linux-gnu", "generic")


def mapping(function: Function, inputs: Sequence[str], output: str) -> Program:
    """`out[i] = function(in0[i], in1[i], ...)`."""
    k = KernelBuilder()
    passed = [Buffer(f"in{n}", BY_NAME[name], (None,)) for n, name in enumerate(inputs)]
    result = Buffer("out", BY_NAME[output], (None,))
    count = Var(INT64, "count", False)
    with k.loop(count, parallel=True) as i:
        k.store(result, (i,), function(k, *(k.load(buffer, (i,)) for buffer in passed)))
    return Program([count], [*passed, result], k.scratch, k.block)


def mapped(function: Function, arrays: Sequence[np.ndarray], output: str, features: str = "") -> np.ndarray:
    """The outputs; `features` are taken from the host, by the names with a minus."""
    names = [next(name for name, dtype in BY_NAME.items() if dtype == x.dtype) for x in arrays]
    source = emit(mapping(function, names, output))
    code = MachineCode(source, FUNCTION) if not features else _Limited(source, features)
    result = np.empty(len(arrays[0]), BY_NAME[output])
    stored = [*(np.ascontiguousarray(x) for x in arrays), result]
    cells = np.array([len(result), *(x.ctypes.data for x in stored)], np.int64)
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address)(cells.ctypes.data) == 0
    return result


class _Limited:
    """Code for the host's processor without some of its features."""

    def __init__(self, source: Module, features: str) -> None:
        import llvmlite.binding as llvm

        machine_of_host()  # initialises LLVM
        target = llvm.Target.from_triple(llvm.get_process_triple())
        machine = target.create_target_machine(cpu="x86-64", features=features, opt=3, reloc="pic")
        library = llvm.JITLibraryBuilder().add_object_img(machine.emit_object(optimised(Source(str(source)), machine)))
        library.add_current_process().export_symbol(FUNCTION)
        self._linker = llvm.create_lljit_compiler(machine)
        self._resource = library.link(self._linker, "limited")
        self.address = self._resource[FUNCTION]


def for_machine(program: Program, triple: str, cpu: str) -> tuple[str, str]:
    """The optimised IR and the assembly of a program for a machine that need not be this one."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3)
    module = optimised(Source(str(emit(program))), machine)
    return str(module), machine.emit_assembly(module)
