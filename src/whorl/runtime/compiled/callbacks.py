"""Callbacks: ops without a native form, run by the runtime on the memory of a program.

Where only the run knows the lengths of their results, these are written back, so that a loop with such an op in it is
one program still.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np

from whorl.errors import LimitError, WhorlError
from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import as_values
from whorl.ir.native.expressions import Buffer
from whorl.ir.types import TensorType
from whorl.kernel.program import Program, RunOp
from whorl.ops.core.work import Effort
from whorl.runtime.compiled.memory import GrowableMemory, array_at
from whorl.runtime.limits import Budget


def efforts_of(program: Program) -> list[Effort]:
    """The time that each op takes that a program calls, for as long as the program lives."""
    return [Effort(call.op, [_type_of(buffer) for buffer in call.outputs]) for call in program.calls]


def _type_of(buffer: Buffer) -> TensorType:
    """The type of a tensor as far as its buffer fixes it."""
    lengths = [n if isinstance(n, int) else UNKNOWN for n in buffer.shape]
    return TensorType(buffer.dtype, tuple(lengths))


def run_op(call: RunOp, effort: Effort, memory: Mapping[Buffer, np.ndarray], budget: Budget) -> bool:
    """Run an op without a native form on a program's memory; False if it fails or gives another type.

    Limits act, and their errors are raised.
    """
    budget.check()
    inputs = [None if b is None else memory[b] for b in call.inputs]
    try:
        values = as_values(effort.run(call.op.run, inputs, budget.check))
        for buffer, value in zip(call.outputs, values, strict=False):
            target = memory[buffer]
            if target.shape != value.shape or target.dtype != value.dtype:
                return False
            target[...] = value
    except LimitError:
        raise
    except (WhorlError, ValueError, ArithmeticError, IndexError, TypeError, MemoryError):
        return False
    return True


def run_op_any_length(call: RunOp, effort: Effort, buffers: GrowableMemory, start: int, budget: Budget) -> bool:
    """Run an op on tensors of any lengths; False if it fails. Limits act, and their errors are raised.

    The cells at `start` are the address and the lengths of each input, then address, capacity and lengths of each
    output, which are written here.
    """
    count = sum(1 + len(lengths) for lengths in call.input_lengths)
    count += sum(2 + len(registers) for registers in call.output_lengths)
    cells = (ctypes.c_int64 * count).from_address(start)
    inputs: list[np.ndarray | None] = []
    at = 0
    for buffer, lengths in zip(call.inputs, call.input_lengths, strict=True):
        shape = tuple(cells[at + 1 : at + 1 + len(lengths)])
        inputs.append(None if buffer is None else array_at(cells[at], shape, buffer.dtype))
        at += 1 + len(lengths)
    budget.check()
    if not effort.is_quick(inputs):
        # an op that a limit has ended goes on aside, and may read on after the memory of the program is gone
        inputs = [None if x is None else x.copy() for x in inputs]
    try:
        values = as_values(effort.run(call.op.run, inputs, budget.check))
        for buffer, registers, value in zip(call.outputs, call.output_lengths, values, strict=False):
            if value.ndim != len(registers) or value.dtype != buffer.dtype:
                return False
            if value.nbytes > cells[at + 1]:
                size = max(value.nbytes, 2 * cells[at + 1])
                cells[at], cells[at + 1] = buffers.replace(cells[at], size), size
            array_at(cells[at], value.shape, value.dtype)[...] = value
            cells[at + 2 : at + 2 + value.ndim] = value.shape
            at += 2 + len(registers)
    except LimitError:
        raise
    except (WhorlError, ValueError, ArithmeticError, IndexError, TypeError, MemoryError):
        return False
    return True
