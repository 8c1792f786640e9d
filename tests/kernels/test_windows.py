"""Windows along axes, and their addresses in a phase-split input."""

import numpy as np
import pytest

from whorl.kernels.windows import WindowAxis, WindowGrid


def test_tap_gives_the_windows_inside_and_the_elements_they_read():
    axis = WindowAxis(length=9, kernel=3, stride=2, dilation=2, begin=3, count=5)
    for t in range(axis.kernel):
        windows, elements = axis.tap(t)
        read = {o: o * 2 - 3 + t * 2 for o in range(5)}
        inside = [o for o, i in read.items() if 0 <= i < 9]
        assert list(range(5))[windows] == inside
        assert list(range(9))[elements] == [read[o] for o in inside]


def test_tap_beyond_the_axis_is_empty():
    axis = WindowAxis(length=2, kernel=9, stride=1, dilation=1, begin=0, count=1)
    assert axis.tap(8) == (slice(0, 0), slice(0, 0))
    assert axis.near == range(2)


def test_part_reads_what_the_whole_reads_there():
    axis = WindowAxis(10, 3, 2, 1, 1, 5)
    part = axis.part(slice(2, 4))
    assert part.count == 2
    assert [o * 2 - part.begin for o in range(2)] == [o * 2 - axis.begin for o in (2, 3)]


@pytest.mark.parametrize("grid", [WindowGrid(1, 1, 7, 1, 7), WindowGrid(2, 3, 4, 5, 6), WindowGrid(1, 1, 1, 1, 1)])
def test_addresses_begin_at_zero_and_end_at_the_span(grid):
    addresses = grid.addresses()
    assert len(addresses) == grid.windows == len(np.unique(addresses))
    assert addresses[0] == 0 and addresses[-1] == grid.span - 1
