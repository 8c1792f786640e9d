"""A compiled library loaded again: its functions called on checked arrays, its failures raised as errors."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from whorl.codegen.library import BAD_ARGUMENT, ELEMENT_TYPES, FIRST_FAILURE, MARK, NO_MEMORY
from whorl.errors import LoadError, MemoryLimitError, RunError
from whorl.ir.types import TensorType
from whorl.lowering.places import sizes
from whorl.runtime.feeds import checked

_DTYPES = {number: dtype for dtype, number in ELEMENT_TYPES.items()}
_DEEPEST = 64
"""Loops around a failure whose iterations are told."""


class _Tensor(ctypes.Structure):
    """What a library says of an input or output."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_int64),
        ("type", ctypes.c_int32),
        ("rank", ctypes.c_int32),
    )


class LoadedLibrary:
    """A library of `whorl compile`, ready to run from any number of threads at once."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        functions = _opened(self.path)
        self.name = functions.name
        self.inputs, self.outputs = _types(functions.input), _types(functions.output)
        self.workspace_bytes = int(functions.workspace_size())
        self._run, self._message = functions.run, functions.message

    def execute(self, output_names: Sequence[str] | None, feeds: Mapping[str, Any]) -> list[np.ndarray]:
        """Outputs by name, all of them where no names are given. Errors: RunError."""
        wanted = list(output_names or self.outputs)
        for name in (*wanted, *feeds):
            if name not in self.outputs and name not in self.inputs:
                known = self.outputs if name in wanted else self.inputs
                raise RunError(f"the library has no {name!r}", fix=f"choose from {', '.join(known) or 'none'}")
        missing = [f"{name!r} ({type})" for name, type in self.inputs.items() if name not in feeds]
        if missing:
            raise RunError(f"missing inputs: {', '.join(missing)}", fix="feed every input")
        given = [
            np.ascontiguousarray(checked(feeds[name], type, f"input {name!r}")) for name, type in self.inputs.items()
        ]
        results = {name: np.empty(sizes(type), type.dtype) for name, type in self.outputs.items()}
        self._call(given, list(results.values()))
        return [results[name] for name in wanted]

    def _call(self, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
        iterations = (ctypes.c_int64 * _DEEPEST)()
        status = self._run(_pointers(inputs), _pointers(outputs), None, iterations)
        if not status:
            return
        message = self._message(status).decode()
        if status == NO_MEMORY:
            raise MemoryLimitError(f"{self.workspace_bytes} bytes of memory were refused")
        if status == BAD_ARGUMENT or status < FIRST_FAILURE:
            raise RunError(message)
        for depth, number in enumerate(iterations):
            message = message.replace(f"(iteration {{{depth}}})", f"(iteration {number})")
        where, _, problem = message.rpartition(": ")
        raise RunError(problem, where)


class _Functions:
    """The functions of a library, with the types of their arguments."""

    def __init__(self, library: ctypes.CDLL, name: str) -> None:
        self.name = name
        self.input, self.output = library[f"{name}_input"], library[f"{name}_output"]
        for described in (self.input, self.output):
            described.argtypes, described.restype = [ctypes.c_int32], ctypes.POINTER(_Tensor)
        self.workspace_size = library[f"{name}_workspace_size"]
        self.workspace_size.argtypes, self.workspace_size.restype = [], ctypes.c_int64
        self.message = library[f"{name}_message"]
        self.message.argtypes, self.message.restype = [ctypes.c_int32], ctypes.c_char_p
        self.run = library[f"{name}_run"]
        self.run.argtypes, self.run.restype = [ctypes.c_void_p] * 4, ctypes.c_int32


def _opened(path: Path) -> _Functions:
    try:
        library = ctypes.CDLL(str(path.resolve()))
    except OSError as error:
        raise LoadError(f"the library cannot be loaded: {error}", str(path)) from None
    try:
        mark = library[MARK]
        mark.argtypes, mark.restype = [], ctypes.c_char_p
        return _Functions(library, mark().decode())
    except AttributeError:
        fix = "compile the model again with this version"
        raise LoadError("this is no library that whorl compiled, or one of another version", str(path), fix) from None


def _types(described: Any) -> dict[str, TensorType]:
    """Inputs or outputs by name."""
    found: dict[str, TensorType] = {}
    while entry := described(len(found)):
        tensor = entry.contents
        found[tensor.name.decode()] = TensorType(_DTYPES[tensor.type], tuple(tensor.shape[: tensor.rank]))
    return found


def _pointers(arrays: Sequence[np.ndarray]) -> Any:
    """A table of addresses, and of one more for a library that has no arrays to point to."""
    return (ctypes.c_void_p * (len(arrays) + 1))(*(array.__array_interface__["data"][0] for array in arrays))
