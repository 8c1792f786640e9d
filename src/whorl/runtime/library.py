"""A compiled library loaded again: its functions called on checked arrays, its failures raised as errors."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from whorl.codegen.library.ports import ELEMENT_TYPES, MARK, MOST_AXES, OPEN, Port
from whorl.codegen.statuses import FIRST_FAILURE, NO_MEMORY
from whorl.errors import LoadError, MemoryLimitError, RunError
from whorl.ir.suggestions import choose
from whorl.runtime.compiled.memory import address
from whorl.runtime.feeds import check_value

_DTYPES = {number: dtype for dtype, number in ELEMENT_TYPES.items()}
_DEEPEST = 64
"""Loops around a failure whose iterations an error names."""


class _Tensor(ctypes.Structure):
    """A library's description of an input or output."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("dims", ctypes.POINTER(ctypes.c_char_p)),
        ("bytes", ctypes.c_int64),
        ("type", ctypes.c_int32),
        ("rank", ctypes.c_int32),
    )


class _Array(ctypes.Structure):
    """An output of which only the run knows the lengths: its address and its shape."""

    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * MOST_AXES))


class LoadedLibrary:
    """A library of `whorl compile`, ready to run from any number of threads at once."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        functions = _open(self.path)
        self.name = functions.name
        self.inputs, self.outputs = _ports(functions.input), _ports(functions.output)
        self.lengths = functions.lengths()
        self.workspace_bytes = int(functions.workspace_size())
        self._run, self._message = functions.run, functions.message

    def execute(self, output_names: Sequence[str] | None, feeds: Mapping[str, Any]) -> list[np.ndarray]:
        """Outputs by name, all of them where no names are given. Errors: RunError."""
        names = [port.name for port in self.outputs]
        requested = list(output_names or names)
        _require_known("output", requested, names)
        _require_known("input", feeds, [port.name for port in self.inputs])
        missing = [f"{port.name!r} ({port.type})" for port in self.inputs if port.name not in feeds]
        if missing:
            raise RunError(f"missing inputs: {', '.join(missing)}", fix="feed every input")
        inputs = [
            np.array(check_value(feeds[p.name], p.type, f"input {p.name!r}"), order="C", copy=None) for p in self.inputs
        ]
        outputs = [_Array() if port.is_open else np.empty(port.shape, port.dtype) for port in self.outputs]
        self._call([address(x) for x in inputs], [_address_of(x) for x in outputs], self._lengths(inputs))
        results = [
            _copy_and_free(x, port) if isinstance(x, _Array) else x
            for x, port in zip(outputs, self.outputs, strict=True)
        ]
        return [results[names.index(name)] for name in requested]

    def _lengths(self, inputs: Sequence[np.ndarray]) -> list[int]:
        """The lengths that have names, which inputs must agree on."""
        lengths: dict[str, tuple[int, str]] = {}
        for port, array in zip(self.inputs, inputs, strict=True):
            for name, size in zip(port.dims, array.shape, strict=False):
                before, other = lengths.setdefault(name, (size, port.name))
                if name and before != size:
                    raise RunError(f"{name!r} is {before} in input {other!r} and {size} in {port.name!r}")
        return [lengths[name][0] for name in self.lengths]

    def _call(self, inputs: list[int], outputs: list[int], lengths: list[int]) -> None:
        iterations = (ctypes.c_int64 * _DEEPEST)()
        numbers = (ctypes.c_int64 * (len(lengths) + 1))(*lengths)
        status = self._run(_table(inputs), _table(outputs), numbers, None, iterations)
        if not status:
            return
        message = self._message(status).decode()
        if status == NO_MEMORY:
            raise MemoryLimitError(message)
        if status < FIRST_FAILURE:
            raise RunError(message)
        for depth, number in enumerate(iterations):
            message = message.replace(f"(iteration {{{depth}}})", f"(iteration {number})")
        where, _, problem = message.rpartition(": ")
        raise RunError(problem, where)


def _require_known(what: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise RunError(f"the library has no {what} {name!r}", fix=choose(name, known))


def _address_of(output: np.ndarray | _Array) -> int:
    return ctypes.addressof(output) if isinstance(output, _Array) else address(output)


def _copy_and_free(array: _Array, port: Port) -> np.ndarray:
    """A copy of an output in memory that the library allocated, which is freed."""
    result = np.empty(tuple(array.shape[: len(port.shape)]), port.dtype)
    if array.data:
        ctypes.memmove(address(result), array.data, result.nbytes)
        free = ctypes.CDLL(_c_library()).free
        free.argtypes, free.restype = [ctypes.c_void_p], None
        free(array.data)
    return result


def _c_library() -> str | None:
    """What has `free`: the process itself, but on Windows, where each library names its C runtime."""
    return "ucrtbase" if sys.platform == "win32" else None


class _Functions:
    """The functions of a library, with the types of their arguments."""

    def __init__(self, library: ctypes.CDLL, name: str) -> None:
        self.name = name
        self.input, self.output = library[f"{name}_input"], library[f"{name}_output"]
        for described in (self.input, self.output):
            described.argtypes, described.restype = [ctypes.c_int32], ctypes.POINTER(_Tensor)
        self.workspace_size = library[f"{name}_workspace_size"]
        self.workspace_size.argtypes, self.workspace_size.restype = [], ctypes.c_int64
        self.length = library[f"{name}_length"]
        self.length.argtypes, self.length.restype = [ctypes.c_int32], ctypes.c_char_p
        self.message = library[f"{name}_message"]
        self.message.argtypes, self.message.restype = [ctypes.c_int32], ctypes.c_char_p
        self.run = library[f"{name}_run"]
        self.run.argtypes, self.run.restype = [ctypes.c_void_p] * 5, ctypes.c_int32

    def lengths(self) -> list[str]:
        """The names of the lengths that are arguments of a run."""
        names: list[str] = []
        while name := self.length(len(names)):
            names.append(name.decode())
        return names


def _load_library(path: Path) -> ctypes.CDLL:
    """The library of a file as it is now: the system's loader remembers files by their names, too."""
    if os.name != "posix":
        return ctypes.CDLL(str(path))
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / path.name
        link.symlink_to(path)
        return ctypes.CDLL(str(link))


def _open(path: Path) -> _Functions:
    try:
        library = _load_library(path.resolve())
    except OSError as error:
        raise LoadError(f"the library cannot be loaded: {error}", str(path)) from None
    try:
        mark = library[MARK]
        mark.argtypes, mark.restype = [], ctypes.c_char_p
        return _Functions(library, mark().decode())
    except AttributeError:
        fix = "compile the model again with this version"
        raise LoadError("this is no library that whorl compiled, or one of another version", str(path), fix) from None


def _ports(described: Any) -> list[Port]:
    """Inputs or outputs in their order."""
    ports: list[Port] = []
    while entry := described(len(ports)):
        tensor = entry.contents
        shape = tuple(tensor.shape[: tensor.rank])
        names = tuple(name.decode() if name else "" for name in tensor.dims[: tensor.rank]) if OPEN in shape else ()
        ports.append(Port(tensor.name.decode(), _DTYPES[tensor.type], shape, names))
    return ports


def _table(addresses: Sequence[int]) -> Any:
    """A table of addresses, and of one more for a library that has nothing to point to."""
    return (ctypes.c_void_p * (len(addresses) + 1))(*addresses)
