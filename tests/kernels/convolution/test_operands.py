"""Operands of convolutions: offsets of both signs, limits that are there or not."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.runs import machine, run_kernel
from whorl.ir.dtypes import FLOAT32
from whorl.kernels.convolution.operands import load_limits
from whorl.kernels.machine import OVERREAD_BYTES
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.vectors import vectors_of


@pytest.mark.parametrize(("bounded", "expected"), [(0, [-9.0, 9.0]), (1, [-1.0, 2.0])])
def test_results_stay_within_limits_where_there_are_some(bounded: int, expected: list[float]) -> None:
    image = np.zeros(OVERREAD_BYTES // 4, FLOAT32)
    image[:2] = -9, 9
    arrays = [np.zeros(2, FLOAT32), image, np.zeros(1, np.int32), np.ones(1, FLOAT32), np.zeros(1, FLOAT32)]
    arrays.append(np.array([-1, 2], FLOAT32)[: 2 * bounded])
    run_kernel("convolution", arrays, (1, 1, bounded, 64, 0, 1, 1, 2, 1, 2), machine())
    assert arrays[0].tolist() == expected


def test_limits_are_infinite_where_nothing_is_bounded() -> None:
    module = Module(machine())
    f = Routine(module, "@limits", ["limits"], ["bounded"])
    load_limits(f, vectors_of(FLOAT32, machine()))
    f.end()
    text = f.text()
    assert "0x7FF0000000000000" in text and "0xFFF0000000000000" in text
