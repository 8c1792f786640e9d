"""Small kernel programs, compiled for the host and run over a block of cells."""

from __future__ import annotations

import ctypes

import numpy as np

from whorl.codegen.emit import FUNCTION, emit
from whorl.codegen.target import MachineCode
from whorl.kernel.program import Program

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


def run_program(program: Program, *cells: int | np.ndarray) -> tuple[int, np.ndarray]:
    """The status, and the cells afterwards; arrays are passed by their address, and no runtime helps."""
    numbers = [x.ctypes.data if isinstance(x, np.ndarray) else x for x in cells]
    block = np.array([*numbers, *[0] * (2 + len(program.growing))], np.int64)
    code = MachineCode(emit(program), FUNCTION)
    status = ENTRY(code.address)(block.ctypes.data)
    return status, block[: len(cells)]
