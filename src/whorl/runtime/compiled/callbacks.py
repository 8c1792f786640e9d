"""Ops without a native form, run by the runtime on the memory of a program.

Their results have the lengths that they come with, so a loop with a Unique in it is one program still.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import LimitError, WhorlError
from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import as_values
from whorl.ir.native.expressions import Buffer
from whorl.ir.types import TensorType
from whorl.kernel.program import Program, RunOp
from whorl.ops.core.work import Effort
from whorl.runtime.compiled.memory import Blocks
from whorl.runtime.limits import Budget


def efforts_of(program: Program) -> list[Effort]:
    """What each op that a program calls has taken so far."""
    return [Effort(call.op, [_type_of(buffer) for buffer in call.outputs]) for call in program.calls]


def _type_of(buffer: Buffer) -> TensorType:
    """The type of a tensor as far as its memory tells it."""
    lengths = [n if isinstance(n, int) else UNKNOWN for n in buffer.shape]
    return TensorType(buffer.dtype, tuple(lengths))


def run_op(call: RunOp, effort: Effort, memory: dict[Buffer, np.ndarray], budget: Budget) -> bool:
    """Run an op that has no native form on a program's memory; False if it fails or gives another type.

    Limits act, and their errors are raised.
    """
    budget.check()
    inputs = [None if b is None else memory[b] for b in call.inputs]
    try:
        values: Sequence[Any] = as_values(effort.run(call.op.run, inputs, budget.check))
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


def run_any(call: RunOp, effort: Effort, blocks: Blocks, place: int, budget: Budget) -> bool:
    """Run an op on tensors of any lengths; False if it fails. Limits act, and their errors are raised.

    The cells at `place` hold the address and the lengths of each input, then address, capacity and lengths of each
    output, which are written here.
    """
    count = sum(1 + len(lengths) for lengths in call.input_lengths) + sum(
        2 + len(registers) for registers in call.output_lengths
    )
    cells = (ctypes.c_int64 * count).from_address(place)
    inputs, at = list[Any](), 0
    for buffer, lengths in zip(call.inputs, call.input_lengths, strict=True):
        shape = tuple(cells[at + 1 : at + 1 + len(lengths)])
        inputs.append(None if buffer is None else _array(cells[at], shape, buffer.dtype))
        at += 1 + len(lengths)
    budget.check()
    if not effort.is_quick(inputs):
        # the memory of a program may go while an op that nobody waits for any more still reads it
        inputs = [None if x is None else x.copy() for x in inputs]
    try:
        values = as_values(effort.run(call.op.run, inputs, budget.check))
        for buffer, registers, value in zip(call.outputs, call.output_lengths, values, strict=False):
            if value.ndim != len(registers) or value.dtype != buffer.dtype:
                return False
            if value.nbytes > cells[at + 1]:
                size = max(value.nbytes, 2 * cells[at + 1])
                cells[at], cells[at + 1] = blocks.replace(cells[at], size), size
            _array(cells[at], value.shape, value.dtype)[...] = value
            cells[at + 2 : at + 2 + value.ndim] = value.shape
            at += 2 + len(registers)
    except LimitError:
        raise
    except (WhorlError, ValueError, ArithmeticError, IndexError, TypeError, MemoryError):
        return False
    return True


def _array(place: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The tensor at an address."""
    size = math.prod(shape) * dtype.itemsize
    if not size:
        return np.empty(shape, dtype)
    memory: Any = (ctypes.c_char * size).from_address(place)
    return np.frombuffer(memory, dtype).reshape(shape)
