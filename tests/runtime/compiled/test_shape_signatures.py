"""Programs by operand shapes: static at first, then with dynamic dims where lengths vary."""

from __future__ import annotations

from whorl.runtime.compiled.shape_signatures import MOST_STATIC, OperandShapes, ProgramsByShape


def shapes(*lengths: int) -> OperandShapes:
    return [("float32", (length, 3)) for length in lengths]


def test_program_is_found_by_equal_flags_and_shapes_alone() -> None:
    programs = ProgramsByShape[str]()
    programs.add({}, "flags", shapes(4), "first")
    assert programs.find("flags", shapes(4)) == "first"
    assert programs.find("flags", shapes(5)) is None
    assert programs.find("others", shapes(4)) is None


def test_lengths_become_dynamic_after_enough_static_programs() -> None:
    programs = ProgramsByShape[str]()
    for length in range(MOST_STATIC):
        assert programs.choose_dynamic_dims(shapes(length)) == {}
    assert set(programs.choose_dynamic_dims(shapes(100))) == {(0, 0)}


def test_lengths_that_were_always_equal_share_a_name() -> None:
    programs = ProgramsByShape[str]()
    for length in range(MOST_STATIC):
        programs.choose_dynamic_dims(shapes(length, length, 2 * length))
    dynamic = programs.choose_dynamic_dims(shapes(50, 50, 100))
    assert dynamic[0, 0] == dynamic[1, 0] != dynamic[2, 0]


def test_program_with_one_name_for_two_lengths_serves_equal_ones_alone() -> None:
    programs = ProgramsByShape[str]()
    programs.add({(0, 0): "n", (1, 0): "n"}, None, shapes(4, 4), "square")
    assert programs.find(None, shapes(9, 9)) == "square"
    assert programs.find(None, shapes(9, 8)) is None
    assert programs.all == ["square"]
