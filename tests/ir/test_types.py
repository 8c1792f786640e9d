"""Types: what two of them have in common, what they say together, and what values at run time are."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir.strategies import element_types, value_types
from ir.structure import plain

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BY_NAME, STRING
from whorl.ir.types import (
    UNRANKED,
    AnyShape,
    Known,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    Type,
    fact_of,
    join,
    meet,
    same_kind,
    tensor,
    type_of,
    type_string,
)

N, M = dims.name("N"), dims.name("M")
FLOAT32, INT64 = BY_NAME["float32"], BY_NAME["int64"]


def f32(*shape: Any) -> TensorType:
    return TensorType(FLOAT32, shape)


ANY = TensorType(FLOAT32)
JOINS = [
    (f32(2, 3), f32(2, 3), f32(2, 3)),
    (f32(2, 3), f32(2, 4), f32(2, UNKNOWN)),
    (f32(N, 3), f32(N, M), f32(N, UNKNOWN)),
    (f32(N + 1), f32(1 + N), f32(N + 1)),
    (f32(UNKNOWN), f32(UNKNOWN), f32(UNKNOWN)),
    (f32(2), f32(2, 1), ANY),
    (f32(), f32(), f32()),
    (f32(2), ANY, ANY),
    (ANY, ANY, ANY),
    (SequenceType(f32(2)), SequenceType(f32(3)), SequenceType(f32(UNKNOWN))),
    (OptionalType(f32(2)), OptionalType(f32(2, 2)), OptionalType(ANY)),
    (OptionalType(f32(2)), f32(3), OptionalType(f32(UNKNOWN))),
    (f32(3), OptionalType(f32(3)), OptionalType(f32(3))),
    (SequenceType(f32(2)), OptionalType(SequenceType(f32(2))), OptionalType(SequenceType(f32(2)))),
    (MapType(INT64, f32()), MapType(INT64, f32()), MapType(INT64, f32())),
]


@pytest.mark.parametrize(("a", "b", "both"), JOINS, ids=[f"{a}, {b}" for a, b, _ in JOINS])
def test_join_is_the_narrowest_type_of_both(a: Type, b: Type, both: Type) -> None:
    assert plain(join(a, b)) == plain(both) == plain(join(b, a))


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (f32(2), TensorType(INT64, (2,)), "float32[2] and int64[2] have no common type"),
        (f32(2), SequenceType(f32(2)), "float32[2] and seq(float32[2]) have no common type"),
        (OptionalType(f32()), TensorType(INT64, ()), "float32[] and int64[] have no common type"),
        (
            MapType(INT64, ANY),
            MapType(STRING, ANY),
            "map(int64, float32[*]) and map(string, float32[*]) have no common type",
        ),
    ],
)
def test_join_of_different_kinds_is_refused(a: Type, b: Type, message: str) -> None:
    with pytest.raises(TypeRuleError) as caught:
        join(a, b)
    assert str(caught.value) == message


@settings(max_examples=200, deadline=None)
@given(value_types)
def test_join_and_meet_with_itself_change_nothing(type: Type) -> None:
    assert plain(join(type, type)) == plain(meet(type, type)) == plain(type)
    assert same_kind(type, type)


lengths = st.integers(0, 3) | st.sampled_from([N, M, N + 1]) | st.just(UNKNOWN)
tensor_types = st.builds(
    TensorType, st.just(FLOAT32), st.lists(lengths, min_size=2, max_size=2).map(tuple) | st.just(UNRANKED)
)


def includes(wide: TensorType, narrow: TensorType) -> bool:
    """Whether everything that the narrow type allows is allowed by the wide one."""
    if isinstance(wide.shape, AnyShape) or isinstance(narrow.shape, AnyShape):
        return isinstance(wide.shape, AnyShape)
    pairs = list(zip(wide.shape, narrow.shape, strict=True))
    return all(a is UNKNOWN or dims.equal(a, b) for a, b in pairs)


@settings(max_examples=200, deadline=None)
@given(tensor_types, tensor_types, tensor_types)
def test_join_includes_both_and_does_not_depend_on_order(a: TensorType, b: TensorType, c: TensorType) -> None:
    both = join(a, b)
    assert isinstance(both, TensorType) and includes(both, a) and includes(both, b)
    assert plain(both) == plain(join(b, a))
    assert plain(join(both, c)) == plain(join(a, join(b, c)))


@pytest.mark.parametrize(
    ("a", "b", "together"),
    [
        (f32(N, M), f32(2, 3), f32(2, 3)),
        (f32(2, M), f32(5, N), f32(2, M)),
        (ANY, f32(2, N), f32(2, N)),
        (f32(2, N), ANY, f32(2, N)),
        (f32(2), f32(2, 3), f32(2)),
        (f32(UNKNOWN), f32(4), f32(4)),
        (SequenceType(ANY), SequenceType(f32(3)), SequenceType(f32(3))),
        (OptionalType(f32(N)), OptionalType(f32(3)), OptionalType(f32(3))),
        (MapType(INT64, f32()), MapType(INT64, f32()), MapType(INT64, f32())),
    ],
)
def test_meet_fills_in_what_only_the_other_knows(a: Type, b: Type, together: Type) -> None:
    assert plain(meet(a, b)) == plain(together)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (f32(2), f32(N, 3), True),
        (f32(2), TensorType(INT64, (2,)), False),
        (SequenceType(f32(2)), SequenceType(ANY), True),
        (SequenceType(f32(2)), OptionalType(f32(2)), False),
        (SequenceType(f32(2)), f32(2), False),
        (OptionalType(SequenceType(ANY)), OptionalType(SequenceType(f32())), True),
        (OptionalType(ANY), OptionalType(TensorType(INT64)), False),
        (MapType(INT64, ANY), MapType(INT64, f32(2)), True),
        (MapType(INT64, ANY), MapType(STRING, ANY), False),
    ],
)
def test_same_kind_is_everything_but_shape(a: Type, b: Type, same: bool) -> None:
    assert same_kind(a, b) is same_kind(b, a) is same


@pytest.mark.parametrize(
    ("value", "type"),
    [
        (np.zeros((2, 3), np.float16), TensorType(BY_NAME["float16"], (2, 3))),
        (np.array("text", object), TensorType(STRING, ())),
        ([], SequenceType(ANY)),
        ([np.zeros(2, np.int64), np.zeros(3, np.int64)], SequenceType(TensorType(INT64, (UNKNOWN,)))),
        ([np.zeros(2, np.int64), np.zeros((3, 1), np.int64)], SequenceType(TensorType(INT64))),
        (None, OptionalType(ANY)),
        ({"a": 1.0}, MapType(STRING, f32())),
        ({1: 1.0}, MapType(INT64, f32())),
        ({}, MapType(INT64, f32())),
    ],
)
def test_type_of_a_value(value: Any, type: Type) -> None:
    assert plain(type_of(value)) == plain(type) == plain(fact_of(value).type)


def test_type_of_another_object_is_refused() -> None:
    with pytest.raises(TypeRuleError) as caught:
        type_of(3.0)
    assert str(caught.value) == "float is not a value of a tensor graph\n  fix: give arrays, lists or None"


def test_fact_knows_elements_of_small_vectors_only() -> None:
    assert fact_of(np.array([1, 2])).known.tolist() == [1, 2]
    assert fact_of(np.array(True)).known[()] is True
    assert fact_of(np.zeros(257)).known is None
    assert fact_of(np.zeros((1, 1))).known is None
    assert fact_of(np.array(["a"], object)).known is None


def test_tensor_refuses_other_kinds() -> None:
    assert tensor(Known(f32(2))) == f32(2)
    with pytest.raises(TypeRuleError) as caught:
        tensor(Known(SequenceType(f32(2))), "the trip count")
    assert str(caught.value) == "the trip count is seq(float32[2]), expected a tensor"


@pytest.mark.parametrize(
    ("type", "text", "onnx"),
    [
        (f32(N, 2), "float32[N, 2]", "tensor(float)"),
        (TensorType(BY_NAME["float64"], ()), "float64[]", "tensor(double)"),
        (TensorType(STRING), "string[*]", "tensor(string)"),
        (SequenceType(TensorType(INT64)), "seq(int64[*])", "seq(tensor(int64))"),
        (OptionalType(SequenceType(ANY)), "optional(seq(float32[*]))", "optional(seq(tensor(float)))"),
        (MapType(STRING, f32()), "map(string, float32[])", "map(string,tensor(float))"),
    ],
)
def test_type_is_written_here_and_as_onnx_does(type: Type, text: str, onnx: str) -> None:
    assert (str(type), type_string(type)) == (text, onnx)


def test_rank_and_replacements() -> None:
    assert (f32(N, 2).rank, f32().rank, ANY.rank) == (2, 0, None)
    assert f32(2).with_shape(UNRANKED) == ANY
    assert f32(2).with_dtype(INT64) == TensorType(INT64, (2,))


@given(element_types)
def test_types_are_pickled_with_one_unranked(dtype: np.dtype) -> None:
    again = pickle.loads(pickle.dumps(TensorType(dtype)))
    assert again.shape is UNRANKED and again == TensorType(dtype)
