"""Texts that are no programs: every fault is one LoadError with line, column, what was expected, and the fix."""

from __future__ import annotations

import pytest
from ir.programs import PROGRAMS, message_of

import whorl.ops
from whorl.ir.parse import parse_module
from whorl.ir.text import print_module

assert whorl.ops


FAULTS = [
    (
        "%y: float32[] = Add(%x, %input)",
        "line 2, column 27: %input is not defined in its region before this place\n"
        "  fix: a region reads its arguments and its own earlier nodes; pass it outer values as arguments",
    ),
    (
        "%sum: float32[] = Add(%x, %sun)",
        "line 2, column 29: %sun is not defined in its region before this place\n"
        "  fix: a region reads its arguments and its own earlier nodes; pass it outer values as arguments",
    ),
    (
        "%total: float32[] = Neg(%x)\n  %y: float32[] = Neg(%totel)",
        "line 3, column 23: %totel is not defined in its region before this place\n  fix: did you mean 'total'?",
    ),
    (
        "%x: float32[] = Neg(%x)",
        "line 2, column 3: %x is defined twice in its region\n  fix: number it where another value has that name: %x~1",
    ),
    (
        "%y: float32[], %z: float32[] = Neg(%x)",
        "line 2, column 34: Neg 'y': has 2 outputs, the op gives 1",
    ),
    (
        "%y: int64[] = Neg(%x)",
        "line 2, column 3: %y is int64[] here, Neg gives float32[]\n  fix: correct the type",
    ),
    (
        "%c: int64[2] = Shape(%x)\n  %y: float32[] = Add(%x, %c)",
        "line 3, column 19: Add 'y': inputs have different element types: float32, int64\n  fix: insert a Cast",
    ),
    (
        "_ = Loop(_, _)\n  body() {\n    return\n  }",
        "line 2, column 7: Loop: its inputs, its fields and its regions do not fit together\n"
        "  fix: compare the numbers of inputs, of regions, of their arguments and results with what the fields say",
    ),
]

SECTIONS = [
    (
        "main(%x: float32[], %x~1: float32[]) { return }",
        "line 1, column 21: two inputs are called 'x'\n  fix: rename one of them",
    ),
    (
        "main(%x: float32[]) { return }\ndefaults {y = float32[] <1.0>}",
        "line 2, column 11: 'y' has a default but is no input",
    ),
    (
        "main(%x: float32[]) { return }\ndefaults {x = 1.0}",
        "line 2, column 11: the default of 'x' is no tensor\n  fix: write float32[2] <1.0 2.0>",
    ),
    (
        "main(%x: float32[]) { return }\nmetadata {a = 1, a = 2}",
        "line 2, column 18: 'a' is given twice\n  fix: remove one of them",
    ),
    (
        "main(%x: float32[]) { return y = %y }",
        "line 1, column 34: %y is not defined in its region before this place\n"
        "  fix: a region reads its arguments and its own earlier nodes; pass it outer values as arguments",
    ),
]


@pytest.mark.parametrize(("line", "message"), FAULTS, ids=[line[:40] for line, _ in FAULTS])
def test_fault_of_a_node_has_location_and_fix(line: str, message: str) -> None:
    assert message_of(f"main(%x: float32[]) {{\n  {line}\n  return\n}}\n") == message


@pytest.mark.parametrize(("text", "message"), SECTIONS, ids=[text[-20:] for text, _ in SECTIONS])
def test_fault_of_the_module_has_location_and_fix(text: str, message: str) -> None:
    assert message_of(text) == message


def test_fault_inside_a_region_has_its_own_location() -> None:
    text = PROGRAMS["loop"].removeprefix("\n").replace("Add(%h, %step)", "Not(%h)")
    assert message_of(text) == "line 5, column 27: Not 'h': does not accept float32"


def test_outer_value_is_not_visible_inside() -> None:
    text = PROGRAMS["loop"].removeprefix("\n").replace("Add(%h, %step)", "Add(%h, %one)")
    assert message_of(text).startswith("line 5, column 35: %one is not defined in its region before this place")


def test_types_are_taken_as_they_are_without_check() -> None:
    text = "main(%x: float32[]) {\n  %y: int64[5], %z: float32[] = Neg(%x)\n  return y = %y\n}\n"
    assert print_module(parse_module(text, check=False)) == text


def test_wrong_shape_is_taken_as_it_is() -> None:
    text = "main(%x: float32[3]) {\n  %y: float32[7] = Neg(%x)\n  return y = %y\n}\n"
    assert print_module(parse_module(text)) == text
