"""The names that lengths of inputs are bound to: what a program takes as it comes, and what it is made for."""

import numpy as np
import pytest

from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.types import UNRANKED, TensorType
from whorl.runtime.compiled.binding import LEAST, Binder, Binding, Template

F32 = np.dtype(np.float32)
N, M = dims.name("n"), dims.name("m")


def bind(*pairs) -> Binding:
    """Bind inputs, each a declared shape with the shape that comes."""
    binder = Binder([TensorType(F32, declared) for declared, _ in pairs])
    return binder.bind([np.empty(shape, F32) for _, shape in pairs])


def test_length_with_a_name_is_bound_to_it():
    binding = bind(((N, 4), (3, 4)), ((N,), (3,)))
    assert binding.shapes == ((N, 4), (N,))
    assert binding.lengths == {"n": 3}


@pytest.mark.parametrize("length", [0, 1])
def test_zero_and_one_are_literal_without_a_name(length):
    assert bind(((UNKNOWN, M), (length, 5))) == Binding(((length, M),), {"m": 5})


@pytest.mark.parametrize("length", [0, 1])
def test_zero_and_one_have_their_name_unless_they_are_to_be_literal(length):
    binder, x = Binder([TensorType(F32, (N, M))]), np.empty((length, 5), F32)
    assert binder.bind([x]) == Binding(((N, M),), {"n": length, "m": 5})
    assert binder.bind([x], LEAST) == Binding(((length, M),), {"m": 5})


def test_length_without_a_name_has_one_of_its_own():
    own = bind(((UNKNOWN, 4), (3, 4)))
    assert [str(dim) for dim in own.shapes[0]] == ["d0.0", "4"]
    assert own.lengths == {"d0.0": 3}


def test_lengths_that_contradict_a_name_have_names_of_their_own():
    binding = bind(((N,), (3,)), ((N,), (4,)))
    assert [str(shape[0]) for shape in binding.shapes] == ["d0.0", "d1.0"]
    assert binding.lengths == {"d0.0": 3, "d1.0": 4}


def test_length_of_a_name_that_is_one_elsewhere_is_its_own():
    binding = bind(((N,), (1,)), ((N,), (4,)))
    assert binding.shapes[0] == (1,)
    assert binding.lengths == {"d1.0": 4}


def test_form_over_names_is_used_where_it_is_true():
    assert bind(((N,), (3,)), ((N + 1,), (4,))).shapes == ((N,), (N + 1,))
    assert str(bind(((N,), (3,)), ((N + 1,), (5,))).shapes[1][0]) == "d1.0"
    assert str(bind(((N + 1,), (5,))).shapes[0][0]) == "d0.0"


def test_number_that_does_not_come_true_and_unknown_rank_have_names():
    assert [str(dim) for dim in bind(((4,), (6,))).shapes[0]] == ["d0.0"]
    assert [str(dim) for dim in bind((UNRANKED, (6, 1, 7))).shapes[0]] == ["d0.0", "1", "d0.2"]


def test_runs_of_one_pattern_differ_in_lengths_alone():
    binder = Binder([TensorType(F32, (N, UNKNOWN))])
    patterns = {binder.bind([np.empty(shape, F32)]).shapes for shape in ((2, 9), (7, 3), (5, 5))}
    assert len(patterns) == 1


def test_template_binds_as_the_types_do() -> None:
    """Whatever came before, the binding is that of a new binder."""
    types = [TensorType(F32, shape) for shape in ((N, UNKNOWN), (N, M), (3,), UNRANKED)]
    binder = Binder(types)
    cases = [
        ((a, b), (c, d), (e,), f)
        for a in (1, 2, 5)
        for b in (0, 4)
        for c in (2, 5)
        for d in (1, 6)
        for e in (3, 4)
        for f in ((), (2,), (7, 1))
    ]
    for shapes in cases:
        arrays = [np.empty(shape, F32) for shape in shapes]
        assert binder.bind(arrays) == Binder(types).bind(arrays)
        assert binder.bind(arrays, LEAST) == Binder(types).bind(arrays, LEAST)


def test_template_is_of_names_alone() -> None:
    assert Template.of(((N + 1,),)) is None
    template = Template.of(((N, 4), (N,)))
    assert template is not None
    assert template.bind([(3, 4), (3,)]) == Binding(((N, 4), (N,)), {"n": 3})
    for shapes in ([(3, 4), (2,)], [(3, 5), (3,)], [(1, 4), (1,)], [(3, 4, 1), ()], [(3, 4)]):
        assert template.bind(shapes) is None


def test_element_that_counts_rows_has_a_name_unless_it_is_none_of_a_length() -> None:
    binder = Binder([TensorType(np.dtype(np.int64), ()), TensorType(np.dtype(np.float32), (3,))], counts=[0])
    x = np.ones(3, np.float32)
    bound = binder.bind([np.array(7), x])
    assert (bound.lengths, bound.counts) == ({"n0.": 7}, {0: dims.name("n0.")})
    known = bound.facts([np.dtype(np.int64), x.dtype])[0].known
    assert known is not None and str(known.item()) == "n0."
    pattern = bound.pattern([], ())
    assert binder.bind([np.array(9), x]).pattern([], ()) == pattern
    assert binder.bind([np.array(1), x]).is_unusual
    for none in (0, -1, 1 << 62):
        other = binder.bind([np.array(none), x])
        assert (other.lengths, other.counts) == ({}, {})
        assert other.pattern([], ()) != pattern


def test_element_that_counts_rows_has_no_name_of_a_length() -> None:
    n = dims.name("n0.")
    binder = Binder([TensorType(np.dtype(np.int64), ()), TensorType(np.dtype(np.float32), (n,))], counts=[0])
    assert binder.bind([np.array(7), np.ones(3, np.float32)]).lengths == {"n0.": 3, "n0..": 7}
