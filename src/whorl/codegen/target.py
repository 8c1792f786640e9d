"""The machine: LLVM set up once, IR text optimised and linked, code kept alive as long as its functions."""

from __future__ import annotations

import functools
import hashlib
import itertools
import threading
from typing import Any

import llvmlite
import llvmlite.binding as llvm

_LOCK = threading.Lock()
_COUNT = itertools.count()


@functools.cache
def machine() -> Any:
    """The target machine of this process: the host's CPU with all its features."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=3, reloc="pic")


@functools.cache
def _linker() -> Any:
    return llvm.create_lljit_compiler(machine())


class MachineCode:
    """A linked function; the code is unmapped when this object goes."""

    def __init__(self, source: str, function: str) -> None:
        with _LOCK:
            library = llvm.JITLibraryBuilder().add_object_img(object_code(source)).add_current_process()
            library.export_symbol(function)
            self._resource = library.link(_linker(), f"whorl{next(_COUNT)}")
            self.address: int = self._resource[function]


def object_code(source: str) -> bytes:
    """LLVM IR text as an object file, optimised for the host."""
    module = llvm.parse_assembly(source)
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine().target_data)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = True
    tuning.slp_vectorization = False
    tuning.loop_interleaving = True
    builder = llvm.create_pass_builder(machine(), tuning)
    builder.getModulePassManager().run(module, builder)
    return machine().emit_object(module)


def fingerprint(source: str) -> str:
    """What machine code depends on: the source, LLVM, the CPU and its features."""
    parts = (source, llvmlite.__version__, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
