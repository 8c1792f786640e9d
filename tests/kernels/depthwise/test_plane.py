"""What is known of windows where a routine over planes is written."""

from whorl.kernels.depthwise.meaning import WINDOWS
from whorl.kernels.depthwise.plane import Axis, axes_of, shape_name


def test_axes_are_had_from_the_numbers_of_windows() -> None:
    numbers = [len(name) for name in WINDOWS]
    rows, columns = axes_of(numbers)
    assert rows == Axis(len("kernel_rows"), len("row_stride"), len("row_dilation"))
    assert columns == Axis(len("kernel_columns"), len("column_stride"), len("column_dilation"))


def test_name_says_all_that_a_text_depends_on() -> None:
    assert shape_name(Axis(3, 2, 1), Axis(5, 4, 6)) == "3x5.2x4.1x6"
