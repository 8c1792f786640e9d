"""Lists beside programs, read and made by machine code, and without it."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.codegen import lists
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import FLOAT32
from whorl.ir.types import TensorType
from whorl.lowering.graph_program import RAGGED, ROWS
from whorl.runtime.compiled.lists import (
    FEW,
    ListMemory,
    ListReader,
    form_lists,
    label_rows,
    list_maker,
    nothing,
    split_elements,
    split_rows,
)

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(params=["machine code", "python"], autouse=True)
def way(request, monkeypatch) -> None:
    if request.param == "python":
        monkeypatch.setattr(lists, "functions", lambda: None)


def test_arrays_of_several_shapes_and_of_one() -> None:
    reader = ListReader(TensorType(FLOAT32))
    for _ in range(2):
        known = reader.read([X, X[:1], X[:0]])
        assert known is not None and not known.is_alike
        elements, table = known.pair()
        assert elements.tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2]
        assert table.tolist() == [[0, 2, 3], [6, 1, 3], [9, 0, 3]]
        assert (known.count, known.total, known.rank) == (3, 9, 2)
        alike = reader.read([X[0], X[1]])
        assert alike is not None and alike.is_alike and alike.rows().tolist() == X.tolist()
        scalars = reader.read([np.array(n, FLOAT32) for n in (3, 4)])
        assert scalars is not None and scalars.rows().tolist() == [3, 4]


def test_array_that_is_not_row_major_is_read() -> None:
    known = ListReader(TensorType(FLOAT32)).read([X.T, X.T[:1]])
    assert known is not None and known.elements.tolist() == [0, 3, 1, 4, 2, 5, 0, 3]


def test_next_list_is_read_into_the_same_memory() -> None:
    reader = ListReader(TensorType(FLOAT32))
    first, second = reader.read([X[0]]), reader.read([X[0], X[1]])
    assert isinstance(first, ListMemory) == isinstance(second, ListMemory) == bool(reader.spare or lists.functions())
    if not isinstance(first, ListMemory):
        return
    assert first is not second and first.rows().tolist() == X[:1].tolist()
    first.give_back()
    items = [X.ravel()[:n] for n in range(1, 7)] * 5
    again = reader.read(items)
    assert again is first and not again.is_alike
    elements, table = again.pair()
    assert np.split(elements, table[1:, 0])[8].tolist() == [0, 1, 2] and len(table) == 30
    again.give_back()
    assert reader.read([X, X]) is not first


def test_list_without_arrays_is_no_rows_and_has_the_rank_of_its_type() -> None:
    for shape, rank in (((UNKNOWN, 3), 2), ((), 0)):
        reader = ListReader(TensorType(FLOAT32, shape))
        known = reader.read([])
        assert known is not None and not known.is_alike and known is reader.read([])
        assert (known.count, known.total, known.rank) == (0, 0, rank)
        assert [a.shape for a in known.pair()] == [(0,), (0, 1 + rank)]


@pytest.mark.parametrize("value", [(), (X, X), None, X, [X, X[0]], [X, X.astype(float)], [X, [1.0]], ["a"]])
def test_other_values_are_none(value: object) -> None:
    assert ListReader(TensorType(FLOAT32)).read(value) is None


def test_arrays_of_other_lengths_than_the_type_says_are_none() -> None:
    reader = ListReader(TensorType(FLOAT32, (UNKNOWN, 3)))
    assert reader.read([X, X[:1]]) is not None
    assert reader.read([X, X[:, :2]]) is None
    assert reader.read([X[0], X[0, 1:]]) is None
    assert reader.read([X[None], X[None]]) is None


@pytest.mark.parametrize("count", [1, FEW, FEW + 1])
def test_rows_and_elements_become_arrays_of_their_own(count: int) -> None:
    rows = np.arange(6 * count, dtype=np.float32).reshape(count, 2, 3)
    parts = split_rows(rows)
    assert [part.tolist() for part in parts] == rows.tolist()
    assert all(part.base is None for part in parts)
    assert [part.tolist() for part in split_rows(rows[:, 0, 0].copy())] == rows[:, 0, 0].tolist()
    table = np.array([[n * n, 2 * n + 1] for n in range(count)])
    elements = np.arange(count * count, dtype=np.int64)
    parts = split_elements(elements, table)
    assert [part.tolist() for part in parts] == [[*range(n * n, (n + 1) ** 2)] for n in range(count)]
    assert all(part.base is None for part in parts)


@pytest.mark.parametrize("count", range(5))
def test_rows_are_maps_of_python_numbers(count: int) -> None:
    keys, rows = ("a", "b", "c", "d")[:count], np.arange(2 * count, dtype=np.float32).reshape(2, count)
    expected = [{key: float(row[n]) for n, key in enumerate(keys)} for row in rows]
    assert label_rows(keys, rows) == expected
    assert label_rows(keys, rows[:0]) == []
    assert all(type(x) is float for each in label_rows(keys, rows) for x in each.values())


def test_results_become_lists_and_maps() -> None:
    table = np.array([[0, 2], [2, 4]])
    results: list = [X, X.ravel(), table, X[0], X[1], [X], nothing(), X[:, :1]]
    form_lists(results, [(0, ROWS), (1, RAGGED), (3, 2), (5, RAGGED)], [(4, ("a",))])
    assert [a.tolist() for a in results[0]] == X.tolist()
    assert [a.tolist() for a in results[1]] == [[0, 1], [2, 3, 4, 5]]
    assert [a.tolist() for a in results[2]] == X.tolist()
    assert results[3][0] is X and results[4] == [{"a": 0.0}, {"a": 3.0}]


def test_list_maker_reads_what_lies_at_three_addresses() -> None:
    elements, table = np.arange(3, dtype=np.float32), np.array([[0, 1], [1, 2]])
    cells = np.array([elements.ctypes.data, table.ctypes.data, 2])
    make = list_maker(elements.dtype, 2, [cells.ctypes.data + 8 * n for n in range(3)])
    assert (make is None) == (lists.functions() is None)
    if make is not None:
        assert [a.tolist() for a in make()] == [[0], [1, 2]]
        cells[2] = 1
        assert [a.tolist() for a in make()] == [[0]]
    assert list_maker(elements.dtype, 2, [0]) is None
