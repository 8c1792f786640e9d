"""What hypothesis draws: dims, types, tensors of every element type, and values for the fields of ops."""

from __future__ import annotations

import types
import typing
from typing import Any

import numpy as np
from hypothesis import strategies as st
from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dtypes import BOOL, BY_NAME, COMPLEX, INTEGERS, STRING
from whorl.ir.types import UNRANKED, MapType, OptionalType, SequenceType, TensorType

ODD_NAMES = [
    "N",
    "x.0",
    "/layer/x.0'1",
    "",
    "_",
    "a b",
    "N+1",
    "floor(N, 2)",
    'say "hi"',
    "nan",
    "return",
    "1",
    "ü\n\\",
]
names = st.sampled_from(ODD_NAMES) | st.text(max_size=6)
small = st.integers(-9, 9)
element_types = st.sampled_from(list(BY_NAME.values()))
CALLS = ["floor", "mod", "mul", "min", "max", "less", "equal"]

linear_dims = st.recursive(
    names.map(dims.name) | st.integers(0, 9),
    lambda inner: (
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1])
        | st.tuples(inner, small).map(lambda pair: pair[0] * pair[1])
        | st.tuples(st.sampled_from(CALLS), inner, inner).map(lambda c: dims.call(*c))
    ),
    max_leaves=6,
)
axis_lengths = linear_dims.filter(lambda dim: not isinstance(dim, int) or dim >= 0)
shapes = st.just(UNRANKED) | st.lists(axis_lengths | st.just(dims.UNKNOWN), max_size=4).map(tuple)
tensor_types = st.builds(TensorType, element_types, shapes)
value_types = st.recursive(
    tensor_types,
    lambda inner: (
        st.builds(SequenceType, inner)
        | st.builds(OptionalType, inner)
        | st.builds(MapType, st.sampled_from([BY_NAME["int64"], STRING]), inner)
    ),
    max_leaves=3,
)


@st.composite
def tensors(draw: st.DrawFn, dtypes: st.SearchStrategy[np.dtype] = element_types) -> np.ndarray:
    dtype = draw(dtypes)
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    count = int(np.prod(shape))
    if dtype == STRING:
        array = np.empty(count, object)
        array[:] = draw(st.lists(st.text(max_size=5), min_size=count, max_size=count))
    elif dtype == BOOL or dtype in INTEGERS:
        bits = draw(st.lists(st.integers(0, 2**64 - 1), min_size=count, max_size=count))
        array = np.array(bits, np.uint64).astype(np.uint8 if dtype == BOOL else dtype)
        array = array % 2 == 1 if dtype == BOOL else array
    else:
        raw = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
        array = np.frombuffer(raw, np.uint8).view(dtype) if dtype in COMPLEX else _floats(raw, dtype)
    return array.reshape(shape)


def _floats(raw: bytes, dtype: np.dtype) -> np.ndarray:
    """Any bits that are an element: NaN, infinities and subnormal numbers among them."""
    with np.errstate(all="ignore"):
        flat = np.frombuffer(raw, np.uint8)
        return flat.view(dtype) if dtype.itemsize > 1 else np.frombuffer(raw, np.int8).astype(np.float32).astype(dtype)


def field_values(hint: Any) -> st.SearchStrategy[Any]:
    """Values that a field of that type may have; fields of any type hold tensors."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*map(field_values, inner))
    if origin is tuple:
        return st.lists(field_values(inner[0]), max_size=3).map(tuple)
    known = {
        Any: tensors(),
        bool: st.booleans(),
        int: st.integers(-(2**63), 2**63 - 1),
        float: st.floats(),
        str: st.text(max_size=6),
        np.dtype: element_types,
        np.ndarray: tensors(),
        types.NoneType: st.none(),
        TensorType: tensor_types,
        SequenceType: st.builds(SequenceType, value_types),
        OptionalType: st.builds(OptionalType, value_types),
        MapType: st.builds(MapType, st.just(STRING), value_types),
    }
    return known[hint] if hint in known else instances(hint)


def instances(cls: type[Struct]) -> st.SearchStrategy[Any]:
    """Instances of a struct with every field drawn by its type."""
    hints = typing.get_type_hints(cls)
    return st.builds(cls, **{name: field_values(hints[name]) for name in cls.__struct_fields__})
