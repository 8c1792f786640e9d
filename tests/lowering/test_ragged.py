"""Ops on tables of tensors that differ in shape: native forms give what `run` gives."""

from __future__ import annotations

import numpy as np
import pytest
from one_program import check_one_program

from whorl.errors import RunError
from whorl.ir.dims import UNKNOWN
from whorl.ir.types import SequenceType, TensorType, fact_of
from whorl.lowering.graph_program import sequence_of
from whorl.lowering.ragged import PartRows, RaggedAt, RaggedConcat, RaggedLength, RaggedSequence, ShapeRow
from whorl.ops.sequence.sequences import ConcatFromSequence

F32 = np.float32


def table_of(*shapes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The elements and the table of tensors of these shapes."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    firsts = np.cumsum([0, *sizes])
    return np.arange(firsts[-1], dtype=F32), np.array([[n, *s] for n, s in zip(firsts, shapes, strict=False)], np.int64)


def test_tensors_lie_one_after_the_other() -> None:
    parts = sequence_of(*table_of((2, 2), (0, 3), (1, 1)))
    assert [part.tolist() for part in parts] == [[[0, 1], [2, 3]], [], [[4]]]


def test_row_of_a_tensor_behind_others() -> None:
    check_one_program(ShapeRow(), [[np.zeros(n, F32), np.zeros((m, 3), F32)] for n, m in ((2, 2), (7, 3))])


def test_rows_of_parts() -> None:
    cases = [[np.zeros((ends[-1], m), F32), np.array(ends)] for ends, m in (([0, 2, 3], 2), ([0, 1, 4, 9], 5))]
    check_one_program(PartRows(), cases)


def test_length() -> None:
    check_one_program(RaggedLength(), [[table_of(*[(2, 3)] * n)[1]] for n in (2, 5)])


@pytest.mark.parametrize("shape", [(None, None), (None, 3)])
def test_tensor_at_a_position(shape: tuple[int | None, ...]) -> None:
    operands = table_of((2, 3), (5, 3), (0, 3), (1, 3))
    check_one_program(RaggedAt(shape), [[*operands, np.array(n)] for n in (0, 1, 2, 3, -1, -4)])
    with pytest.raises(RunError):
        RaggedAt(shape).run(*operands, np.array(4))


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((2, 4), (2, 4), (2, 4))])
@pytest.mark.parametrize("new_axis", [0, 1])
def test_join(axis: int, shapes: tuple[tuple[int, int], ...], new_axis: int) -> None:
    check_one_program(RaggedConcat(ConcatFromSequence(axis, new_axis), (None, None)), [[*table_of(*shapes)]])


@pytest.mark.parametrize(("axis", "shapes"), [(0, ((2, 3), (4, 3), (0, 3))), (1, ((2, 3), (2, 0), (2, 7)))])
def test_join_along_the_axis_on_which_they_differ(axis: int, shapes: tuple[tuple[int, int], ...]) -> None:
    check_one_program(RaggedConcat(ConcatFromSequence(axis), (None, None)), [[*table_of(*shapes)]])


def test_sequence_of_two_inputs_has_the_lengths_that_its_type_says() -> None:
    op, pair = RaggedSequence((None, 3)), table_of((2, 3), (0, 3))
    assert op.infer(*map(fact_of, pair)) == SequenceType(TensorType(np.dtype(F32), (UNKNOWN, 3)))
    assert [part.shape for part in op.run(*pair)] == [(2, 3), (0, 3)]
