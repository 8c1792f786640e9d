"""Programs by operand shapes: lengths that no type fixes are names, those of one name one integer."""

from __future__ import annotations

import numpy as np

from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.types import TensorType, Type
from whorl.runtime.compiled.shape_signatures import (
    MOST_PROGRAMS,
    OperandShapes,
    ProgramsByShape,
    choose_dynamic_dims,
)

N = dims.name("n")


def shapes(*lengths: int) -> OperandShapes:
    return [("float32", (length, 3)) for length in lengths]


def types(*declared: dims.Dim) -> list[Type]:
    return [TensorType(np.dtype(np.float32), (dim, 3)) for dim in declared]


def test_program_without_names_serves_equal_flags_and_shapes_alone() -> None:
    programs = ProgramsByShape[str]()
    programs.add({}, "flags", shapes(4), "first")
    assert programs.find("flags", shapes(4)) == "first"
    assert programs.find("flags", shapes(5)) is None
    assert programs.find("others", shapes(4)) is None


def test_lengths_that_no_type_fixes_have_names() -> None:
    assert choose_dynamic_dims(types(N), shapes(7)) == {(0, 0): "?0.0"}
    assert choose_dynamic_dims(types(UNKNOWN), shapes(7)) == {(0, 0): "?0.0"}
    assert choose_dynamic_dims(types(7), shapes(7)) == {}
    assert choose_dynamic_dims(types(8), shapes(7)) == {(0, 0): "?0.0"}


def test_lengths_of_one_name_share_it_unless_they_differ() -> None:
    dynamic = choose_dynamic_dims(types(N, N, N + 1), shapes(50, 50, 51))
    assert dynamic == {(0, 0): "?0.0", (1, 0): "?0.0", (2, 0): "?2.0"}
    assert choose_dynamic_dims(types(N, N), shapes(50, 51)) == {(0, 0): "?0.0", (1, 0): "?1.0"}


def test_zero_and_one_are_part_of_what_a_program_is_for() -> None:
    assert choose_dynamic_dims(types(N), shapes(1)) == {}
    programs = ProgramsByShape[str]()
    programs.add({(0, 0): "?n"}, None, shapes(4), "long")
    assert programs.find(None, shapes(900)) == "long"
    assert programs.find(None, shapes(1)) is None
    assert programs.find(None, shapes(0)) is None


def test_program_with_one_name_for_two_lengths_serves_equal_ones_alone() -> None:
    programs = ProgramsByShape[str]()
    programs.add({(0, 0): "?n", (1, 0): "?n"}, None, shapes(4, 4), "square")
    assert programs.find(None, shapes(9, 9)) == "square"
    assert programs.find(None, shapes(9, 8)) is None
    assert programs.all == ["square"]


def test_oldest_program_goes_first() -> None:
    programs = ProgramsByShape[int]()
    for length in range(MOST_PROGRAMS + 2):
        programs.add({}, None, shapes(length), length)
    assert len(programs.all) == MOST_PROGRAMS
    assert programs.find(None, shapes(1)) is None
    assert programs.find(None, shapes(MOST_PROGRAMS + 1)) == MOST_PROGRAMS + 1
