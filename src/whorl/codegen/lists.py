"""Lists of arrays in machine code: the table of their shapes, and copies between them and their elements in a row.

A row of the table is where the elements of an array begin, then its lengths. Asking arrays for these from Python takes
longer than most programs over them. The functions run with Python's lock held, on lists that nobody else knows.
"""

from __future__ import annotations

import ctypes
import functools
import sysconfig
from collections.abc import Callable
from struct import Struct as Cells
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.codegen.array_address import address_offset
from whorl.codegen.memory import address_of
from whorl.codegen.target import MachineCode, host
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module
from whorl.llvm.value import Index, Value

CONTIGUOUS = 0x101
"""NumPy's flags of an array that is row-major and aligned."""
pack_read, pack_deal = Cells("11q").pack, Cells("8q").pack
"""Cells as bytes: of a list, the type of arrays, their element type, `expected`, the table, the elements, `memcpy`, how
many arrays, their rank, the bytes of an element, and how many there is memory for; and of a list, the table, the
elements, `memcpy`, how many arrays, their rank, the step of the table, and the bytes of an element."""
_WORD = ctypes.sizeof(ctypes.c_void_p)


class Layout(Struct, frozen=True):
    """Where an object has its type, a list its items, and an array its memory, rank, lengths, dtype and flags."""

    type: int
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
    known = Layout(head - _WORD, head + _WORD, memory, *[memory + n * _WORD for n in (1, 2, 5, 6)])
    return known if all(map(functools.partial(_describes, known), _samples())) else None


def _samples() -> list[np.ndarray]:
    return [np.zeros(()), np.zeros((2, 3, 5), np.float32), np.zeros((4, 7), np.int64)[:, ::2]]


def _describes(known: Layout, array: np.ndarray) -> bool:
    """Whether the fields of an array, and of a list with it, are where they are said to be."""
    items = [array]

    def field(kind: Any, owner: object, offset: int) -> Any:
        return kind.from_address(id(owner) + offset).value

    if np.ndarray.__basicsize__ < known.flags + _WORD or list.__basicsize__ < known.items + _WORD:
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


def lists_module(known: Layout) -> Module:
    """The functions for a layout."""
    module = Module(host(), Effort.ROUTINES)
    _define_read(module, known)
    _define_deal(module, known)
    return module


def _define_read(module: Module, known: Layout) -> None:
    """Write the table of a list of `count` arrays, and, where they have so many, their elements.

    The cells are those of `pack_read`: objects by their addresses, and numbers. `expected` has the length of each axis,
    -1 for any. Gives twice the number of all elements, and one more where the arrays have one shape; -1 if an array has
    another type, rank or length, or is not row-major.
    """
    f = Function(module, "@read", "i64", {"cells": "ptr"}, "", "")
    items, type, dtype, expected, table, elements, copy = (f.load("ptr", _cell(f, n)) for n in range(7))
    count, rank, size, capacity = (f.load_index(_cell(f, n)) for n in range(7, 11))
    items = f.load("ptr", f.offset(items, "i8", known.items))
    expected, table, elements = (
        f.load("ptr", f.offset(each, "i8", known.memory)) for each in (expected, table, elements)
    )
    total, differs = f.variable(f.index(0)), f.variable(f.index(0))
    with f.loop(0, count) as n:
        array = f.load("ptr", f.offset(items, "ptr", n))
        for offset, object in ((known.type, type), (known.dtype, dtype)):
            address = f.convert("ptrtoint", object, "i64")
            _require(f, f.load("i64", f.offset(array, "i8", offset)).equals(address))
        _require(f, _number(f, array, known.rank).equals(rank))
        _require(f, (_number(f, array, known.flags) & CONTIGUOUS).equals(CONTIGUOUS))
        row, shape = f.offset(table, "i64", n * (rank + 1)), f.load("ptr", f.offset(array, "i8", known.lengths))
        product = f.variable(f.index(1))
        f.store(f.load_index(total), row)
        with f.loop(0, rank) as axis:
            length, declared = (f.load_index(f.offset(each, "i64", axis)) for each in (shape, expected))
            _require(f, (declared < 0) | declared.equals(length))
            f.store(length, f.offset(row, "i64", axis + 1))
            difference = length ^ f.load_index(f.offset(table, "i64", axis + 1))
            f.store(f.load("i64", differs) | difference, differs)
            f.store(f.load_index(product) * length, product)
        f.store(f.load_index(total) + f.load_index(product), total)
    with f.when(f.load("i64", total).equals(capacity)):
        _copy_each(f, known, Lists(items, count, table, rank, rank + 1, size), elements, copy, gathers=True)
    f.give(f.load_index(total) * 2 + f.choose(f.load("i64", differs).equals(0), f.index(1), 0))


def _define_deal(module: Module, known: Layout) -> None:
    """Fill the arrays of a list from their elements in a row.

    The cells are those of `pack_deal`; the arrays have the shapes of the table, whose rows are `step` numbers apart.
    """
    f = Function(module, "@deal", "void", {"cells": "ptr"}, "", "")
    items, table, elements, copy = (f.load("ptr", _cell(f, n)) for n in range(4))
    count, rank, step, size = (f.load_index(_cell(f, n)) for n in range(4, 8))
    items = f.load("ptr", f.offset(items, "i8", known.items))
    table, elements = (f.load("ptr", f.offset(each, "i8", known.memory)) for each in (table, elements))
    _copy_each(f, known, Lists(items, count, table, rank, step, size), elements, copy, gathers=False)
    f.give()


class Lists(Struct, frozen=True):
    """The items of a list, and where the table of their shapes is, for elements of `size` bytes."""

    items: Value
    count: Index
    table: Value
    rank: Index
    step: Index
    size: Index


def _copy_each(f: Function, known: Layout, of: Lists, elements: Value, copy: Value, gathers: bool) -> None:
    """Copy between arrays and elements that lie one after the other."""
    end = f.variable(elements)
    with f.loop(0, of.count) as n:
        own = f.load("ptr", f.offset(f.load("ptr", f.offset(of.items, "ptr", n)), "i8", known.memory))
        size = f.variable(of.size)
        with f.loop(0, of.rank) as axis:
            length = f.load_index(f.offset(of.table, "i64", n * of.step + axis + 1))
            f.store(f.load_index(size) * length, size)
        start, bytes = f.load("ptr", end), f.load_index(size)
        f.run_pointer(copy, *((start, own) if gathers else (own, start)), bytes)
        f.store(f.offset(start, "i8", bytes), end)


def _cell(f: Function, number: int) -> Value:
    return f.offset(f["cells"], "i64", number)


def _number(f: Function, array: Value, offset: int) -> Value:
    return f.convert("sext", f.load("i32", f.offset(array, "i8", offset)), "i64")


def _require(f: Function, condition: Value) -> None:
    with f.leave_when(f.select(condition, f.number(0, "i1"), f.number(1, "i1"))):
        f.give(f.index(-1))


class Functions(Struct, frozen=True):
    """The functions, which take cells as bytes, what packs the cells, and the machine code."""

    read: Callable[[bytes], int]
    deal: Callable[[bytes], None]
    pack_read: Callable[..., bytes]
    pack_deal: Callable[..., bytes]
    code: tuple[MachineCode, ...]
    copy: int
    """The address of `memcpy`, which the cells have."""


@functools.cache
def functions() -> Functions | None:
    """The functions of this process; None where Python or NumPy is of another kind."""
    known, copy = layout(), address_of("memcpy")
    if known is None or copy is None:
        return None
    module = lists_module(known)
    read, deal = code = [MachineCode(module, name) for name in ("read", "deal")]
    return Functions(
        ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(read.address),
        ctypes.PYFUNCTYPE(None, ctypes.c_char_p)(deal.address),
        pack_read,
        pack_deal,
        tuple(code),
        copy,
    )
