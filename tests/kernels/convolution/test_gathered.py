"""Convolutions of many features: windows gathered near by give the bits of those that are read in the image."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from kernels.convolution.operands import arrays_of, check_result_over_added
from kernels.runs import machine, run_kernel
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.kernels.convolution import gathered
from whorl.kernels.convolution.gathered import is_gathered, room_of
from whorl.kernels.machine import GATHERED_BLOCKS
from whorl.kernels.windows import WindowAxis

STEP = 16
"""Windows of a tile."""
TAPS, TILES = room_of(machine(32)).taps, room_of(machine(32)).tiles
"""Taps that are gathered at most in one turn, and tiles."""
WINDOWS = {
    "a vector, less than a tile": (2, 4),
    "a vector and a single one, less than a tile": (3, 3),
    "one tile": (4, 4),
    "a tile and a single one": (17, 1),
    "tiles and a single one": (7, 7),
    "tiles and four": (2, 10),
    "tiles and a vector": (2, 12),
    "tiles, and a vector that goes back": (3, 7),
    "tiles, a vector and a single one": (5, 5),
    "tiles, a vector and four": (2, 14),
    "tiles, the last of which goes back": (5, 6),
    "several rounds": (4 * TILES, STEP - 1),
    "a round, and two": (2, TILES * STEP // 2 + 1),
    "wide tiles and four": (6, 6),
    "wide tiles, a vector and three": (3, 17),
    "wide tiles and five": (3, 23),
}


def both_ways(
    counts: tuple[int, int],
    features: int,
    channels: int,
    parts: list[tuple[int, int]],
    monkeypatch: pytest.MonkeyPatch,
    width: int = 32,
) -> list[np.ndarray]:
    """What is computed of gathered windows, and of those that are read where they lie; whose rows have no gaps."""
    results: list[np.ndarray] = []
    dtype = FLOAT64 if features == 49 else FLOAT32
    layout = [WindowAxis(n, 3, 1, 1, 1, n) for n in counts]
    for least in (1, 1 << 20):
        monkeypatch.setattr(gathered, "GATHERING_FEATURES", {width: least})
        name, arrays, numbers = arrays_of(layout, features, dtype, channels, is_dense=True)
        run_kernel(name, arrays, numbers, machine(width), parts)
        results.append(arrays[0])
        if features % 2:
            check_result_over_added(name, arrays, numbers, machine(width), parts)
    return results


@pytest.mark.parametrize("counts", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("features", [48, 49, 12 * GATHERED_BLOCKS + 1])
@pytest.mark.parametrize("width", [32, 64])
def test_gathered_windows_give_the_bits_of_windows_in_the_image(
    counts: tuple[int, int], features: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = both_ways(counts, features, 3, [], monkeypatch, width)
    np.testing.assert_array_equal(first.view(np.uint8), second.view(np.uint8))
    assert not np.isnan(first).any()


@pytest.mark.parametrize("counts", [(3, 3), (7, 7), (2, 10), (2, 12), (2, 14), (5, 7)])
@pytest.mark.parametrize("features", [50, 65])
@pytest.mark.parametrize("taps", [TAPS, TAPS + 9, 2 * TAPS + 18])
@pytest.mark.parametrize("width", [32, 64])
def test_taps_that_are_gathered_in_turns_are_one_sum(
    counts: tuple[int, int], features: int, taps: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = both_ways(counts, features, -(-taps // 9), [], monkeypatch, width)
    np.testing.assert_array_equal(first, second)


def test_rows_with_gaps_are_gathered_as_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    results: list[np.ndarray] = []
    for least in (1, 1 << 20):
        monkeypatch.setattr(gathered, "GATHERING_FEATURES", {32: least})
        name, arrays, numbers = arrays_of([WindowAxis(7, 3, 1, 1, 1, 7)] * 2, 64, FLOAT32, TAPS // 4)
        run_kernel(name, arrays, numbers, machine(32))
        results.append(arrays[0])
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("counts", [(5, 5), (7, 7), (19, 19)])
@pytest.mark.parametrize("features", [32, 64, 400])
def test_parts_of_gathered_windows_are_the_whole(
    counts: tuple[int, int], features: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = both_ways(counts, features, 3, [], monkeypatch)
    divided, _ = both_ways(counts, features, 3, [(9, 16), (0, 1), (1, 8), (8, 9)], monkeypatch)
    np.testing.assert_array_equal(divided, whole)


@pytest.mark.parametrize("width", [16, 32, 64])
def test_what_waits_has_room_on_small_stacks(width: int) -> None:
    room = room_of(machine(width))
    assert (room.tiles + 1) * 2 * width * (room.taps + 12 * room.blocks) <= 220_000


def test_windows_are_gathered_for_many_features_by_some_widths() -> None:
    assert [is_gathered(machine(width), 48) for width in (16, 32, 64)] == [False, True, False]
    assert [is_gathered(machine(width), 96) for width in (16, 32, 64)] == [False, True, True]
    assert not is_gathered(machine(32), 47)
    assert not is_gathered(replace(machine(32), has_large_frames=False), 48)
