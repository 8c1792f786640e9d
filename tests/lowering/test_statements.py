"""Statements appended to the current block: nests, conditions, failures and reductions."""

import numpy as np
import pytest

from whorl.ir import dims
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import FALSE, TRUE, Buffer, Const, Var
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Program, When, text_of
from whorl.lowering.statements import LENGTHS, Statements

N = dims.name("N")


def ended(k: Statements, *scalars: tuple[Var, int], out: np.ndarray | None = None) -> tuple[int, list, np.ndarray]:
    """How a program of the statements ends."""
    array = np.zeros(6, np.int64) if out is None else out
    program = Program([var for var, _ in scalars], [OUT], k.scratch, k.block)
    outcome = interpret(program, [number for _, number in scalars], [array])
    return outcome.status, outcome.scalars, outcome.arrays[0]


OUT = Buffer("out", INT64, (6,))


def test_value_is_stored_in_a_register_unless_it_is_one():
    k, x = Statements(), Var(INT64, "x", False)
    assert k.let(x) is x and k.let(k.const(3)) is k.const(3) and not k.block
    result = k.let(k.add(x, k.const(1)), "y")
    assert isinstance(result, Var) and result.once and text_of(k.block) == f"{result.name} = add(x, 1)"


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((), "out[] = 1"),
        ((1, 1), "out[0, 0] = 1"),
        ((2, 1, 3), "parallel for i0 < 2:\n  parallel for i1 < 3:\n    out[i0, 0, i1] = 1"),
        ((0,), "parallel for i0 < 0:\n  out[i0] = 1"),
    ],
)
def test_nest_has_a_loop_for_each_length_but_one(shape, text):
    k, buffer = Statements(), Buffer("out", INT64, shape)
    with k.nest(shape) as index:
        k.store(buffer, index, k.const(1))
    assert text_of(k.block) == text


def test_loop_over_a_length_of_the_run():
    k, n = Statements(), Var(INT64, "n", False)
    k.dims["N"] = n
    with k.loop(N + 1) as i:
        k.store(OUT, (i,), k.mul(i, i))
    assert ended(k, (n, 3))[2].tolist() == [0, 1, 4, 9, 0, 0]


def test_statements_go_into_the_block_that_is_current_even_after_an_error():
    k, inner = Statements(), []
    with pytest.raises(KeyError), k.into(inner):
        k.assign(Var(INT64, "x", False), k.const(1))
        raise KeyError
    k.assign(Var(INT64, "y", False), k.const(2))
    assert text_of(inner) == "x = 1" and text_of(k.block) == "y = 2"


@pytest.mark.parametrize(
    ("extents", "first", "total"), [([4], 0, 6), ([2, 3], 1, 7), ([0], 5, 5), ([], 5, 5), ([1], 2, 2)]
)
def test_reduction_goes_over_every_index_from_the_first_value(extents, first, total):
    k = Statements()
    step = lambda acc, index: k.add(acc, index[-1]) if index else acc  # noqa: E731
    k.store(OUT, (k.const(0),), k.reduce(extents, k.const(first), step))
    assert ended(k)[2][0] == total


@pytest.mark.parametrize(("x", "number"), [(3, 3), (-2, 7)])
def test_branch_runs_only_where_its_condition_is_true(x, number):
    k, var = Statements(), Var(INT64, "x", False)
    with k.when(k.compare("lt", var, k.const(0))):
        k.assign(var, k.const(7))
    assert ended(k, (var, x))[1] == [number]


def test_condition_of_a_loop_is_computed_anew_each_time():
    k, x = Statements(), Var(INT64, "x", False)
    with k.repeat_while(lambda: k.compare("lt", k.let(k.mul(x, x)), k.const(10))):
        k.assign(x, k.add(x, k.const(1)))
    assert ended(k, (x, 0))[1] == [4] and ended(k, (x, 9))[1] == [9]


def test_failure_says_what_fails_and_where():
    k, x, i = Statements(), Var(INT64, "x", False), Var(INT64, "i", False)
    around = (("body of Loop 'l'", i),)
    with k.failing_at("Gather 'g'", around):
        k.fail_unless(k.compare("lt", x, k.const(5)), "too large")
    k.fail_unless(k.compare("gt", x, k.const(0)))
    first, second = (s.other[0] for s in k.block if isinstance(s, When))
    assert (first.reason, first.node, first.around) == ("too large", "Gather 'g'", around)
    assert (second.reason, second.node, second.around) == ("a value or a length is refused", "", ())
    assert k.may_fail and [ended(k, (x, number))[0] for number in (3, 5, 0)] == [0, 1, 1]


def test_condition_that_is_true_leaves_no_statement():
    k = Statements()
    k.fail_unless(TRUE)
    assert not k.block and not k.may_fail
    k.fail_unless(FALSE)
    assert k.may_fail and ended(k)[0] == 1


def test_name_stands_for_the_first_length_and_others_must_equal_it():
    k, n, m = Statements(), Var(INT64, "n", False), Var(INT64, "m", False)
    k.name_length(N, n)
    assert not k.block and k.length(N) is n
    k.name_length(N, m)
    k.name_length(2 * N, k.const(6))
    failures = [s.other[0].reason for s in k.block if isinstance(s, When)]
    assert failures == [LENGTHS, LENGTHS]
    assert [ended(k, (n, a), (m, b))[0] for a, b in ((3, 3), (3, 4), (4, 4))] == [0, 1, 1]


def test_memory_that_grows_may_fail():
    k = Statements()
    buffer = Buffer("g", FLOAT32, (None,), True)
    k.add_scratch(buffer)
    k.reserve_count(buffer, k.const(4))
    assert k.may_fail and text_of(k.block) == "reserve g, 4" and k.scratch == [buffer]
    assert isinstance(k.const(True, BOOL), Const)
