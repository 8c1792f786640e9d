"""Where windows lie: counts over ints and named dims, padding, taps, blocks."""

import itertools

import numpy as np
import pytest

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.kernels.windows import WindowAxis
from whorl.ops.windows.geometry import Windows, blocks, floor_divide, fold, split_padding, unfold

N = dims.name("N")


def windows(kernel=3, stride=1, dilation=1, pads=(0, 0), auto_pad="NOTSET", ceil=False):
    return Windows((kernel,), (stride,), (dilation,), pads, auto_pad, ceil)


CASES = [
    windows(k, s, d, pads, auto_pad, ceil)
    for k, s, d, pads, auto_pad, ceil in itertools.product(
        (1, 2, 3), (1, 2, 3), (1, 2), ((0, 0), (1, 0), (2, 4)), ("NOTSET", "SAME_UPPER", "VALID"), (False, True)
    )
]


@pytest.mark.parametrize("case", CASES)
def test_count_of_a_named_length_has_for_every_length(case):
    (symbolic,) = case.counts([N])
    for length in range(12):
        try:
            (count,) = case.counts([length])
        except TypeRuleError:
            continue
        assert dims.substitute(symbolic, {"N": length}) == count


@pytest.mark.parametrize("case", [c for c in CASES if c.auto_pad == "NOTSET" and not c.ceil])
def test_count_without_ceil_is_of_the_windows_that_fit(case):
    for length in range(8):
        padded, span = length + sum(case.pads), case.span(0)
        fitting = [start for start in range(0, padded, case.strides[0]) if start + span <= padded]
        if fitting:
            assert case.counts([length]) == (len(fitting),)


@pytest.mark.parametrize("case", [c for c in CASES if c.auto_pad == "NOTSET" and c.ceil])
def test_count_with_ceil_has_no_window_that_starts_in_the_end_padding(case):
    for length in range(5, 12):
        (count,) = case.counts([length])
        assert (count - 1) * case.strides[0] < length + case.pads[0]


def test_counts_print_as_readers_expect():
    shown = [str(windows(stride=s, pads=(1, 1)).counts([N])[0]) for s in (1, 2)]
    assert shown == ["N", "floor(N+1, 2)"]


def test_same_padding_and_explicit_padding_give_one_form():
    same = windows(stride=2, auto_pad="SAME_UPPER").counts([N])
    assert same == windows(stride=2, pads=(1, 1)).counts([N])


def test_floor_divide_takes_whole_multiples_out():
    assert floor_divide(N + 7, 2) == floor_divide(N + 1, 2) + 3
    assert floor_divide(N * 4 + 2, 2) == N * 2 + 1


@pytest.mark.parametrize(("auto_pad", "expected"), [("SAME_UPPER", (1, 2)), ("SAME_LOWER", (2, 1)), ("NOTSET", (2, 1))])
def test_split_padding_puts_the_odd_element(auto_pad, expected):
    assert split_padding(3, auto_pad) == expected
    assert split_padding(-3, auto_pad) == (0, 0)


def test_window_larger_than_the_padded_axis_is_refused():
    with pytest.raises(TypeRuleError) as raised:
        windows(kernel=5).counts([2])
    assert str(raised.value) == "a window over 5 elements does not fit spatial axis 0 of padded length 2"


@pytest.mark.parametrize("case", [c for c in CASES if not c.ceil][::5])
def test_taps_read_what_the_formula_says(case):
    (track,) = case.tracks([7])
    for t in range(track.kernel):
        seen, elements = track.tap(t)
        expected = {o: o * track.stride - track.begin + t * track.dilation for o in range(track.count)}
        expected = {o: e for o, e in expected.items() if 0 <= e < 7}
        assert dict(zip(range(track.count)[seen], range(7)[elements], strict=True)) == expected


def test_part_of_a_track_reads_the_same_elements():
    x, track = np.arange(10.0), WindowAxis(10, 3, 2, 1, 1, 5)
    whole = unfold(x, [track])
    parts = [unfold(x, [track.part(slice(a, b))]) for a, b in ((0, 2), (2, 5))]
    np.testing.assert_array_equal(np.concatenate(parts, axis=-1), whole)


def test_fold_is_the_transpose_of_unfold():
    rng = np.random.default_rng(0)
    tracks = [WindowAxis(7, 3, 2, 2, 1, 3), WindowAxis(5, 2, 1, 1, 0, 4)]
    x, y = rng.normal(size=(2, 7, 5)), rng.normal(size=(2, 6, 3, 4))
    folded = np.zeros_like(x)
    fold(y, tracks, folded)
    assert np.vdot(unfold(x, tracks), y) == pytest.approx(np.vdot(x, folded))


@pytest.mark.parametrize("counts", [(), (0,), (7,), (3, 4), (2, 3, 5)])
@pytest.mark.parametrize("limit", [0, 1, 4, 6, 100])
def test_blocks_cover_the_grid_once_and_are_small(counts, limit):
    seen = np.zeros(counts, int)
    for block in blocks(counts, limit):
        seen[block] += 1
        assert seen[block].size <= max(1, limit)
    assert (seen == 1).all()
