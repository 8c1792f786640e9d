"""What `count_ticks` means: the time since it last ran is added to a row of a table, and the row counts one more."""

from __future__ import annotations

import time

from whorl.kernels.kernel import Arrays, Meaning, Numbers

FIRST, COLUMNS = 1, 3
"""Where rows begin, behind the time when the clock was last read, and their columns."""
TICKS, NATIVE, INTERPRETED = range(COLUMNS)
"""The ticks of the clock, and how often it was read by machine code and by Python: both read the same one."""


def table_size(rows: int) -> int:
    """The elements of a table."""
    return FIRST + COLUMNS * rows


def count_ticks(arrays: Arrays, numbers: Numbers) -> None:
    """Numbers: the row, the rows of the table. In Python ticks are nanoseconds."""
    (table,), (row, _) = arrays, numbers
    now = time.perf_counter_ns()
    start = FIRST + COLUMNS * row
    table[start + TICKS] += now - table[0]
    table[start + NATIVE] += 1
    table[0] = now


COUNT_TICKS = Meaning(
    1,
    lambda numbers, dtype: (table_size(numbers[1]),),
    count_ticks,
    work=lambda numbers: 1,
    steps=lambda numbers: 1,
)
