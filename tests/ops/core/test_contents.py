"""Elements of small tensors that inference follows through elementwise ops: numbers, and dims."""

import numpy as np
import pytest
from evaluation import listed
from named_dims import M, N, check_has, known_of, scalar

from whorl.ir.dims import UNKNOWN
from whorl.ops.elementwise.arithmetic import (
    Abs,
    Add,
    Clip,
    Div,
    Floor,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Sub,
)


@pytest.mark.parametrize(
    ("op", "facts", "expected"),
    [
        (Add(), (listed(N, 2), listed(1, M)), [N + 1, M + 2]),
        (Sub(), (listed(N, 2), listed(N, 5)), [0, -3]),
        (Mul(), (listed(N, 2), scalar(3)), [N * 3, 6]),
        (Neg(), (listed(N),), [-N]),
        (Abs(), (listed(N + 1, -3),), [N + 1, 3]),
        (Div(), (listed(N * 4 + 2, N * 2 - 4, N - 1, -7), scalar(2)), [N * 2 + 1, N - 2, None, -3]),
        (Div(), (listed(N, N), listed(N, -2)), [1, None]),
        (Mod(), (listed(N * 4 + 2, 7), listed(2, 3)), [0, 1]),
        (Max(), (listed(N, M), scalar(0)), [N, M]),
        (Min(), (listed(N, N + 1), listed(N + 2, N)), [N, N]),
        (Clip(), (listed(N, -5), scalar(0)), [N, 0]),
    ],
)
def test_arithmetic_on_dims_is_followed_as_far_as_it_is_proved(op, facts, expected):
    assert known_of(op, *facts) == expected
    assert check_has(op, *facts) > 0


def test_known_numbers_are_computed_in_their_own_dtype():
    assert known_of(Add(), listed(127, dtype=np.int8), listed(1, dtype=np.int8)) == [-128]
    assert known_of(Mul(), listed(0.1, dtype=np.float16), listed(3.0, dtype=np.float16)) == [
        float(np.float16(0.29980469))
    ]
    assert known_of(Floor(), listed(2.5, dtype=np.float32)) == [2.0]


def test_numbers_among_floats_that_no_one_knows_are_retained():
    assert known_of(Mul(), listed(UNKNOWN, 3.0, dtype=np.float32), scalar(2.0, np.float32)) == [None, 6.0]


def test_known_sum_of_dims_that_might_wrap_is_unknown():
    assert known_of(Mul(), listed(N, 1), scalar(1 << 62)) == [None, 1 << 62]
    assert known_of(Add(), listed(N, (1 << 63) - 1), scalar(1)) == [N + 1, -(1 << 63)]


def test_known_division_by_zero_is_left_to_the_run():
    assert known_of(Div(), listed(1, 2), listed(0, 1)) is None
