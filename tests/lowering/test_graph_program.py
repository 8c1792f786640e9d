"""Programs of regions: which lengths they fit, and what scalars they take for them."""

import pytest

from whorl.ir import dims
from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Var
from whorl.kernel.program import Program
from whorl.lowering.arena_planning import plan_arena
from whorl.lowering.graph_program import GraphProgram


def test_program_fits_where_lengths_agree_and_are_some() -> None:
    n, m = dims.name("n"), dims.name("m")
    empty = Program([], [], [], [])
    program = GraphProgram(empty, (), (), (), plan_arena(empty, {}), False, agreeing=((m // n, 4),), positive=(n - 1,))
    assert program.fits({"n": 2, "m": 8})
    assert not program.fits({"n": 2, "m": 6})
    assert not program.fits({"n": 1, "m": 4})
    assert not program.fits({"n": 0, "m": 4})


def test_scalars_are_the_names_then_the_forms_over_them() -> None:
    n = dims.name("n")
    scalars = [Var(INT64, text, once=False) for text in ("n", "form", "length")]
    program = Program(scalars, [], [], [])
    graph = GraphProgram(program, (), (), (), plan_arena(program, {}), False, names=("n",), forms=(2 * n + 1,))
    assert graph.scalars({"n": 5}) == {scalars[0]: 5, scalars[1]: 11}


def test_program_fits_no_lengths_by_which_it_divides_zero() -> None:
    n = dims.name("n")
    empty = Program([], [], [], [])
    graph = GraphProgram(empty, (), (), (), plan_arena(empty, {}), False, agreeing=((dims.call("floor", 8, n), 2),))
    assert [graph.fits({"n": length}) for length in (4, 3, 5, 0)] == [True, True, False, False]


@pytest.mark.parametrize("lengths", [{}, {"m": 1}])
def test_length_that_is_missing_is_an_error(lengths: dict[str, int]) -> None:
    empty = Program([Var(INT64, "n", once=False)], [], [], [])
    graph = GraphProgram(empty, (), (), (), plan_arena(empty, {}), False, names=("n",))
    with pytest.raises(KeyError, match="n"):
        graph.scalars(lengths)
