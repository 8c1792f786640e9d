"""Tables from which a tensor is taken, and into which one is put: native forms give what `run` gives."""

from __future__ import annotations

import numpy as np
import pytest
from one_program import OneProgram, check_one_program

from whorl.errors import RunError
from whorl.lowering.graph_program import sequence_of
from whorl.lowering.ragged_edits import ErasedElements, ErasedRow, InsertedElements, InsertedRow, RowAt
from whorl.ops.sequence.sequences import SequenceErase, SequenceInsert

F32 = np.float32
SHAPES = (2, 3), (5, 3), (0, 3), (4, 3)


def table_of(*shapes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The elements and the table of tensors of these shapes."""
    firsts = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    return np.arange(firsts[-1], dtype=F32), np.array([[n, *s] for n, s in zip(firsts, shapes, strict=False)], np.int64)


def lists(elements: np.ndarray, table: np.ndarray) -> list[object]:
    return [(each.shape, each.tolist()) for each in sequence_of(elements, table)]


@pytest.mark.parametrize(("is_between", "positions"), [(True, (0, 3, 4, -4, -1)), (False, (0, 3, -4, -1))])
def test_rows_count_from_either_end(is_between: bool, positions: tuple[int, ...]) -> None:
    _, table = table_of(*SHAPES)
    check_one_program(RowAt(is_between), [[table, np.array(n)] for n in positions])
    check_one_program(RowAt(is_between), [[table, None]])
    assert RowAt(is_between).run(table) == (4 if is_between else 3)


@pytest.mark.parametrize(("is_between", "position"), [(True, 5), (True, -5), (False, 4), (False, -5)])
def test_row_outside_fails(is_between: bool, position: int) -> None:
    _, table = table_of(*SHAPES)
    with pytest.raises(RunError, match="outside"):
        RowAt(is_between).run(table, np.array(position))
    assert OneProgram(RowAt(is_between), [table, np.array(0)]).run([table, np.array(position)]) is None


@pytest.mark.parametrize("row", range(4))
def test_erased_tensor(row: int) -> None:
    elements, table = table_of(*SHAPES)
    number = np.array(row)
    check_one_program(ErasedElements(2), [[elements, table, number]])
    check_one_program(ErasedRow(2), [[table, number]])
    rest = ErasedElements(2).run(elements, table, number), ErasedRow(2).run(table, number)
    expected = SequenceErase().run(sequence_of(elements, table), number)
    assert lists(*rest) == [(each.shape, each.tolist()) for each in expected]


@pytest.mark.parametrize("row", range(5))
@pytest.mark.parametrize("count", [2, 7])
def test_inserted_tensor(row: int, count: int) -> None:
    elements, table = table_of(*SHAPES)
    number, value = np.array(row), -np.arange(count * 3, dtype=F32).reshape(count, 3)
    check_one_program(InsertedElements(), [[elements, table, value.ravel(), number]])
    check_one_program(InsertedRow(), [[elements, table, value, number]])
    longer = InsertedElements().run(elements, table, value.ravel(), number)
    expected = SequenceInsert().run(sequence_of(elements, table), value, number)
    assert lists(longer, InsertedRow().run(elements, table, value, number)) == [
        (each.shape, each.tolist()) for each in expected
    ]
