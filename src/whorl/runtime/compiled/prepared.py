"""Prepared sessions: the programs of a session on disk, for later processes that load the very same bytes of a model.

A session whose model is one native program needs nothing else to run: a second process neither parses, infers nor
lowers. Its description has what feeds are checked by, and for each pattern of shapes there is a program: where its
values lie, its constants, and the names of its machine code. What a prepared session has no answer for, a whole one is
loaded for. The names of entries depend on the model, on what the session was asked for, on the files of this package
and on the machine; sessions are whole ones while WHORL_DEBUG asks for what is inside.

Large constants that lie in the model's files, or are laid out from there, are not copied: an entry says where they lie.
"""

from __future__ import annotations

import functools
import hashlib
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.codegen import cache
from whorl.codegen.array_address import ARRAYS_FUNCTION, address_offset
from whorl.codegen.target import MachineCode, host, is_available
from whorl.ir import dims
from whorl.ir.dims import Linear
from whorl.ir.elements.mapping import Identity
from whorl.ir.forking import import_whole
from whorl.ir.native.expressions import Apply, Buffer, Const, Load, Var
from whorl.ir.types import TensorType
from whorl.kernel.program import Assign, Call, Fail, For, Program, When, While
from whorl.llvm.module import Effort, Source
from whorl.lowering.arena import Arena
from whorl.lowering.graph_program import GraphProgram, Grown, Strings
from whorl.lowering.work import skeleton
from whorl.runtime.compiled.binding import LEAST, Binder, Binding, Pattern, first_variant, variants
from whorl.runtime.compiled.encoding import Decoder, Encoder
from whorl.runtime.compiled.launch import FEW_STATEMENTS, BoundLaunch, Launch, Loss
from whorl.runtime.interface import Interface, ModelMetadata, NodeArg

LARGEST = 1 << 26
"""Bytes of a program's constants up to which they are worth a copy on disk."""
_EXTERNAL = 1 << 12
"""Bytes of a constant from which where it lies in a file is stored instead of its elements."""
_ALIGNMENT = 64
_SIZE = 8
"""Bytes of the number with which a program's entry begins: the size of what follows, which is not its constants."""
T = TypeVar("T")


class Description(Struct, frozen=True):
    """A session that is one program: its inputs by name, its outputs in order, and which of them the program has.

    `arguments` are the positions of the program's inputs among the session's, `types` their types as declared;
    `order` the positions of the outputs among the program's. The interface is what the session shows of its model.
    """

    interface: Interface
    inputs: tuple[tuple[str, np.dtype], ...]
    outputs: tuple[str, ...]
    arguments: tuple[int, ...]
    types: tuple[TensorType, ...]
    order: tuple[int, ...]
    specialised: tuple[int, ...]
    counts: tuple[int, ...]


class StoredProgram(Struct, frozen=True):
    """A launch without its constants: those that are stored have an element type, a shape, and an offset in the entry.

    `origins`: what the others, which are None there, can be had from, as bytes.
    """

    graph: GraphProgram
    name: str
    keys: dict[int, str]
    quick: tuple[tuple[int, str], ...]
    """The text of objects that are not optimised, by their numbers."""
    losses: tuple[Loss, ...]
    asks: bool
    least_seconds: float
    constants: tuple[tuple[np.dtype, tuple[int, ...], int] | None, ...]
    origins: bytes


_CLASSES = (
    *(Description, Interface, NodeArg, ModelMetadata),
    *(StoredProgram, GraphProgram, Grown, Strings, Arena, TensorType, Linear, dims.Call),
    *(Program, For, While, When, Assign, Call, Fail, Buffer, Var, Const, Load, Apply),
)


class PreparedSession:
    """What earlier processes, or this one, have prepared for a session on a model with these files beside it."""

    def __init__(self, key: str, files: frozenset[str] = frozenset()) -> None:
        self.key, self.files = key, files
        self.programs: dict[Pattern, Launch] = {}
        self.shared: dict[object, np.ndarray] = {}
        """Constants that are not stored with a program, by what they are had from."""
        self.written: set[Pattern] = set()
        self.description = _read_description(key)
        known = self.description
        self.binder = Binder([]) if known is None else Binder(known.types, known.counts)

    def find(self, arrays: Sequence[np.ndarray]) -> BoundLaunch | None:
        """The program for these inputs of the session; None where none is prepared."""
        known = self.description
        if known is None:
            return None
        inputs = [arrays[n] for n in known.arguments]
        for least in (0, LEAST):
            binding = self.binder.bind(inputs, least)
            launch = self._variant(binding.pattern(inputs, known.specialised), binding)
            if launch is not None and (not binding.is_unusual or launch.suits(binding.lengths)):
                return _bind(launch, binding)
            if not binding.is_unusual:
                break
        return None

    def _variant(self, pattern: Pattern, binding: Binding) -> Launch | None:
        """The program of a pattern for what the lengths of the run decide."""
        for each in variants(pattern):
            launch = self._program(each)
            if launch is None or launch.graph.decides_alike(binding.lengths):
                return launch
        return None

    def _program(self, pattern: Pattern) -> Launch | None:
        if pattern not in self.programs:
            launch = _read_program(_program_key(self.key, pattern), self.shared)
            if launch is None:
                return None
            self.programs[pattern] = launch
        return self.programs[pattern]

    def add(self, describe: Callable[[], Description], pattern: Pattern, launch: Launch) -> None:
        """Keep a program that has run, and what it is a program of."""
        if pattern in self.written:
            return
        self.written.add(pattern)
        parts = _program_parts(launch, self.files)
        number = self._free_variant(first_variant(pattern), launch)
        if not parts or number is None:
            return
        description = describe()
        if description != self.description:
            self.description, data = description, _encoded(description)
            if data is None:
                return
            cache.write(cache.key_of(self.key, "description"), data)
        cache.write(_program_key(self.key, number), *parts)

    def _free_variant(self, pattern: Pattern, launch: Launch) -> Pattern | None:
        """The pattern under which no program of other decisions lies: other processes number theirs on their own."""
        if not launch.graph.decisions:
            return pattern
        for each in variants(pattern):
            stored = self._program(each)
            if stored is None or stored.graph.decisions == launch.graph.decisions:
                return each
        return None


def open_session(
    model: bytes | memoryview, options: Sequence[object], files: Mapping[str, Identity] | None = None
) -> PreparedSession | None:
    """What is prepared for a model with these options and files; None where nothing can be stored, or no code run."""
    if not is_available() or address_offset() is None or cache.folder() is None:
        return None
    digest = hashlib.sha256(model).hexdigest()
    files = files or {}
    versions = (np.__version__, sys.version, package_fingerprint(), repr(host()))
    key = cache.key_of("prepared", digest, repr(options), repr(sorted(files.items())), *versions)
    return PreparedSession(key, frozenset(files))


@functools.cache
def package_fingerprint() -> str:
    """What the files of this package are: another one may compile other programs."""
    digest = hashlib.sha256()
    folders = [Path(__file__).parents[2]]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir():
                    folders.append(Path(entry.path))
                elif entry.name.endswith(".py"):
                    status = entry.stat()
                    digest.update(f"{entry.name} {status.st_size} {status.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def _program_key(key: str, pattern: Pattern) -> str:
    return cache.key_of(key, Encoder(_CLASSES).encode(pattern).hex())


def _bind(launch: Launch, binding: Binding) -> BoundLaunch | None:
    try:
        return launch.bind(binding.lengths)
    except (ValueError, OverflowError):
        return None


# ---- bytes -----------------------------------------------------------------------------------------------------


def _read_description(key: str) -> Description | None:
    data = cache.read(cache.key_of(key, "description"))
    return None if data is None else _decoded(data, Description)


def _decoded(data: bytes | memoryview, kind: type[T]) -> T | None:
    try:
        value = Decoder(_CLASSES).decode(data)
    except ValueError:
        return None
    return value if isinstance(value, kind) else None


def _encoded(value: object) -> bytes | None:
    """A value as bytes; None where a number is too large, a text no UTF-8, or a part of no known class."""
    try:
        return Encoder(_CLASSES).encode(value)
    except (TypeError, OverflowError, UnicodeEncodeError):
        return None


def _read_program(key: str, shared: dict[object, np.ndarray]) -> Launch | None:
    data = cache.read(key)
    if data is None:
        return None
    end = _SIZE + int.from_bytes(data[:_SIZE], "little")
    stored = _decoded(data[_SIZE:end], StoredProgram)
    if stored is None:
        return None
    quick = {n: Source(text, Effort.ROUTINES) for n, text in stored.quick}
    code = MachineCode.from_disk(stored.name, stored.keys, ARRAYS_FUNCTION, quick)
    if code is None:
        return None
    external = iter(_external_arrays(stored.origins, shared) if stored.origins else ())
    constants = tuple([next(external, None) if x is None else _array(data, x, _aligned(end)) for x in stored.constants])
    if any(each is None for each in constants):
        return None
    graph = replace(stored.graph, constants=constants)
    losses = [loss for loss in stored.losses if loss[0] in code.quick]
    return Launch(graph, code, True, stored.asks, stored.least_seconds, losses)


def _external_arrays(origins: bytes, shared: dict[object, np.ndarray]) -> Iterable[np.ndarray]:
    """The constants that lie in files or are laid out from there; none where a file is another one now."""
    read: Callable[..., Sequence[np.ndarray]] = import_whole("whorl.runtime.compiled.external_constants").read
    return read(origins, shared)


def _array(data: memoryview, layout: tuple[np.dtype, tuple[int, ...], int], first: int) -> np.ndarray:
    dtype, shape, offset = layout
    return np.frombuffer(data, np.uint8, math.prod(shape) * dtype.itemsize, first + offset).view(dtype).reshape(shape)


def _program_parts(launch: Launch, files: frozenset[str]) -> list[bytes | memoryview]:
    """A program as an entry; nothing for one that is too large, or runs ops that have no native form."""
    graph = launch.graph
    external: set[int] = set()
    origins = b""
    if files and launch.origins:
        write: Callable[..., tuple[set[int], bytes]] = import_whole("whorl.runtime.compiled.external_constants").write
        large = [n for n, array in enumerate(graph.arrays) if array.nbytes >= _EXTERNAL]
        external, origins = write({n: launch.origins[n] for n in large}, files)
    arrays = [array for n, array in enumerate(graph.arrays) if n not in external]
    if graph.program.calls or not launch.takes_arrays or sum(x.nbytes for x in arrays) > LARGEST:
        return []
    program = graph.program
    body = skeleton(program.body if len(program.body) <= FEW_STATEMENTS else [Fail()] * len(program.body))
    bare = replace(graph, constants=(), program=Program(program.scalars, program.buffers, program.scratch, body))
    layouts, size = list[tuple[np.dtype, tuple[int, ...], int] | None](), 0
    for n, array in enumerate(graph.arrays):
        layouts.append(None if n in external else (array.dtype, array.shape, size))
        size += 0 if n in external else _aligned(array.nbytes)
    code = launch.code
    quick = tuple((n, source.text) for n, source in code.quick.items())
    facts = launch.asks, launch.least_seconds, tuple(layouts), origins
    losses = tuple(loss for loss in launch.losses if loss[0] in code.quick)
    header = _encoded(StoredProgram(bare, code.name, dict(code.keys), quick, losses, *facts))
    if header is None:
        return []
    parts: list[bytes | memoryview] = [len(header).to_bytes(_SIZE, "little"), header, _padding(_SIZE + len(header))]
    for array in arrays:
        parts += [np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, _padding(array.nbytes)]
    return parts


def _padding(size: int) -> bytes:
    return bytes(_aligned(size) - size)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
