"""Entries of programs: machine code as it is, or in one of the ways of WHORL_DEBUG."""

from __future__ import annotations

import ctypes
import math
import mmap
from collections.abc import Callable
from typing import Any

import numpy as np

from whorl.debug import debug
from whorl.errors import VerifyError
from whorl.ir.dtypes import BOOL
from whorl.ir.native.expressions import Buffer
from whorl.kernel.interpret import Outcome, interpret
from whorl.kernel.program import Program

Entry = Callable[[int], int]
"""Takes the address of the block of cells and gives a status."""
_Native = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


def entry_of(program: Program, address: int) -> Entry:
    """The function that runs a program whose machine code is at an address.

    Not by `programs`: those whose memory grows; not under `guard`: those that call back.
    """
    native = _Native(address)
    if debug().by_programs and not program.growing:
        return lambda cells: _interpreted(program, _Cells(program, cells))
    if debug().guarded and not program.calls:
        return lambda cells: _guarded(program, native, cells)
    return native


class _Cells:
    """The cells of a run: scalars, then the addresses of buffers and of scratch memory."""

    def __init__(self, program: Program, address: int) -> None:
        self.program = program
        self.buffers = [*program.buffers, *program.scratch]
        count = len(program.scalars) + len(self.buffers)
        memory: Any = (ctypes.c_int64 * count).from_address(address)
        self.values = np.frombuffer(memory, np.int64)
        self.scalars = self.values[: len(program.scalars)]
        self.addresses = self.values[len(program.scalars) :]
        self.rows = self._rows()

    def _rows(self) -> tuple[int, int]:
        """The first row and the number of rows that a loop's program uses of buffers whose length it does not know."""
        if len(self.scalars) < 2:
            return 0, 0
        return int(self.scalars[0]), max(0, int(self.scalars[1] - self.scalars[0]))

    def extent(self, buffer: Buffer) -> tuple[int, int]:
        """Where, in bytes from a buffer's address, the part begins that a run may use, and its size."""
        first, rows = self.rows
        inner = math.prod(int(n) for n in buffer.shape if n is not None) * buffer.dtype.itemsize  # type: ignore[arg-type]
        return (first * inner, rows * inner) if None in buffer.shape else (0, inner)


# ---- by the interpreter of kernel programs ---------------------------------------------------------------------


def _interpreted(program: Program, cells: _Cells) -> int:
    arrays = [_array_at(int(a), b, cells) for a, b in zip(cells.addresses, program.buffers, strict=False)]
    scalars = [bool(x) if v.dtype == BOOL else int(x) for v, x in zip(program.scalars, cells.scalars, strict=True)]
    origin = program.origin
    expected = None if origin is None else interpret(origin, scalars, [array.copy() for array in arrays])
    outcome = interpret(program, scalars, arrays)
    if expected is not None:
        _require_same(program, outcome, expected)
    if outcome.status:
        return outcome.status
    cells.scalars[:] = [int(x) for x in outcome.scalars]
    places = {id(array): int(a) for array, a in zip(arrays, cells.addresses, strict=False)}
    cells.addresses[: len(arrays)] = [places[id(array)] for array in outcome.arrays]
    return 0


def _require_same(program: Program, found: Outcome, expected: Outcome) -> None:
    """Refuse what an optimised program gives where it is not what the program gave before; sums may differ in order."""
    if found.status != expected.status:
        raise VerifyError(f"the optimised program ends with status {found.status}, before it was {expected.status}")
    if found.status:
        return
    for buffer, ours, theirs in zip(program.buffers, found.arrays, expected.arrays, strict=True):
        if buffer in program.spare:
            continue
        if not np.allclose(ours.astype(np.float64), theirs.astype(np.float64), 1e-3, 1e-5, equal_nan=True):
            raise VerifyError(f"the optimised program gives another {buffer.name!r} than it gave before")


def _array_at(address: int, buffer: Buffer, cells: _Cells) -> np.ndarray:
    """A buffer's memory; one of unknown length reaches to the last row that the run uses."""
    rows = sum(cells.rows)
    shape = [rows if n is None else int(n) for n in buffer.shape]  # type: ignore[arg-type]
    size = math.prod(shape) * buffer.dtype.itemsize
    if not size:
        return np.empty(shape, buffer.dtype)
    memory: Any = (ctypes.c_uint8 * size).from_address(address)
    return np.frombuffer(memory, buffer.dtype, math.prod(shape)).reshape(shape)


# ---- against guard pages ---------------------------------------------------------------------------------------


class _Guarded:
    """A copy of memory that ends where a page begins that nobody may touch; before it, there is another such page."""

    def __init__(self, original: int, size: int) -> None:
        self.original, self.size = original, size
        length = -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        self.pages = mmap.mmap(-1, length + 2 * mmap.PAGESIZE)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self.pages))
        last = first + mmap.PAGESIZE + length
        for page in (first, last):
            if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(page), mmap.PAGESIZE, 0):
                raise OSError(ctypes.get_errno(), "memory cannot be protected")
        self.address = last - size
        ctypes.memmove(self.address, original, size)

    def copy_back(self) -> None:
        ctypes.memmove(self.original, self.address, self.size)


def _guarded(program: Program, native: Entry, address: int) -> int:
    """Run machine code on copies of all memory. Scratch memory that lies in one block has pages between its parts."""
    cells = _Cells(program, address)
    kept = [n for n, buffer in enumerate(cells.buffers) if not buffer.grows]
    own, starts = cells.addresses[kept], [cells.extent(cells.buffers[n]) for n in kept]
    copies = [_Guarded(int(a) + start, size) for a, (start, size) in zip(own, starts, strict=True)]
    places = [copy.address - start for copy, (start, _) in zip(copies, starts, strict=True)]
    cells.addresses[kept] = places
    homes = dict(zip(places, own.tolist(), strict=True))
    status = native(address)
    cells.addresses[kept] = [homes[place] for place in cells.addresses[kept].tolist()]
    for copy in copies:
        copy.copy_back()
    return status
