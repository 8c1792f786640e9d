"""What is worth sharing, and the names of what marks it."""

import pytest

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Expr, Var, index_const
from whorl.kernel.marking import Marking
from whorl.kernel.program import Program

N = Var(INT64, "n")


@pytest.mark.parametrize(
    ("total", "is_repeated", "expected"),
    [(index_const(300), False, True), (index_const(299), False, False), (N, False, True), (N, True, False)],
)
def test_work_is_worth_it_where_it_surely_takes_long_or_may(total: Expr, is_repeated: bool, expected: bool) -> None:
    assert Marking(Program([], [], [], []), 100).is_worth(total, is_repeated, times=3) == expected
    assert Marking(Program([], [], [], []), 0).is_worth(total, is_repeated, times=3)


def test_variables_are_numbered() -> None:
    marking = Marking(Program([], [], [], []), 0)
    names = [var.name for var in (*marking.range(), marking.variable("step"))]
    assert names == ["first.spread.1", "count.spread.2", "step.spread.3"]
