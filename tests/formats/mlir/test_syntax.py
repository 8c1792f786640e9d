"""Where a position of a text is."""

import pytest

from whorl.formats.mlir.syntax import Program

TEXT = "one\n\nthree"


@pytest.mark.parametrize(
    ("position", "coordinates"),
    [(0, (1, 1)), (3, (1, 4)), (4, (2, 1)), (5, (3, 1)), (9, (3, 5)), (10, (3, 6))],
)
def test_position_has_a_line_and_a_column_from_1(position: int, coordinates: tuple[int, int]) -> None:
    assert Program("m.mlir", TEXT).coordinates(position) == coordinates


def test_piece_of_a_file_counts_the_lines_above_it() -> None:
    assert Program("m.mlir", TEXT, 10).locate(5) == "m.mlir:13:1"


def test_empty_text_has_one_line() -> None:
    assert Program("m.mlir", "").locate(0) == "m.mlir:1:1"
