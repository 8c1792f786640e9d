"""Slices whose masks leave ends open, drop axes, insert axes, and skip axes."""

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of
from formats.openvino.one_layer import Fixed, check_layer, fixed

from whorl.errors import LoadError

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
MASKS = [
    ((0, 1), (2, 3), None, {}),
    ((0, 1, 1), (0, 0, 3), (1, 1, 1), {"begin": (1, 0, 0), "end": (1, 1, 0)}),
    ((0, 0, -1), (0, 0, -5), (1, 1, -1), {"begin": (1, 1, 0), "end": (1, 1, 0)}),
    ((0, 0, 0), (0, 0, 0), (1, -1, -2), {"begin": (1, 1, 1), "end": (1, 1, 1)}),
    ((1, 0), (2, 2), (1, 1), {"shrink_axis": (1, 0)}),
    ((0, 1), (0, 3), (1, 1), {"new_axis": (1, 0)}),
    ((0, 0, 1), (0, 0, 3), (1, 1, 1), {"ellipsis": (1, 0, 0)}),
]
OF_CONSTANTS_ONLY = [
    ((1, 0, 2), (2, 0, 3), (1, 1, 1), {"shrink_axis": (1, 0, 1), "ellipsis": (0, 1, 0)}),
    ((0, 5), (9, 9), (1, 1), {}),
    ((0, 2, 3), (9, 0, 0), (1, -1, -1), {}),
    ((0, 0, 1), (0, 0, 3), (1, 1, 1), {"new_axis": (0, 1, 0), "ellipsis": (1, 0, 0)}),
    (
        (0, 1, 0, 1),
        (0, 2, 0, 3),
        (1, 1, 1, 1),
        {"new_axis": (1, 0, 0, 0), "shrink_axis": (0, 1, 0, 0), "ellipsis": (0, 0, 1, 0)},
    ),
    ((-1, -1), (0, 0), (1, 1), {"shrink_axis": (1, 1)}),
]


@pytest.mark.parametrize(("begin", "end", "strides", "masks"), [*MASKS, *OF_CONSTANTS_ONLY])
def test_slices_with_masks(begin: tuple, end: tuple, strides: tuple | None, masks: dict[str, tuple[int, ...]]) -> None:
    rows = [np.array(row, np.int64) for row in (begin, end, strides) if row is not None]
    names = ("begin", "end", "new_axis", "shrink_axis", "ellipsis")
    attributes = {f"{name}_mask": list(masks.get(name, (0,) * len(begin))) for name in names}
    check_layer("StridedSlice", 1, [X, *map(Fixed, rows)], attributes)
    if (begin, end, strides, masks) in MASKS:
        check_layer("StridedSlice", 1, [X, *rows], attributes)


def masked(*rows: tuple[int, ...], **masks: tuple[int, ...]) -> tuple[list[np.ndarray], dict]:
    """The rows and attributes of a layer."""
    names = ("begin", "end", "new_axis", "shrink_axis", "ellipsis")
    return [np.array(row) for row in rows], {
        f"{name}_mask": list(masks.get(name, (0,) * len(rows[0]))) for name in names
    }


@pytest.mark.parametrize("step", [1, -1, 2])
def test_step_of_an_axis_that_goes_means_nothing(step: int) -> None:
    """Neither where it is a constant nor where it is computed."""
    for begin in (1, 0, -1):
        rows, attributes = masked((begin, 0), (0, 0), (step, 1), shrink_axis=(1, 0), begin=(0, 1), end=(1, 1))
        check_layer("StridedSlice", 1, [X, *map(Fixed, rows)], attributes)
        check_layer("StridedSlice", 1, [X, *rows], attributes)


def test_begin_of_an_axis_that_goes_counts_though_it_is_masked() -> None:
    """As OpenVINO's reference has it; its CPU plugin takes the first element."""
    rows, attributes = masked((1, 0), (2, 0), (1, 1), shrink_axis=(1, 0), begin=(1, 1), end=(1, 1))
    check_layer("StridedSlice", 1, [X, *map(Fixed, rows)], attributes, expected=[X[1]])
    check_layer("StridedSlice", 1, [X, *rows], attributes, expected=[X[1]])


@pytest.mark.parametrize(
    "masks",
    [
        {"new_axis": (1, 1)},
        {"new_axis": (1, 0), "shrink_axis": (1, 0)},
        {"ellipsis": (1, 0), "new_axis": (0, 1)},
        {"ellipsis": (0, 1), "shrink_axis": (1, 0)},
    ],
    ids=str,
)
def test_masks_that_say_more_than_one_thing(masks: dict[str, tuple[int, ...]]) -> None:
    rows, attributes = masked((0, 0), (1, 1), (1, 1), **masks)
    check_layer("StridedSlice", 1, [X, *map(Fixed, rows)], attributes)


def test_strides_and_masks_may_be_left_out() -> None:
    empty = {"begin_mask": [], "end_mask": []}
    check_layer("StridedSlice", 1, [X, fixed(0, 1), fixed(2, 3)], empty)
    check_layer("StridedSlice", 1, [X, fixed(1, dtype=np.int32), fixed(2, dtype=np.int32)], empty)


def test_ends_beyond_64_bits_of_the_other_side_are_open() -> None:
    rows, attributes = masked((0,), ((1 << 63) - 1,), (1,))
    check_layer("StridedSlice", 1, [X, *map(Fixed, rows)], attributes)


@pytest.mark.parametrize(
    ("count", "ellipsis", "message"),
    [
        ("2", "1,1", "OV501: has more than one ellipsis"),
        ("?", "0", "OV501: the number of slices is not known\n  fix: give begin a fixed length"),
        ("65", "0", "OV501: is given numbers for 65 axes; 64 are possible"),
    ],
)
def test_slices_that_make_no_sense_are_refused(count: str, ellipsis: str, message: str) -> None:
    layers = [parameter(0, "2,3"), parameter(1, count, "i64"), parameter(2, count, "i64")]
    data = {"begin_mask": "0", "end_mask": "0", "ellipsis_mask": ellipsis}
    layers += [layer(3, "StridedSlice", 3, name="s", **data), result(4)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-3:0 1:0-3:1 2:0-3:2 3:3-4:0"))
    assert str(caught.value).startswith(f"StridedSlice 's' (line 7): {message}")
