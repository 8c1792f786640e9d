"""Lists of arrays in machine code: their tables and elements, what is refused, and lists made of elements."""

from __future__ import annotations

import ctypes
import gc
import sys

import numpy as np
import pytest

from whorl.codegen import lists, objects
from whorl.codegen.lists import Functions
from whorl.codegen.objects import layout

F32 = np.dtype(np.float32)


@pytest.fixture
def functions() -> Functions:
    known = lists.functions()
    if known is None:
        pytest.skip("array objects of this NumPy have no address of their elements at a known offset")
    return known


def read(functions: Functions, items: list[np.ndarray], rank: int, expected: list[int], capacity: int, rows: int = 4):
    declared, table = np.array(expected, np.int64), np.full((rows, 1 + rank), -7)
    elements = np.full(capacity, -7, F32)
    cells = functions.cells_to_read(F32, declared)
    cells[lists.READ_TABLE : lists.READ_TABLE + 2] = [table.ctypes.data, elements.ctypes.data]
    cells[lists.READ_ROWS : lists.READ_ROWS + 2] = [rows, capacity]
    answer = functions.read(ctypes.addressof(cells), items)
    return answer, cells[lists.READ_COUNT :], table[: len(items)].tolist(), elements.tolist()


def floats(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    return [np.arange(np.prod(shape), dtype=F32).reshape(shape) for shape in shapes]


def test_list_of_arrays_becomes_elements_and_a_table(functions) -> None:
    table = [[0, 2, 2], [4, 0, 3], [4, 1, 2]]
    known = read(functions, floats((2, 2), (0, 3), (1, 2)), 2, [-1, -1], 7)
    assert known == (12, [3, 6], table, [0, 1, 2, 3, 0, 1, -7])
    assert read(functions, floats((2,), (2,)), 1, [2], 4) == (9, [2, 4], [[0, 2], [2, 2]], [0, 1, 0, 1])
    assert read(functions, floats((), ()), 0, [], 2) == (5, [2, 2], [[0], [1]], [0, 0])


def test_too_little_memory_says_how_much_is_needed(functions) -> None:
    few_elements = read(functions, floats((2,), (1,)), 1, [-1], 2)
    assert few_elements == (lists.NO_ROOM, [2, 3], [[0, 2], [2, 1]], [-7, -7])
    assert read(functions, floats((2,), (1,)), 1, [-1], 9, rows=1)[:2] == (lists.NO_ROOM, [2, 0])


def test_empty_list_has_a_table_without_rows_and_no_shape(functions) -> None:
    assert read(functions, [], 1, [-1], 2) == (0, [0, 0], [], [-7, -7])
    assert read(functions, [], 2, [-1, 3], 0, rows=0)[:2] == (0, [0, 0])


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
    assert read(functions, [*floats((2,)), other], 1, [2], 4)[0] == lists.MISFIT


def made(functions: Functions, elements: np.ndarray, table: np.ndarray, count: int, step: int) -> list[np.ndarray]:
    cells = functions.cells_to_make(elements.dtype, table.shape[-1] - 1, step)
    cells[-lists.MADE_FROM :] = [elements.ctypes.data, table.ctypes.data, count]
    return functions.make(ctypes.addressof(cells))


def test_lists_are_made_of_elements(functions) -> None:
    elements = np.arange(6, dtype=F32)
    table = np.array([[0, 1, 2], [2, 0, 5], [2, 4, 1]])
    arrays = made(functions, elements, table, 3, 3)
    assert [each.shape for each in arrays] == [(1, 2), (0, 5), (4, 1)]
    assert [each.ravel().tolist() for each in arrays] == [[0, 1], [], [2, 3, 4, 5]]
    assert all(each.flags.owndata and each.flags.writeable and each.dtype is F32 for each in arrays)
    alike = made(functions, elements, np.array([0, 3]), 2, 0)
    assert [each.tolist() for each in alike] == [[0, 1, 2], [3, 4, 5]]
    scalars = made(functions, elements, np.array([[0], [1]]), 2, 1)
    assert [(each.shape, each.tolist()) for each in scalars] == [((), 0), ((), 1)]
    assert made(functions, elements, table, 0, 3) == []


def test_objects_of_made_lists_are_counted(functions) -> None:
    elements, table = np.arange(4, dtype=F32), np.array([[0, 1], [1, 3]])
    arrays = made(functions, elements, table, 2, 2)
    ordinary = [np.zeros(1, F32), np.zeros(3, F32)]
    counts = [[sys.getrefcount(each) for each in (known, known[0])] for known in (arrays, ordinary)]
    assert counts[0] == counts[1]
    before = sys.getrefcount(F32)
    del arrays
    assert sys.getrefcount(F32) == before - 2
    assert gc.is_tracked(made(functions, elements, table, 2, 2))


def test_made_lists_refer_to_the_objects_of_arrays(functions) -> None:
    texts = [f"text {n}" for n in range(4)]
    elements, table = np.array(texts, object), np.array([[0, 1], [1, 3]])
    before = [sys.getrefcount(text) for text in texts]
    arrays = made(functions, elements, table, 2, 2)
    assert [each.tolist() for each in arrays] == [texts[:1], texts[1:]]
    assert [sys.getrefcount(text) for text in texts] == [count + 1 for count in before]
    del arrays
    assert [sys.getrefcount(text) for text in texts] == before


def test_there_may_be_no_memory_for_an_array(functions) -> None:
    before = sys.getrefcount(F32)
    with pytest.raises((MemoryError, ValueError)):
        made(functions, np.arange(2, dtype=F32), np.array([[0, 1], [1, 1 << 60]]), 2, 2)
    assert sys.getrefcount(F32) == before


def test_layout_is_none_where_an_array_has_no_address_where_it_is_sought(monkeypatch) -> None:
    layout.cache_clear()
    monkeypatch.setattr(objects, "address_offset", lambda: None)
    assert layout() is None
    layout.cache_clear()
