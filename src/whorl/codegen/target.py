"""The machine: LLVM set up once, IR text optimised and linked, code kept alive as long as its functions."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import threading
from typing import Any

from whorl.codegen import cache

_LOCK = threading.Lock()
_COUNT = itertools.count()


def is_available() -> bool:
    """Whether llvmlite is installed; loading it is left to the first compilation."""
    return importlib.util.find_spec("llvmlite") is not None


@functools.cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@functools.cache
def machine() -> Any:
    """The target machine of this process: the host's CPU with all its features."""
    llvm = _llvm()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=3, reloc="pic")


@functools.cache
def _linker() -> Any:
    return _llvm().create_lljit_compiler(machine())


class MachineCode:
    """A linked function; the code is unmapped when this object goes."""

    def __init__(self, source: str, function: str) -> None:
        with _LOCK:
            library = _llvm().JITLibraryBuilder().add_object_img(kept_object_code(source)).add_current_process()
            library.export_symbol(function)
            self._resource = library.link(_linker(), f"whorl{next(_COUNT)}")
            self.address: int = self._resource[function]


def kept_object_code(source: str) -> bytes:
    """Object code of a source, from the disk where it was compiled before."""
    llvm = _llvm()
    features = llvm.get_host_cpu_features().flatten()
    version = ".".join(map(str, llvm.llvm_version_info))
    key = cache.key_of(source, version, llvm.get_process_triple(), llvm.get_host_cpu_name(), features)
    code = cache.read(key)
    if code is None:
        code = object_code(source)
        cache.write(key, code)
    return code


def object_code(source: str) -> bytes:
    """LLVM IR text as an object file, optimised for the host."""
    llvm = _llvm()
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


@functools.cache
def has_half() -> bool:
    """Whether the host converts between float and half in hardware."""
    llvm = _llvm()
    features = llvm.get_host_cpu_features()
    return features.get("f16c", False) or llvm.get_process_triple().startswith(("aarch64", "arm64"))


@functools.cache
def vector_bytes() -> int:
    """The width of the host's vector registers."""
    features = _llvm().get_host_cpu_features()
    return 64 if features.get("avx512f", False) else 32 if features.get("avx", False) else 16
