"""Records from logs and collected outputs."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.passes.expose.exposure import Exposed, Part
from whorl.passes.expose.reading import Nested, Records, read_records

F = np.dtype(np.float32)


def test_table_of_known_lengths_is_split_by_columns() -> None:
    parts = Part(F, (2,)), Part(F, ())
    outputs = {"h": np.array([0, 3]), "d": np.array([1, 2, 3, 4, 5, 6], np.float32)}
    second = read_records(Exposed("p", ("l",), ("h", "d"), 0, parts, 1), outputs)
    assert (second.iterations.tolist(), second.values.tolist()) == ([[0], [3]], [3.0, 6.0])


def test_ranks_and_lengths_are_read_from_the_header() -> None:
    parts = (Part(F, None),)
    outputs = {"h": np.array([0, 1, 2, 1, 2, 1, 1, 2, 0]), "d": np.arange(4, dtype=np.float32)}
    records = read_records(Exposed("p", ("l",), ("h", "d"), 0, parts), outputs)
    assert records.iterations.tolist() == [[0], [1], [2]]
    assert [value.tolist() for value in records.values] == [[0.0, 1.0], [[2.0]], 3.0]


def test_sequences_are_lists_of_their_items() -> None:
    parts = Part(F, (None,)), Part(np.dtype(np.int64), (None,))
    outputs = {"h": np.array([0, 3, 4]), "f": np.arange(3, dtype=np.float32), "i": np.array([1, 2, 1, 1])}
    records = read_records(Exposed("p", ("l",), ("h", "f", "i"), 0, parts, 0, True), outputs)
    assert [[item.tolist() for item in items] for items in records.values] == [[[0.0, 1.0], [2.0]]]


def test_iterations_of_loops_in_each_other_follow_from_their_numbers() -> None:
    outer, lengths = np.array([[0], [2]]), np.array([[1, 2], [0, 5]])
    assert Nested(outer, lengths).table.tolist() == [[0, 0, 0], [0, 0, 1]]
    assert Nested(outer, np.array([[2], [1]])).table.tolist() == [[0, 0], [0, 1], [2, 0]]
    assert Nested(np.zeros((1, 0), np.int64), np.array([[2, 1]])).table.tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize(
    "shapes", [[(2, 3), (1, 3)], [(0, 3), (2, 3)], [(2, 3), (2, 1)], [(0, 2), (2, 3)], [(2, 0), (1, 0)]]
)
def test_collected_rows_of_a_log_are_records_of_their_own(shapes: list[tuple[int, int]]) -> None:
    tensors = [np.arange(a * b, dtype=np.float32).reshape(a, b) for a, b in shapes]
    header = [n for k, shape in enumerate(shapes) for n in (k, *shape)]
    outputs = {"h": np.array(header), "d": np.concatenate([each.reshape(-1) for each in tensors])}
    records = read_records(Exposed("p", ("a", "b"), ("h", "d"), 1, (Part(F, (None, None)),)), outputs)
    rows = [row for each in tensors for row in each]
    assert records.iterations.tolist() == [[k, j] for k, (n, _) in enumerate(shapes) for j in range(n)]
    assert records.count == len(rows)
    assert isinstance(records.values, np.ndarray) == (len({row.shape for row in rows}) == 1)
    assert all(np.array_equal(a, b) for a, b in zip(records.values, rows, strict=True))


def test_record_is_looked_up_by_its_iterations() -> None:
    records = Records("p", ("a", "b"), np.array([[0, 0], [1, 2]]), np.array([5, 6]))
    assert records.at(1, 2) == 6
    with pytest.raises(KeyError, match="'p' was not recorded in iteration 1, 1"):
        records.at(1, 1)
