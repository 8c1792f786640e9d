"""Kernels compiled for a machine and run, beside their meaning."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from whorl.codegen.emit import FUNCTION, emit
from whorl.codegen.target import MachineCode, host
from whorl.ir.native.expressions import Buffer, index_const
from whorl.kernel.program import Call, Program
from whorl.kernel.verify import verify_program
from whorl.kernels.table import KERNELS
from whorl.llvm.module import Machine

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)

FENCE = 128
"""Bytes before and behind an array, which lines of a cache and vectors have as many of or half."""


def machine(vector_bytes: int | None = None, has_half: bool = True) -> Machine:
    """The host with vectors of another width, which LLVM splits or widens, or without instructions for halves."""
    return replace(host(), vector_bytes=vector_bytes or host().vector_bytes, has_half=has_half and host().has_half)


def run_kernel(
    name: str,
    arrays: Sequence[np.ndarray],
    numbers: Sequence[int],
    target: Machine | None = None,
    parts: Sequence[tuple[int, int]] = (),
) -> None:
    """Run a kernel's machine code on flat arrays of the extents that its meaning says, as a whole or by parts.

    Nothing is written before an array or behind it; one that is passed twice is one memory.
    """
    assert [x.size for x in arrays] == list(KERNELS[name].meaning.extents(numbers, arrays[0].dtype))
    buffers = [Buffer(f"b{n}", x.dtype, (x.size,)) for n, x in enumerate(arrays)]
    ranges = [(index_const(first), index_const(end)) for first, end in parts] or [None]
    calls = [Call(name, [(b, (index_const(0),)) for b in buffers], tuple(numbers), parts=each) for each in ranges]
    program = Program([], buffers, [], [*calls])
    verify_program(program)
    code = MachineCode(emit(program, target), FUNCTION)
    fenced = {id(x): np.pad(x.view(np.uint8), FENCE, constant_values=FENCE) for x in arrays}
    cells = np.array([*(fenced[id(x)].ctypes.data + FENCE for x in arrays), 0, 0], np.int64)
    assert ENTRY(code.address)(cells.ctypes.data) == 0
    for x in arrays:
        fence = fenced[id(x)]
        assert (fence[:FENCE] == FENCE).all() and (fence[-FENCE:] == FENCE).all()
        x.view(np.uint8)[:] = fence[FENCE:-FENCE]


def check_kernel(
    name: str, arrays: Sequence[np.ndarray], numbers: Sequence[int], target: Machine, tolerance: float = 0
) -> None:
    """Machine code gives in the first array what the meaning gives."""
    expected = [x.copy() for x in arrays]
    KERNELS[name].meaning.run(expected, numbers)
    run_kernel(name, arrays, numbers, target)
    np.testing.assert_allclose(arrays[0], expected[0], rtol=tolerance, atol=tolerance)


def draw(dtype: np.dtype, size: int) -> np.ndarray:
    return np.random.default_rng(size).standard_normal(size).astype(dtype)
