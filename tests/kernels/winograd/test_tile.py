"""Tiles of features by patches: every form of them gives the same bits."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from kernels.runs import machine
from kernels.winograd.cases import Case
from whorl.ir.dtypes import FLOAT32


def test_every_width_of_vectors_gives_the_same_bits() -> None:
    first, *others = (Case((15, 18), 29, 6, FLOAT32).run(machine(width)) for width in (16, 32, 64))
    for result in others:
        np.testing.assert_array_equal(result, first)


def test_a_small_frame_of_the_stack_has_room_for_a_tile() -> None:
    case = Case((9, 13), 29, 4, FLOAT32)
    np.testing.assert_array_equal(case.run(replace(machine(), has_large_frames=False)), case.run())


def test_error_is_small_beside_the_largest_element_near_by() -> None:
    case = Case((14, 14), 24, 16, FLOAT32)
    case.x[::7] *= 1000
    case.filters[:, :, :, 1:] = 0
    sums = np.abs(case.filters).sum(axis=(1, 2, 3)).max() * np.abs(case.x).max()
    bound = 16 * (16 + 8) * np.finfo(np.float32).eps * sums
    error = np.abs(case.run() - case.expected()).max()
    assert 0 < error < bound


def test_result_may_lie_over_what_is_added() -> None:
    case = Case((15, 18), 29, 6, FLOAT32)
    expected, case.y = case.run(), case.rest[-1]
    np.testing.assert_array_equal(case.run(is_over=True), expected)
