"""Bools, bits and shifts."""

import numpy as np
import pytest
from evaluation import listed, shaped
from named_dims import M, N, check_has, known_of

from whorl.errors import TypeRuleError
from whorl.ir.dims import UNKNOWN, call
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.logic import And, BitShift, BitwiseNot, Not, Or, Xor

NO, YES = False, True


def test_tables():
    x, y = np.array([NO, NO, YES, YES]), np.array([NO, YES, NO, YES])
    assert And().run(x, y).tolist() == [NO, NO, NO, YES]
    assert Or().run(x, y).tolist() == [NO, YES, YES, YES]
    assert Xor().run(x, y).tolist() == [NO, YES, YES, NO]
    assert Not().run(x).tolist() == [YES, YES, NO, NO]


def test_and_of_integers_is_an_error():
    with pytest.raises(TypeRuleError, match=r"^does not accept int64$"):
        And().infer(shaped(2, dtype=np.int64), shaped(2, dtype=np.int64))


def test_answers_no_one_knows_are_followed_where_the_other_decides():
    open_, closed = listed(UNKNOWN, UNKNOWN, dtype=bool), listed(NO, YES, dtype=bool)
    assert known_of(And(), open_, closed) == [NO, None]
    assert known_of(Or(), open_, closed) == [None, YES]
    assert known_of(Not(), open_) is None
    assert known_of(Xor(), closed, closed) == [NO, NO]


def test_truth_of_dims_is_a_form_over_them():
    a, b = call("less", N, M), call("equal", N, 4)
    x, y = listed(a, a, a, dtype=bool), listed(YES, b, NO, dtype=bool)
    assert known_of(And(), x, y) == [a, call("min", a, b), NO]
    assert known_of(Or(), x, y) == [YES, call("max", a, b), a]
    assert known_of(Not(), x) == [1 - a] * 3
    for op in (And(), Or(), Xor()):
        assert check_has(op, x, y) == 25
    assert known_of(Cast(np.dtype(bool)), listed(N, N + 1, a)) == [1 - call("equal", N, 0), YES, a]
    assert check_has(Cast(np.dtype(bool)), listed(N, N + 1, a)) == 25


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_shift_of_signed_by_width_or_negative_leaves_the_sign(dtype):
    width = np.iinfo(dtype).bits
    x, y = np.array([5, -5, 5, -5, -1], dtype), np.array([width, width, -1, -1, width - 1], dtype)
    assert BitShift("RIGHT").run(x, y).tolist() == [0, -1, 0, -1, -1]
    assert BitShift("LEFT").run(x, y).tolist() == [0, 0, 0, 0, np.iinfo(dtype).min]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_shift_of_unsigned_by_width_leaves_zero(dtype):
    width = np.iinfo(dtype).bits
    x, y = np.full(70, 255, dtype), np.full(70, width, dtype)
    assert not BitShift("RIGHT").run(x, y).any() and not BitShift("LEFT").run(x, y).any()
    assert BitShift("LEFT").run(x[:1], np.array([width - 1], dtype)).tolist() == [1 << (width - 1)]


def test_shift_to_nowhere_is_an_error():
    with pytest.raises(TypeRuleError) as error:
        BitShift("UP").infer(shaped(N, dtype=np.uint8), shaped(N, dtype=np.uint8))
    assert str(error.value) == "direction 'UP' does not exist\n  fix: LEFT or RIGHT"


def test_bitwise_not_of_signed_is_minus_one_minus_x():
    assert BitwiseNot().run(np.array([0, -1, 127], np.int8)).tolist() == [-1, 0, -128]
