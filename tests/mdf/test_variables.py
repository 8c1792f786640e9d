"""Values between evaluations: what is read before it is written, and names that are looked up late."""

from whorl.mdf.variables import PARAMETER, Cell, Names, State

X, Y = (Cell("N", PARAMETER, name) for name in "xy")


def test_cell_is_named_with_and_without_its_kind():
    assert X.names == ("N.x", "N.parameters.x")


def test_state_notes_cells_that_are_read_before_they_are_written():
    state = State({X: 1})
    state[Y] = 2
    assert (state[X], state[Y], state.needed) == (1, 2, {X})


def test_inner_state_leaves_the_outer_one_as_it_is():
    outer = State({X: 1, Y: 2})
    inner = State(outer=outer)
    inner[X] = 5
    assert (inner[X], inner[Y], outer[X]) == (5, 2, 1) and list(inner.written) == [X]


def test_value_is_looked_up_as_it_was_whatever_is_written_in_between():
    state = State({X: 1})
    look_up = state.later(X)
    state[X] = 2
    assert not state.needed and look_up() == 1 and state.needed == {X}


def test_name_is_computed_once_and_only_when_it_is_read():
    calls = []
    names = Names({"a": 1})
    names.later("b", lambda: calls.append("b") or 7)
    assert set(names) == {"a", "b"} and not calls
    assert (names["b"], names["b"], calls) == (7, 7, ["b"])
