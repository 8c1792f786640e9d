"""The cells of direct calls: each number has one meaning, and what is declined is None without an exception."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from codegen.calls import Call, floats
from whorl.codegen import call_cells as cell
from whorl.codegen import direct_call as code


def test_interface_fills_the_cells_behind_all_others() -> None:
    interface = code.interface()
    if interface is None:
        pytest.skip(
            "direct calls read the objects of CPython and NumPy in memory, and do not know those of these versions"
        )
    assert len(interface) == cell.COUNT - cell.INTERFACE
    assert cell.GROUPS < cell.INTERFACE
    objects = interface[cell.NONE - cell.INTERFACE], interface[cell.TYPE - cell.INTERFACE]
    assert objects == (id(None), id(np.ndarray))
    assert interface[cell.LIST_TYPE - cell.INTERFACE] == id(list)


@pytest.mark.parametrize(
    "record",
    [
        [cell.NAME, cell.DTYPE, cell.RANK, cell.LENGTHS, cell.BYTES, cell.CONTENTS, cell.LIST, cell.ARRAY, cell.TABLE],
        [
            cell.READER,
            cell.ENLARGE,
            cell.IS_ROWS,
            cell.ARRAYS,
            cell.TOTAL,
            cell.LEAST,
            cell.SHORT,
            cell.SMALL,
            cell.MOST,
        ],
        [cell.MAKER, cell.DTYPE, cell.RANK, cell.LENGTHS, cell.ITEM, cell.OUTPUT],
        [cell.AXES, cell.DTYPE, cell.RANK, cell.LENGTHS, cell.ITEM, cell.LENGTH_CELLS, cell.MEMORY, cell.SIZE],
    ],
)
def test_fields_of_a_record_are_all_its_cells(record: list[int]) -> None:
    assert sorted(record) == [*range(len(record))]


def test_declining_leaves_no_exception_and_counts_none() -> None:
    call = Call(lambda _: pytest.fail("the program ran"))
    before = sys.getrefcount(None)
    for _ in range(1000):
        assert call.run({"x": floats(1)}) is None
    assert sys.exc_info() == (None, None, None)
    assert abs(sys.getrefcount(None) - before) < 100
