"""Callbacks: ops that run on the memory of a program."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.errors import CancelledError
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Buffer, Const, Var
from whorl.kernel.program import Program, RunOp
from whorl.ops.elementwise.arithmetic import Neg
from whorl.runtime.compiled.callbacks import efforts_of, run_op, run_op_any_length
from whorl.runtime.compiled.memory import GrowableMemory, address, array_at
from whorl.runtime.limits import UNLIMITED, Budget, Limits

X, Y = Buffer("x", FLOAT32, (3,)), Buffer("y", FLOAT32, (3,))
CALL = RunOp(Neg(), [X], [Y])
(EFFORT,) = efforts_of(Program([], [X, Y], [], [], [CALL]))


def test_result_is_written_into_its_buffer() -> None:
    y = np.zeros(3, np.float32)
    assert run_op(CALL, EFFORT, {X: np.ones(3, np.float32), Y: y}, UNLIMITED)
    assert y.tolist() == [-1, -1, -1]


def test_result_of_another_shape_is_a_failure() -> None:
    assert not run_op(CALL, EFFORT, {X: np.ones(3, np.float32), Y: np.zeros(2, np.float32)}, UNLIMITED)


def test_limit_is_raised_before_the_op_runs() -> None:
    with pytest.raises(CancelledError):
        run_op(CALL, EFFORT, {}, Budget(Limits(), lambda: True))


def test_result_of_any_length_gets_memory_and_tells_its_lengths() -> None:
    call = RunOp(Neg(), [X], [Y], input_lengths=[(Const(INT64, 3),)], output_lengths=[(Var(INT64, "n"),)])
    x, buffers = np.arange(3, dtype=np.float32), GrowableMemory()
    cells = np.array([address(x), 3, buffers.allocate(0), 0, 0], np.int64)
    assert run_op_any_length(call, EFFORT, buffers, address(cells), UNLIMITED)
    assert (cells[3] >= 12, cells[4]) == (True, 3)
    assert array_at(int(cells[2]), (3,), FLOAT32).tolist() == [0, -1, -2]
