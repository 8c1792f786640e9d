"""Cuts, repetitions and pads of many rows."""

import numpy as np
import pytest
from passes.vectorize.programs import check, reason
from passes.vectorize.rules.ops import check_rows, program

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def ints(*numbers):
    return np.array(numbers, np.int64)


@pytest.mark.parametrize(
    ("lists", "constants"),
    [
        ([ints(1), ints(9)], (1, 2)),
        ([ints(-1, 0), ints(-9, 2), ints(-1, 0), ints(-2, 1)], (1, 2, 3, 4)),
        ([ints(0), ints(2), ints(1)], (3,)),
    ],
)
def test_slices_count_within_a_row(lists, constants):
    operands = ", ".join(f"{{{k}}}" for k in range(1 + len(lists)))
    check_rows(f"Slice({operands})", [X, *lists], [True] + [False] * len(lists), constants=constants)


def test_axes_that_only_the_run_knows_are_the_reason():
    types, mapped = ["float32[2, 3]", "int64[1]", "int64[1]", "int64[1]"], [True, False, False, False]
    text = program("Slice({0}, {1}, {2}, {3})", types, "float32[*]", mapped, {})
    assert reason(text) == "Slice 'y': the axes of a Slice are known only when it runs"


def test_parts_of_a_row_belong_to_one():
    text = """main(%x: float32[n, 2, 4]) {
      %p: float32[n, 2, 3], %q: float32[n, 2, 1] = Loop(_, _, %x) {scanned = (Scanned(),),
        collected = (Collected(), Collected())}
      body(%i: int64[], %g: bool[], %v: float32[2, 4]) {
        %s: int64[2] = Constant() {value = int64[2] <3 1>}
        %a: float32[2, 3], %b: float32[2, 1] = Split(%v, %s) {axis = -1, output_count = 2}
        return %g, %a, %b
      }
      return p = %p, q = %q
    }"""
    check(text, {"x": np.arange(24, dtype=np.float32).reshape(3, 2, 4)})


def test_rows_are_repeated_each_for_itself():
    check_rows("Tile({0}, {1})", [X, ints(2, 1, 3)], [True, False])
    check_rows("CenterCropPad({0}, {1}) {{axes = (0, -1)}}", [X, ints(5, 2)], [True, False])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pads_count_within_a_row(mode):
    check_rows(f'Pad({{0}}, {{1}}) {{{{mode = "{mode}"}}}}', [X, ints(0, 1, -1, 1, 0, 2)], [True, False])


@pytest.mark.parametrize("mapped", [(True, False, True), (False, False, True), (True, False, False)])
def test_pads_are_filled_with_the_value_of_the_row(mapped):
    check_rows("Pad({0}, {1}, {2})", [X, ints(0, 1, -1, 1, 0, 2), np.array([7], np.float32)], mapped)
    check_rows("Pad({0}, {1}, {2})", [X, ints(0, 1, -1, 1, 0, 2), np.float32(7)], mapped)
    check_rows("Pad({0}, {1}, {2}, {3})", [X, ints(1, 2), np.float32(7), ints(-1)], [*mapped, False], constants=(3,))
