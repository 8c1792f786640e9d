"""Operands of a recurrent op checked against its input."""

import numpy as np
import pytest
from evaluation import evaluate, shaped, types
from one_program import LENGTHS, check_one_program

from whorl.errors import RunError
from whorl.ir import dims
from whorl.ops.recurrent.operands import CheckedLengths, CheckedState, ZeroState

N, M = dims.name("n"), dims.name("m")
FLOAT32 = np.dtype(np.float32)


def sequence(steps: int, batch: int) -> np.ndarray:
    return np.zeros((steps, batch, 4), np.float32)


def test_types_have_the_batch_of_the_input() -> None:
    x = shaped(M, N, 4)
    assert types(CheckedLengths(), shaped(dims.UNKNOWN, dtype=np.int32), x) == "int64[n, 1]"
    assert types(CheckedState(), shaped(M, 6), x) == "float32[n, 6]"
    assert types(ZeroState(6, FLOAT32), x) == "float32[n, 6]"


def test_another_batch_and_lengths_outside_the_steps_are_refused() -> None:
    with pytest.raises(RunError, match="sequence length 6 is outside \\[0, 5\\]"):
        evaluate(CheckedLengths(), np.array([5, 6]), sequence(5, 2))
    with pytest.raises(RunError, match="batch size is both 2 and 3"):
        evaluate(CheckedLengths(), np.array([5, 5, 5]), sequence(5, 2))
    with pytest.raises(RunError, match="batch size is both 2 and 3"):
        evaluate(CheckedState(), np.zeros((3, 6), np.float32), sequence(5, 2))


def test_one_program_serves_every_batch() -> None:
    shapes = [(2 * n, n) for n in LENGTHS]
    check_one_program(CheckedLengths(), [[np.arange(n) % 3, sequence(*shape)] for shape in shapes for n in shape[1:]])
    states = [[np.arange(n * 6, dtype=np.float32).reshape(n, 6), sequence(m, n)] for m, n in shapes]
    check_one_program(CheckedState(), states)
    check_one_program(ZeroState(6, FLOAT32), [[sequence(*shape)] for shape in shapes])
