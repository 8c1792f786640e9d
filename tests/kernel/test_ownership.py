"""Memory that one tensor takes over from another: no path reads the old one later."""

import pytest

from whorl.errors import VerifyError
from whorl.ir.dtypes import FLOAT32
from whorl.ir.native.expressions import FALSE, TRUE, Buffer, Load, Var, index_const
from whorl.kernel.ownership import merge_takes, verify_ownership
from whorl.kernel.program import Assign, Program, Store, Swap, Take, When, While

FIRST = (index_const(0),)
X, Y, NEXT = (Buffer(name, FLOAT32, (2,)) for name in ("x", "y", "next"))
OVER = Buffer("over", FLOAT32, (2,))


def read(buffer):
    return Assign(Var(FLOAT32, f"of_{buffer.name}", False), Load(FLOAT32, buffer, FIRST))


def write(buffer):
    return Store(buffer, FIRST, Load(FLOAT32, Y, FIRST))


def program(*body):
    return Program([], [X, Y], [NEXT], list(body))


def test_reads_before_the_memory_is_taken_are_right():
    verify_ownership(program(read(X), Take(OVER, X), write(OVER), read(OVER)))


@pytest.mark.parametrize("late", [read(X), write(X), Take(NEXT, X)])
def test_use_after_the_memory_was_taken_is_refused(late):
    with pytest.raises(VerifyError, match="'x' is used where its memory may hold 'over'"):
        verify_ownership(program(Take(OVER, X), late))


def test_memory_taken_in_one_branch_is_lost_after_both():
    with pytest.raises(VerifyError, match="'x' is used where its memory may hold 'over'"):
        verify_ownership(program(When(FALSE, [Take(OVER, X)], [read(X)]), read(X)))


def test_read_in_the_next_iteration_of_what_this_one_took_is_refused():
    with pytest.raises(VerifyError, match="'x' is used where its memory may hold 'over'"):
        verify_ownership(program(While([], TRUE, [read(X), Take(OVER, X), write(OVER)])))


def test_memory_passed_back_may_be_read_in_the_next_iteration():
    verify_ownership(program(While([], TRUE, [read(X), Take(OVER, X), write(OVER), Take(X, OVER)]), read(X)))


def test_memory_traded_for_what_was_computed_may_be_read_in_the_next_iteration():
    body = [write(NEXT), Take(OVER, X), write(OVER), read(OVER), Swap(X, NEXT)]
    verify_ownership(program(While([], TRUE, body), read(X)))


def test_taker_of_traded_memory_is_lost():
    with pytest.raises(VerifyError, match="'over' is used"):
        verify_ownership(program(write(NEXT), Take(OVER, X), Swap(X, NEXT), read(OVER)))


def test_names_of_one_memory_become_one_buffer():
    made = program(While([], TRUE, [read(X), Take(OVER, X), write(OVER), Take(X, OVER)]))
    merge_takes(made)
    assert str(made).splitlines()[-3:] == ["  stop unless True", "  of_x = x[0]", "  x[0] = y[0]"]


def test_late_read_is_not_merged_away():
    with pytest.raises(VerifyError):
        merge_takes(program(Take(OVER, X), write(OVER), read(X)))


def test_memory_of_another_tensor_is_not_passed_back():
    with pytest.raises(VerifyError, match="'next' takes memory that is not its own from 'over'"):
        merge_takes(program(Take(OVER, X), Take(NEXT, OVER)))
