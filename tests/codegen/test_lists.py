"""Lists of arrays in machine code: their tables and elements, what is refused, and arrays filled from elements."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.codegen import lists
from whorl.codegen.lists import Functions, layout, pack_deal, pack_read

F32 = np.dtype(np.float32)


@pytest.fixture
def functions() -> Functions:
    known = lists.functions()
    if known is None:
        pytest.skip("array objects of this NumPy have no address of their elements at a known offset")
    return known


def read(functions: Functions, items: list[np.ndarray], rank: int, expected: list[int], capacity: int):
    declared, table = np.array(expected, np.int64), np.full((len(items), 1 + rank), -7)
    elements = np.full(capacity, -7, F32)
    objects = id(items), id(np.ndarray), id(F32), id(declared), id(table), id(elements)
    size = functions.read(pack_read(*objects, functions.copy, len(items), rank, F32.itemsize, capacity))
    return size, table.tolist(), elements.tolist()


def floats(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    return [np.arange(np.prod(shape), dtype=F32).reshape(shape) for shape in shapes]


def test_list_of_arrays_becomes_elements_and_a_table(functions) -> None:
    table = [[0, 2, 2], [4, 0, 3], [4, 1, 2]]
    assert read(functions, floats((2, 2), (0, 3), (1, 2)), 2, [-1, -1], 6) == (12, table, [0, 1, 2, 3, 0, 1])
    assert read(functions, floats((2,), (2,)), 1, [2], 4) == (9, [[0, 2], [2, 2]], [0, 1, 0, 1])
    assert read(functions, floats((), ()), 0, [], 2) == (5, [[0], [1]], [0, 0])


def test_elements_are_left_where_there_is_memory_for_another_number(functions) -> None:
    assert read(functions, floats((2,), (1,)), 1, [-1], 2) == (6, [[0, 2], [2, 1]], [-7, -7])


@pytest.mark.parametrize(
    "other",
    [
        np.zeros((2, 2), F32),
        np.zeros(3, np.float64),
        np.zeros(4, F32)[::2],
        np.zeros(3, F32),
        [1.0, 2.0],
        np.rec.array(np.zeros(2, F32)),
    ],
    ids=["rank", "element type", "not row-major", "length", "no array", "subclass"],
)
def test_other_arrays_are_refused(functions, other) -> None:
    assert read(functions, [*floats((2,)), other], 1, [2], 4)[0] == -1


def test_arrays_are_filled_from_elements(functions) -> None:
    elements = np.arange(6, dtype=F32)
    table = np.array([[0, 1, 2], [2, 0, 5], [2, 4, 1]])
    arrays = [np.zeros(shape, F32) for shape in ((1, 2), (0, 5), (4, 1))]
    functions.deal(pack_deal(id(arrays), id(table), id(elements), functions.copy, 3, 2, 3, 4))
    assert [each.ravel().tolist() for each in arrays] == [[0, 1], [], [2, 3, 4, 5]]
    alike, row = [np.zeros(3, F32) for _ in range(2)], np.array([0, 3])
    functions.deal(pack_deal(id(alike), id(row), id(elements), functions.copy, 2, 1, 0, 4))
    assert [each.tolist() for each in alike] == [[0, 1, 2], [3, 4, 5]]


def test_layout_is_none_where_an_array_has_no_address_where_it_is_sought(monkeypatch) -> None:
    layout.cache_clear()
    monkeypatch.setattr(lists, "address_offset", lambda: None)
    assert layout() is None
    layout.cache_clear()
