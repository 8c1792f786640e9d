"""Native forms run by the interpreter of kernel programs: functions of a builder and views, on arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Buffer
from whorl.ir.native.view import View
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Program
from whorl.lowering.builder import KernelBuilder

MOST = 64
"""The largest length of an axis whose length only the run knows."""


def run_form(write: Callable[..., View], *arrays: np.ndarray) -> np.ndarray | None:
    """The tensor that `write(k, *views)` makes of arrays; None where the program ends with a failure."""
    k = KernelBuilder()
    inputs = [Buffer(f"x{n}", array.dtype, array.shape) for n, array in enumerate(arrays)]
    view = write(k, *map(k.view_of, inputs))
    result = Buffer("y", view.dtype, tuple(n if isinstance(n, int) else MOST for n in view.shape))
    lengths = Buffer("lengths", INT64, (len(view.shape),))
    with k.nest(view.shape) as index:
        k.store(result, index, view.at(index))
    for axis, length in enumerate(view.shape):
        k.store(lengths, (k.const(axis),), k.length(length))
    made = [np.zeros([n or 0 for n in buffer.shape], buffer.dtype) for buffer in (result, lengths)]
    constants = list(k.constants)
    program = Program([], [*inputs, *constants, result, lengths], k.scratch, k.block)
    contents = [*map(np.ascontiguousarray, arrays), *(k.constants[buffer] for buffer in constants), *made]
    outcome = interpret(program, [], contents)
    if outcome.status:
        return None
    *_, full, taken = outcome.arrays
    return full[tuple(map(slice, taken.tolist()))]
