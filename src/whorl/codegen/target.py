"""The machine: LLVM set up once, IR text optimised and linked, code kept alive as long as its functions."""

from __future__ import annotations

import functools
import importlib.util
import threading
import weakref
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple, replace

from whorl.codegen import cache, elf
from whorl.codegen.bundles import bundle, parse_bundle
from whorl.codegen.cpus import require_cpu
from whorl.codegen.memory import is_supported
from whorl.codegen.processor import fingerprint
from whorl.codegen.resident import release_clean_pages, release_freed_memory
from whorl.debug import debug, dump_module
from whorl.errors import CompileError
from whorl.ir.forking import delay_forks, import_whole, wait_at_forks
from whorl.llvm.module import Effort, Machine, Module, Source
from whorl.phases import Phase, in_phase

_compiled = threading.local()
_recent: dict[tuple[Source, int], bytes] = {}
"""Object code that this process has used lately."""
RECENT_CODES, SMALL_CODE = 256, 1 << 16
_WIDTHS = {"x86-64-v3": 32, "x86-64-v4": 64}
"""Bytes of vector registers, by CPU; of all others 16."""
_BASELINES = {"x86_64": "x86-64-v3", "arm64-apple": "apple-m1"}
"""CPUs that code for other machines is made for, by the beginning of the triple; else the family's simplest."""
_LIBRARY = "libllvmlite.so"
"""The file of llvmlite that LLVM is in, where `processor` knows the machine."""

_KEEP_ADDRESSES = "-disable-lsr"
"""LLVM's option that leaves out loop strength reduction."""

COSTS = {Effort.GLUE: 16, Effort.WRITTEN: 8, Effort.ROUTINES: 4, Effort.LOOPS: 1}
"""Bytes of LLVM IR that take as long to compile as one of a loop."""
LEVELS = {Effort.GLUE: 0, Effort.WRITTEN: 1, Effort.ROUTINES: 1, Effort.LOOPS: 3}
"""LLVM's levels of optimisation."""
SIMPLIFYING = ("always_inliner", "sroa", "simplify_cfg", "loop_rotate", "instruction_combine", "simplify_cfg")
"""What is done to routines that are written as they are to run: a level does four times as much, and finds no more
there."""
TUNING = {
    "loop_vectorization": True,
    "slp_vectorization": False,
    "loop_interleaving": True,
    "loop_unrolling": False,
}
"""What the optimiser does to loops. Short ones written out in full would no longer become vectors."""
NOTHING_QUICK: Mapping[int, Source] = MappingProxyType({})
_WIDE_AS_FAST, _WIDE = "+amx-tile", ",-prefer-256-bit"
"""A feature of Intel's processors since Sapphire Rapids, on which vectors of 512 bits compute at full clock, and what
has LLVM use them: it prefers 256 bits on all processors that once lowered their clock."""


class Target(Machine, frozen=True, kw_only=True):
    """A machine by LLVM's names."""

    triple: str
    cpu: str
    features: str


@functools.cache
def is_available() -> bool:
    """Whether llvmlite is installed; loading it is left to the first compilation."""
    return importlib.util.find_spec("llvmlite") is not None


@functools.cache
def _llvm() -> Any:
    with delay_forks():
        llvm: Any = import_whole("llvmlite.binding")
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        release_clean_pages(_LIBRARY)
        # Every call of LLVM holds this lock of llvmlite's, so no child has to do with LLVM's own locks.
        wait_at_forks(llvm.ffi.lib._lock)
    return llvm


class _Description(Struct, frozen=True):
    """What LLVM says of the machine of this process, and its own version."""

    version: str
    triple: str
    cpu: str
    features: str


@functools.cache
def _description() -> _Description:
    """The description of this machine, from the disk where LLVM was asked before: loading it takes long."""
    key = _description_key()
    text = cache.read(key) if key else None
    if text is not None:
        return _Description(*bytes(text).decode().split("\n"))
    description = _described_by_llvm()
    if key:
        cache.write(key, "\n".join(astuple(description)).encode())
    return description


def _described_by_llvm() -> _Description:
    """The description that LLVM gives."""
    llvm = _llvm()
    version = ".".join(map(str, llvm.llvm_version_info))
    features = llvm.get_host_cpu_features().flatten()
    return _Description(version, llvm.get_process_triple(), llvm.get_host_cpu_name(), features)


def _description_key() -> str:
    """The name of the description on disk, by the processor and LLVM's file; empty where one is unknown."""
    processor, package = fingerprint(), importlib.util.find_spec("llvmlite")
    if processor is None or package is None or not package.submodule_search_locations:
        return ""
    try:
        library = (Path(package.submodule_search_locations[0]) / "binding" / _LIBRARY).stat()
    except OSError:
        return ""
    return cache.key_of("description", processor, f"{library.st_size} {library.st_mtime_ns}")


@functools.cache
def host() -> Target:
    """The machine of this process: its CPU with all its features."""
    return _as_target(_description())


def _as_target(known: _Description) -> Target:
    features = frozenset(known.features.split(","))
    width = 64 if "+avx512f" in features else 32 if "+avx" in features else 16
    half = "+f16c" in features or known.triple.startswith(("aarch64", "arm64"))
    dots = 64 if "+avx512vnni" in features else 32 if "+avxvnni" in features else 0
    preferred = _WIDE if _WIDE_AS_FAST in features else ""
    deep = _has_large_frames(known.triple)
    return Target(width, half, dots, deep, triple=known.triple, cpu=known.cpu, features=known.features + preferred)


def target_of(triple: str, cpu: str | None = None) -> Target:
    """Another machine, by its triple such as aarch64-linux-gnu; CompileError where LLVM has no such target or CPU."""
    llvm = _llvm()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    full = triple.replace("-windows", "-pc-windows", 1) if triple.count("-") < 3 and "-pc-" not in triple else triple
    try:
        llvm.Target.from_triple(full)
    except RuntimeError as error:
        raise CompileError(
            f"there is no target {triple!r}: {error}", fix="name one such as aarch64-linux-gnu"
        ) from None
    if cpu is not None:
        require_cpu(full, cpu)
    chosen = cpu or next((name for start, name in _BASELINES.items() if full.startswith(start)), "")
    wide = _WIDTHS.get(chosen, 16)
    half = wide > 16 or full.startswith(("aarch64", "arm64"))
    return Target(wide, half, 0, _has_large_frames(full), triple=full, cpu=chosen, features="")


def _has_large_frames(triple: str) -> bool:
    return not any(name in triple for name in ("windows", "musl"))


@functools.cache
def machine(target: Target | None = None, model: str = "jitdefault", effort: Effort = Effort.LOOPS) -> Any:
    """LLVM's target machine; None is the host. The code model "default" is that of linked programs."""
    llvm, chosen = _llvm(), target or host()
    target_of_triple = llvm.Target.from_triple(chosen.triple)
    settings = {"cpu": chosen.cpu, "features": chosen.features, "opt": _level(effort)}
    return target_of_triple.create_target_machine(**settings, reloc="pic", codemodel=model)


def _level(effort: Effort) -> int:
    """How hard LLVM tries."""
    return 0 if debug().is_unoptimised else LEVELS[effort]


class MachineCode:
    """A linked function; modules of equal keys share it, and it is unmapped when the last of these objects goes.

    `quickly`: routines of the module that may be are compiled without being optimised, where their optimised code is
    not known: that takes a fifth of the time, gives the same bits, and `improved` makes up for it. `beside` is what
    else is needed soon: LLVM, once in memory, compiles it too.
    """

    def __init__(self, module: Module, function: str, quickly: bool = False, beside: Sequence[Source] = ()) -> None:
        name = cache.key_of(module.key, repr(module.machine), function, str(quickly)) if module.key else ""
        self._share(name, _linked.get(name) or _link_module(module, function, quickly, beside))

    def _share(self, name: str, code: _LinkedCode) -> None:
        self.name, self.code, self.address = name, code, code.address
        if name:
            _linked[name] = code

    @property
    def keys(self) -> Mapping[int, str]:
        """The names on disk of the objects that it was linked from, by their numbers."""
        return self.code.keys

    @property
    def quick(self) -> Mapping[int, Source]:
        """What will be optimised, by the numbers that its objects will have; until then it may lie in another one."""
        return self.code.quick

    @classmethod
    def from_disk(
        cls, name: str, keys: Mapping[int, str], function: str, quick: Mapping[int, Source] = NOTHING_QUICK
    ) -> MachineCode | None:
        """The code of this name, linked from objects on disk; None where one is missing or damaged."""
        code = _linked.get(name)
        if code is None:
            better = {n: object_key(source) for n, source in quick.items()}
            better = {n: key for n, key in better.items() if cache.has(key)}
            chosen = {**keys, **better}
            objects = {n: read for n, key in chosen.items() if (read := _object_on_disk(key)) is not None}
            if len(objects) < len(chosen):
                return None
            code = _LinkedCode(chosen, objects, function, {n: s for n, s in quick.items() if n not in better})
        result = cls.__new__(cls)
        result._share(name, code)
        return result

    def improved(self, chosen: Collection[int]) -> MachineCode:
        """The same function with these of its objects optimised too, by their numbers."""
        result = MachineCode.__new__(MachineCode)
        result._share(self.name, self.code.improved(chosen))
        return result


def _link_module(module: Module, function: str, quickly: bool, beside: Sequence[Source]) -> _LinkedCode:
    program, routines = module.split()
    sources = dict(enumerate([program, *routines.values()]))
    quick: dict[int, Source] = {}
    if quickly and (names := module.quick) and debug().folder is None:
        new = {n: (name, s) for n, (name, s) in enumerate(routines.items(), 1) if not _is_known(s)}
        quick = {n: s for n, (name, s) in new.items() if name in names and not s.is_glue}
        if is_supported():
            parts = [n for n, (_, s) in new.items() if n in quick or s.is_glue]
            sources[0] = bundle([program, *map(sources.pop, parts)])
        else:
            sources |= {n: replace(s, effort=Effort.GLUE) for n, s in quick.items()}
    keys = {n: object_key(source) for n, source in sources.items()}
    codes = object_codes([*sources.values(), *beside])
    return _LinkedCode(keys, dict(zip(sources, codes, strict=False)), function, quick)


class _LinkedCode:
    """A function in memory.

    Where LLVM links, each has a linker of its own, since that keeps the names and symbols of all that it ever linked.
    """

    @in_phase(Phase.LINK)
    def __init__(
        self, keys: Mapping[int, str], objects: Mapping[int, bytes], function: str, quick: Mapping[int, Source]
    ) -> None:
        self.keys, self.function, self.quick = keys, function, quick
        self.objects = dict(objects) if quick else dict[int, bytes]()
        linked = elf.link([*objects.values()], function)
        if linked is None:
            self.address, release = _linked_by_llvm([*objects.values()], function)
        else:
            self.address, release = linked.address, linked.pages.free
        weakref.finalize(self, release).atexit = False

    def improved(self, chosen: Collection[int]) -> _LinkedCode:
        sources = [self.quick[n] for n in chosen]
        keys = {**self.keys, **{n: object_key(self.quick[n]) for n in chosen}}
        objects = {**self.objects, **dict(zip(chosen, object_codes(sources), strict=True))}
        return _LinkedCode(keys, objects, self.function, {n: s for n, s in self.quick.items() if n not in chosen})


_linked: weakref.WeakValueDictionary[str, _LinkedCode] = weakref.WeakValueDictionary()


def _linked_by_llvm(objects: Sequence[bytes], function: str) -> tuple[int, Callable[[], None]]:
    """The address of a function, and what unmaps its code."""
    library = _llvm().JITLibraryBuilder()
    for each in objects:
        library.add_object_img(each)
    library.add_current_process().export_symbol(function)
    linker = _llvm().create_lljit_compiler(machine())
    code = library.link(linker, "whorl")

    def release() -> None:
        code.close()
        linker.close()

    return code[function], release


@in_phase(Phase.CACHE)
def _object_on_disk(key: str) -> bytes | None:
    code = cache.read(key)
    return None if code is None else bytes(code)


def object_key(source: Source) -> str:
    """The name on disk of a source's object code."""
    passes = SIMPLIFYING if _is_only_simplified(source) else TUNING
    chosen, target = f"{passes} {_level(source.effort)} {_KEEP_ADDRESSES}", host()
    return cache.key_of(source.text, chosen, _description().version, target.triple, target.cpu, target.features)


@in_phase(Phase.CACHE)
def object_codes(sources: Sequence[Source]) -> list[bytes]:
    """Object code of sources, from this process or the disk where it was compiled before.

    New ones are all optimised before the first becomes machine code, and glue becomes that last: what is in memory of
    these different parts of LLVM is given back after each. Within a part it stays, which pages come in one at a time.
    """
    codes = {source: code for source in sources if (code := _known_code(source)) is not None}
    new = sorted((source for source in sources if source not in codes), key=lambda source: source.is_glue)
    context = _llvm().create_context() if new else None
    modules = {source: _optimised_for_host(source, context) for source in new}
    for _, group in groupby(new, lambda source: source.is_glue):
        _release_memory()
        for source in group:
            codes[source] = _machine_code_of(modules.pop(source), source.effort)
            cache.write(object_key(source), codes[source])
    if new:
        _release_memory()
    for source in sources:
        if len(codes[source]) <= SMALL_CODE:
            _remember(source, codes[source])
    return [codes[source] for source in sources]


def _release_memory() -> None:
    release_clean_pages(_LIBRARY)
    release_freed_memory()


def _is_known(source: Source) -> bool:
    """Whether a source's object code is at hand."""
    return (source, _level(source.effort)) in _recent or cache.has(object_key(source))


def _known_code(source: Source) -> bytes | None:
    if debug().folder is not None:
        return None
    return _recent.get((source, _level(source.effort))) or _object_on_disk(object_key(source))


def _remember(source: Source, code: bytes) -> None:
    _recent[source, _level(source.effort)] = code
    while len(_recent) > RECENT_CODES:
        _recent.pop(next(iter(_recent)), None)


def compiled_bytes() -> int:
    """The bytes of LLVM IR that this thread has compiled so far, by the time that they take."""
    return getattr(_compiled, "size", 0)


def charge(size: int) -> None:
    """Count bytes as compiled by this thread: another one has done it in its place."""
    _compiled.size = compiled_bytes() + size


@in_phase(Phase.LLVM)
def _optimised_for_host(source: Source, context: Any) -> Any:
    charge(len(source.text) // COSTS[source.effort])
    return optimised(source, machine(effort=source.effort), context)


@in_phase(Phase.LLVM)
def _machine_code_of(module: Any, effort: Effort) -> bytes:
    """An optimised module as an object file for the host."""
    with _addresses_as_written():
        return machine(effort=effort).emit_object(module)


@contextmanager
def _addresses_as_written() -> Generator[None]:
    """LLVM searches for no other form of the addresses that a loop reads.

    It finds none that is faster than what is written, and takes longest of all passes. The option is the process's own,
    so it is set for this one call.
    """
    llvm = _llvm()
    llvm.set_option("whorl", f"{_KEEP_ADDRESSES}=true")
    try:
        yield
    finally:
        llvm.set_option("whorl", f"{_KEEP_ADDRESSES}=false")


def linkable_code(source: str, target: Target) -> tuple[bytes, list[str]]:
    """LLVM IR text as an object file optimised for a machine, and the functions of the C library that it calls."""
    chosen = machine(target, "default")
    module = optimised(Source(source), chosen)
    declared = [function.name for function in module.functions if function.is_declaration]
    intrinsic = [name.split(".")[1] for name in declared if name.startswith("llvm.mem")]
    called = {name for name in declared if not name.startswith("llvm.")} | set(intrinsic)
    return chosen.emit_object(module), sorted(called)


def optimised(source: Source, machine: Any, context: Any = None) -> Any:
    """LLVM IR text as a verified module in the form that a machine runs best.

    Without a context it has one of its own: what is put into that of the process stays until the end of the process.
    """
    llvm = _llvm()
    module = parse_bundle(llvm, source.text, context or llvm.create_context())
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=_level(source.effort))
    for name, value in TUNING.items():
        setattr(tuning, name, value)
    builder = llvm.create_pass_builder(machine, tuning)
    with _freed(_simplifying() if _is_only_simplified(source) else builder.getModulePassManager()) as passes:
        passes.run(module, builder)
    dump_module(source.text, module)
    return module


def _is_only_simplified(source: Source) -> bool:
    return source.effort == Effort.WRITTEN and not debug().is_unoptimised


def _simplifying() -> Any:
    passes = _llvm().create_new_module_pass_manager()
    for name in SIMPLIFYING:
        getattr(passes, f"add_{name}_pass")()
    return passes


@contextmanager
def _freed(passes: Any) -> Generator[Any]:
    """Free a pass manager: llvmlite 0.50 never calls what its class has for that."""
    try:
        yield passes
    finally:
        _llvm().ffi.lib.LLVMPY_DisposeNewModulePassManger(passes)
        passes.detach()
