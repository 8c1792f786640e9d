"""Slice where inference knows the length of the result and only the program knows where it begins."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.ir.native.expressions import Buffer
from whorl.ir.native.view import Operands
from whorl.ir.types import TensorType
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Program
from whorl.kernel.verify import verify_program
from whorl.lowering.builder import KernelBuilder
from whorl.ops.movement.axes import Slice

F32, I64 = np.dtype(np.float32), np.dtype(np.int64)
X = np.arange(12, dtype=np.float32).reshape(4, 3)
FAR = np.iinfo(np.int64).max


def sliced(start: int, end: int, step: int, count: int) -> tuple[int, np.ndarray]:
    """How a program ends that takes `count` rows from a place it reads at run time, and the rows."""
    k = KernelBuilder()
    passed = [Buffer("x", F32, X.shape), *(Buffer(name, I64, (1,)) for name in ("start", "end", "axis", "step"))]
    views = [k.view_of(buffer) for buffer in passed]
    fixed = [
        k.view(I64, (1,), view.at, 1, known=np.array([n], object)) for view, n in zip(views[3:], (0, step), strict=True)
    ]
    views[3:] = fixed
    (result,) = Slice().lower(k, Operands(views), [TensorType(F32, (count, 3))]) or []
    out = Buffer("out", F32, (count, 3))
    k.fill(out, result)
    program = Program([], [*passed, out], k.scratch, k.block)
    verify_program(program)
    numbers = [np.array([n]) for n in (start, end, 0, step)]
    outcome = interpret(program, [], [X.copy(), *numbers, np.zeros((count, 3), np.float32)])
    return outcome.status, outcome.arrays[-1]


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [
        (1, 3, 1),
        (-2, FAR, 1),
        (0, 4, 3),
        (3, 0, -1),
        (-1, -FAR - 1, -2),
        (FAR, -3, -1),
        (-99, 2, 1),
        (4, 9, 1),
        (2, 1, 1),
    ],
)
def test_start_known_at_run_time_equals_run(start: int, end: int, step: int) -> None:
    expected = Slice().run(X, *(np.array([n]) for n in (start, end, 0, step)))
    status, rows = sliced(start, end, step, len(expected))
    assert status == 0
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize(("start", "end", "step"), [(1, 4, 1), (1, 2, 1), (3, 3, 1), (3, 0, -1), (0, 3, -1)])
def test_other_length_ends_program(start: int, end: int, step: int) -> None:
    assert sliced(start, end, step, 2)[0] == 1
