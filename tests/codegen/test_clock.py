"""The processor's clock in Python is the one that kernels read."""

from __future__ import annotations

import numpy as np
from kernels.runs import run_kernel

from whorl.codegen.clock import cycle_counter
from whorl.kernels.clock.meaning import table_size


def test_reading_of_a_kernel_lies_between_two_in_python() -> None:
    read, table = cycle_counter(), np.zeros(table_size(1), np.int64)
    before = read()
    run_kernel("count_ticks", [table], (0, 1))
    assert before < table[0] < read()


def test_counter_is_compiled_once() -> None:
    assert cycle_counter() is cycle_counter()
