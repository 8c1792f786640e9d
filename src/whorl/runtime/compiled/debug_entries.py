"""Entries of programs in the ways of WHORL_DEBUG: by the interpreter of kernel programs, or against guarded pages."""

from __future__ import annotations

import ctypes
import math
import mmap

import numpy as np

from whorl.debug import debug
from whorl.errors import VerifyError
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.native.expressions import Buffer
from whorl.kernel.interpret import Outcome, interpret, shape_in_run
from whorl.kernel.program import Program
from whorl.runtime.compiled.entries import Entry
from whorl.runtime.compiled.memory import array_at, buffer_shape


def debugged_entry(program: Program, native: Entry) -> Entry:
    """The entry of a program in the way that WHORL_DEBUG asks for.

    Not by `programs`: those whose memory grows; not under `guard`: those that call back.
    """
    if debug().by_programs and not program.growing:
        return lambda cells: _run_by_interpreter(program, _Cells(program, cells))
    if debug().guarded and not program.calls:
        return lambda cells: _run_guarded(program, native, cells)
    return native


class _Cells:
    """The cells of a run: scalars, then the addresses of buffers and of scratch memory."""

    def __init__(self, program: Program, address: int) -> None:
        self.program = program
        self.buffers = [*program.buffers, *program.scratch]
        count = len(program.scalars) + len(self.buffers)
        self.values = array_at(address, (count,), INT64)
        self.scalars = self.values[: len(program.scalars)]
        self.addresses = self.values[len(program.scalars) :]
        self.rows = self._rows()

    def _rows(self) -> tuple[int, int]:
        """The first row and the number of rows that a loop's program uses of buffers whose length it does not know."""
        if len(self.scalars) < 2:
            return 0, 0
        return int(self.scalars[0]), max(0, int(self.scalars[1] - self.scalars[0]))

    def shape(self, buffer: Buffer, unknown: int) -> tuple[int, ...]:
        """The shape of a buffer in this run; rows that only the caller knows are `unknown`."""
        if all(isinstance(n, int) for n in buffer.shape):
            return buffer_shape(buffer)
        return shape_in_run(self.program, buffer, self.scalars, unknown)

    def extent(self, buffer: Buffer) -> tuple[int, int]:
        """The part of a buffer that a run may use: its offset from the buffer's address, and its size, in bytes."""
        first, rows = self.rows
        inner = math.prod(self.shape(buffer, unknown=1)) * buffer.dtype.itemsize
        return (first * inner, rows * inner) if None in buffer.shape else (0, inner)


# ---- by the interpreter of kernel programs ---------------------------------------------------------------------


def _run_by_interpreter(program: Program, cells: _Cells) -> int:
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
    starts = {id(array): int(a) for array, a in zip(arrays, cells.addresses, strict=False)}
    cells.addresses[: len(arrays)] = [starts[id(array)] for array in outcome.arrays]
    return 0


def _require_same(program: Program, outcome: Outcome, expected: Outcome) -> None:
    """Refuse results of an optimised program that are not those of the program before; sums may differ in order."""
    if outcome.status != expected.status:
        raise VerifyError(f"the optimised program ends with status {outcome.status}, before it was {expected.status}")
    if outcome.status:
        return
    for buffer, ours, theirs in zip(program.buffers, outcome.arrays, expected.arrays, strict=True):
        if not np.allclose(ours.astype(np.float64), theirs.astype(np.float64), 1e-3, 1e-5, equal_nan=True):
            raise VerifyError(f"the optimised program gives another {buffer.name!r} than it gave before")


def _array_at(address: int, buffer: Buffer, cells: _Cells) -> np.ndarray:
    """A buffer's memory; one of unknown length reaches to the last row that the run uses."""
    return array_at(address, cells.shape(buffer, unknown=sum(cells.rows)), buffer.dtype)


# ---- against guard pages ---------------------------------------------------------------------------------------


class _Guarded:
    """A copy of memory that ends where a page without access begins; there is another such page before it."""

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


def _run_guarded(program: Program, native: Entry, address: int) -> int:
    """Run machine code on copies of all memory. Scratch memory that lies in one block has pages between its parts."""
    cells = _Cells(program, address)
    fixed = [n for n, buffer in enumerate(cells.buffers) if not buffer.grows]
    originals = [int(a) for a in cells.addresses[fixed]]
    extents = [cells.extent(cells.buffers[n]) for n in fixed]
    copies = [_Guarded(a + offset, size) for a, (offset, size) in zip(originals, extents, strict=True)]
    starts = [copy.address - offset for copy, (offset, _) in zip(copies, extents, strict=True)]
    cells.addresses[fixed] = starts
    original_of = dict(zip(starts, originals, strict=True))
    status = native(address)
    cells.addresses[fixed] = [original_of[int(start)] for start in cells.addresses[fixed]]
    for copy in copies:
        copy.copy_back()
    return status
