"""Callbacks: ops that run on the memory of a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import session

from whorl.errors import CancelledError
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Buffer, Const, Var
from whorl.kernel.program import Program, RunOp
from whorl.ops.elementwise.arithmetic import Neg
from whorl.runtime.compiled.callbacks import efforts_of, run_op, run_op_any_length
from whorl.runtime.compiled.launch import BoundLaunch
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


INVERSE = """main (float[4, 2] x) => (float[4, 2] y) {
    wide = Constant <value_ints = [1, 4, 2]> ()
    narrow = Constant <value_ints = [4, 2]> ()
    axis = Constant <value_int = 1> ()
    four = Constant <value_int = 4> ()
    signal = Reshape (x, wide)
    back = DFT <inverse = 1, onesided = 0> (signal, four, axis)
    y = Reshape (back, narrow)
}"""


def test_result_that_lies_in_an_output_of_another_shape(monkeypatch) -> None:
    launches: list[bool] = []
    run = BoundLaunch.run

    def recorded(*arguments: Any) -> list[Any] | None:
        results = run(*arguments)
        launches.append(results is not None)
        return results

    monkeypatch.setattr(BoundLaunch, "run", recorded)
    transformed, x = session(model(INVERSE)), np.arange(8, dtype=np.float32).reshape(4, 2)
    expected = np.fft.ifft(x[:, 0] + 1j * x[:, 1])
    for _ in range(3):
        np.testing.assert_allclose(transformed.run(None, {"x": x})[0].T, [expected.real, expected.imag], atol=1e-6)
    assert launches == [True] * 3
