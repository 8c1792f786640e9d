"""Machine code that reads the clock: time goes forward, and each row counts."""

from __future__ import annotations

import numpy as np

from kernels.runs import run_kernel
from whorl.kernels.clock.meaning import COLUMNS, FIRST, INTERPRETED, NATIVE, TICKS, table_size


def test_rows_count_and_ticks_add_up_to_the_time_between_the_first_and_the_last() -> None:
    table = np.zeros(table_size(3), np.int64)
    run_kernel("count_ticks", [table], (0, 3))
    begun = int(table[0])
    for row in (1, 2, 2):
        run_kernel("count_ticks", [table], (row, 3))
    rows = table[FIRST:].reshape(3, COLUMNS)
    assert rows[:, NATIVE].tolist() == [1, 1, 2]
    assert rows[1:, TICKS].sum() == table[0] - begun > 0
    assert not rows[:, INTERPRETED].any()
