"""Objects of Python and NumPy as machine code sees them: where their fields lie, and functions of both by address."""

from __future__ import annotations

import ctypes
import functools
import sysconfig
from importlib import import_module
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.codegen.array_address import address_offset
from whorl.llvm.function import Function
from whorl.llvm.value import Index, Value

CONTIGUOUS = 0x101
"""NumPy's flags of an array that is row-major and aligned."""
ARRAY_FROM_DTYPE = 94
"""The number of `PyArray_NewFromDescr` in the table of NumPy's functions, which their binary interface promises."""
WORD = ctypes.sizeof(ctypes.c_void_p)


class Layout(Struct, frozen=True):
    """Where objects have their type, lists their length and items, arrays memory, rank, lengths, dtype and flags."""

    type: int
    count: int
    items: int
    memory: int
    rank: int
    lengths: int
    dtype: int
    flags: int


@functools.cache
def layout() -> Layout | None:
    """The layout of this Python and this NumPy, whose binary interfaces promise it; None where it is another."""
    memory = address_offset()
    if memory is None or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    head = object.__basicsize__
    known = Layout(head - WORD, head, head + WORD, memory, *[memory + n * WORD for n in (1, 2, 5, 6)])
    return known if all(map(functools.partial(_describes, known), _samples())) else None


def _samples() -> list[np.ndarray]:
    return [np.zeros(()), np.zeros((2, 3, 5), np.float32), np.zeros((4, 7), np.int64)[:, ::2]]


def _describes(known: Layout, array: np.ndarray) -> bool:
    """Whether the fields of an array, and of a list with it, are where they are said to be."""
    items = [array]

    def field(kind: Any, owner: object, offset: int) -> Any:
        return kind.from_address(id(owner) + offset).value

    if np.ndarray.__basicsize__ < known.flags + WORD or list.__basicsize__ < known.items + WORD:
        return False
    if field(ctypes.c_ssize_t, items, known.count) != 1:
        return False
    if field(ctypes.c_int, array, known.rank) != array.ndim:
        return False
    if field(ctypes.c_int, array, known.flags) != array.flags.num:
        return False
    pointers = [(array, known.type, type(array)), (array, known.dtype, array.dtype)]
    if any(field(ctypes.c_void_p, owner, offset) != id(target) for owner, offset, target in pointers):
        return False
    lengths = field(ctypes.c_void_p, array, known.lengths)
    if array.ndim and [*(ctypes.c_ssize_t * array.ndim).from_address(lengths)] != [*array.shape]:
        return False
    return ctypes.c_void_p.from_address(field(ctypes.c_void_p, items, known.items)).value == id(array)


def memory_of(f: Function, known: Layout, array: Value) -> Value:
    """Where the elements of an array begin."""
    return f.load("ptr", f.offset(array, "i8", known.memory))


def number_in(f: Function, owner: Value, offset: int) -> Index:
    """The int that an object has at an offset."""
    return f.index(f.convert("sext", f.load("i32", f.offset(owner, "i8", offset)), "i64"))


def python_function(name: str) -> int | None:
    """The address of a function of Python's C interface; None where there is none of this name."""
    function = getattr(ctypes.pythonapi, name, None)
    return None if function is None else ctypes.cast(function, ctypes.c_void_p).value


def new_array() -> int | None:
    """The address of NumPy's function that makes arrays of a dtype; None where this NumPy has no table of functions."""
    try:
        table = import_module("numpy._core._multiarray_umath")._ARRAY_API
        kind = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
        pointer = kind(("PyCapsule_GetPointer", ctypes.pythonapi))(table, None)
    except (ImportError, AttributeError, ValueError):
        return None
    return ctypes.c_void_p.from_address(pointer + ARRAY_FROM_DTYPE * WORD).value
