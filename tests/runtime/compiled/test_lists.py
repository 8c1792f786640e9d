"""Lists beside programs, read and made by machine code, and without it."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.codegen import lists
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import FLOAT32
from whorl.ir.types import TensorType
from whorl.runtime.compiled.lists import FEW, ListReader, label_rows, split_elements, split_rows

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
        assert known.elements.tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2]
        assert known.table.tolist() == [[0, 2, 3], [6, 1, 3], [9, 0, 3]]
        alike = reader.read([X[0], X[1]])
        assert alike is not None and alike.is_alike and alike.rows().tolist() == X.tolist()
        scalars = reader.read([np.array(n, FLOAT32) for n in (3, 4)])
        assert scalars is not None and scalars.rows().tolist() == [3, 4]


def test_array_that_is_not_row_major_is_read() -> None:
    known = ListReader(TensorType(FLOAT32)).read([X.T, X.T[:1]])
    assert known is not None and known.elements.tolist() == [0, 3, 1, 4, 2, 5, 0, 3]


@pytest.mark.parametrize("value", [[], (X, X), None, X, [X, X[0]], [X, X.astype(float)], [X, [1.0]], ["a"]])
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
