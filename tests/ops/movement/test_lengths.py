"""Lengths over named dims: what is proved, and how simply it is said."""

from itertools import product

import numpy as np
import pytest
from named_dims import K, M, N

from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ops.movement.lengths import (
    bounds,
    ceil_div,
    maximum,
    minimum,
    nonnegative,
    quotient,
    slice_ends,
    slice_length,
)

INFINITE = float("inf")
INT64 = np.iinfo(np.int64)


@pytest.mark.parametrize(
    ("dim", "expected"),
    [
        (5, (5, 5)),
        (N, (0, INFINITE)),
        (N * 2 + 1, (1, INFINITE)),
        (3 - N, (-INFINITE, 3)),
        (dims.call("min", N, 4), (0, 4)),
        (dims.call("max", N - 1, 2), (2, INFINITE)),
        (dims.call("mod", N, 3), (0, 2)),
        (dims.call("floor", N + 6, 2), (0, INFINITE)),
        (N * M, (0, INFINITE)),
        (UNKNOWN, (-INFINITE, INFINITE)),
    ],
)
def test_bounds_follow_from_names_being_lengths(dim, expected):
    assert bounds(dim) == expected


def test_minimum_and_maximum_choose_what_is_proved():
    assert minimum(N, N + 1) == N and maximum(N, N + 1) == N + 1
    assert minimum(2 * N, N) == N and maximum(0, N) == N
    assert str(minimum(N, 3)) == "min(3, N)"
    assert minimum(UNKNOWN, 3) is UNKNOWN


def test_nonnegative_of_a_difference_from_a_nonnegative_is_one_difference():
    once = nonnegative(N - 1)
    assert str(once) == "max(-1+N, 0)" or str(once) == "max(0, N-1)"
    assert nonnegative(once - 2) == nonnegative(N - 3)


def test_ceil_div_rounds_up():
    assert [ceil_div(n, 3) for n in range(5)] == [0, 1, 1, 1, 2]
    assert ceil_div(4 * N, 4) == N


@pytest.mark.parametrize(
    ("numerators", "denominators", "expected"),
    [
        ([N, 12, 64], [N, 64], 12),
        ([N * M, 768], [M, 12], N * 64),
        ([N + 1, 8], [2 * N + 2], 4),
        ([N, M, K], [K, N], M),
        ([N, 4], [8], dims.call("floor", N, 2)),
        ([0, N], [4], 0),
        ([N], [0], UNKNOWN),
        ([UNKNOWN], [UNKNOWN], UNKNOWN),
    ],
)
def test_quotient_cancels_common_factors(numerators, denominators, expected):
    actual = quotient(numerators, denominators)
    assert actual is expected or actual == expected


@pytest.mark.parametrize(
    ("start", "end", "step", "expected"),
    [
        (0, INT64.max, 1, N),
        (0, 2**31 - 1, 1, N),
        (-1, INT64.min, -1, N),
        (0, N, 1, N),
        (0, N - 1, 1, nonnegative(N - 1)),
        (1, INT64.max, 1, nonnegative(N - 1)),
        (0, -1, 1, nonnegative(N - 1)),
        (-3, INT64.max, 1, minimum(3, N)),
        (0, 3, 1, minimum(3, N)),
        (0, INT64.max, 2, dims.call("floor", N + 1, 2)),
        (N, INT64.max, 1, 0),
        (0, N - 3, 1, None),
    ],
)
def test_slice_length_of_a_named_axis(start, end, step, expected):
    actual = slice_length(N, start, end, step)
    assert actual is UNKNOWN if expected is None else actual == expected


def test_slice_length_of_a_named_axis_that_surely_reaches_is_a_plain_difference():
    assert slice_length(N + 4, 1, INT64.max, 1) == N + 3
    assert slice_length(N + 4, 0, -2, 1) == N + 2
    assert slice_length(N + 4, 1, 3, 1) == 2


def test_slice_length_has_for_every_size():
    ends = [-7, -2, -1, 0, 1, 3, 7, INT64.min, INT64.max, N, N - 1, N - 2, M, N + 1]
    for start, end, step, length in product(ends, ends, (1, 2, -1, -2), (N, N + 2, 2 * N)):
        message = slice_length(length, start, end, step)
        if message is UNKNOWN:
            continue
        for n, m in product(range(5), range(4)):
            size, a, b, actual = (dims.substitute(d, {"N": n, "M": m}) for d in (length, start, end, message))
            assert actual == len(range(*slice_ends(size, a, b, step), step)), (length, start, end, step, n, m)
