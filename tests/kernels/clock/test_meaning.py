"""The clock's meaning in Python: nanoseconds since it was read last."""

from __future__ import annotations

import time

import numpy as np

from whorl.kernels.clock.meaning import COLUMNS, FIRST, count_ticks, table_size


def test_row_gets_the_time_since_the_last_reading() -> None:
    table = np.zeros(table_size(2), np.int64)
    count_ticks([table], (0, 2))
    time.sleep(0.01)
    count_ticks([table], (1, 2))
    rows = table[FIRST:].reshape(2, COLUMNS)
    assert rows[:, 1].tolist() == [1, 1]
    assert rows[1, 0] >= 0.01e9
