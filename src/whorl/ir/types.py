"""The types of values: tensors, sequences, optionals and maps."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from msgspec import Struct

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import name_of
from whorl.ir.guards import is_array, is_dict, is_list


class AnyShape:
    """The shape of a tensor whose rank is not known."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "*"

    def __reduce__(self) -> str:
        return "UNRANKED"


UNRANKED = AnyShape()
Shape = tuple[Dim, ...] | AnyShape


class TensorType(Struct, frozen=True):
    """Element type and shape; a dim is an int, a named form, or `dims.UNKNOWN` until inference names it."""

    dtype: np.dtype
    shape: Shape = UNRANKED

    @property
    def rank(self) -> int | None:
        """The number of axes; None for an unranked tensor."""
        return None if isinstance(self.shape, AnyShape) else len(self.shape)

    def with_shape(self, shape: Shape) -> TensorType:
        """The same element type with another shape."""
        return TensorType(self.dtype, shape)

    def with_dtype(self, dtype: np.dtype) -> TensorType:
        """The same shape with another element type."""
        return TensorType(dtype, self.shape)

    def __str__(self) -> str:
        inside = "*" if isinstance(self.shape, AnyShape) else ", ".join(map(str, self.shape))
        return f"{name_of(self.dtype)}[{inside}]"


def lengths_of(type: TensorType) -> tuple[Dim, ...]:
    """The lengths of a tensor of known rank: numbers and dims."""
    assert not isinstance(type.shape, AnyShape)
    return type.shape


class SequenceType(Struct, frozen=True):
    """A list of values of one type."""

    element: Type

    def __str__(self) -> str:
        return f"seq({self.element})"


class OptionalType(Struct, frozen=True):
    """A value or None."""

    element: Type

    def __str__(self) -> str:
        return f"optional({self.element})"


class MapType(Struct, frozen=True):
    """A dictionary from keys (int64 or string) to values; only ai.onnx.ml has them."""

    key: np.dtype
    value: Type

    def __str__(self) -> str:
        return f"map({name_of(self.key)}, {self.value})"


Type = TensorType | SequenceType | OptionalType | MapType


class Fact(Protocol):
    """What inference knows about a value: its type, and the elements (ints, floats or dims) of a small tensor."""

    @property
    def type(self) -> Type: ...
    @property
    def known(self) -> np.ndarray | None: ...


class Known(Struct, frozen=True):
    """A fact that stands alone, outside any graph."""

    type: Type
    known: np.ndarray | None = None


KNOWN_LIMIT = 256
"""The largest tensor (in elements) whose contents inference follows."""


def fact_of(value: Any) -> Known:
    """The fact about a value at run time: an array, a list, a dictionary or None."""
    if is_array(value):
        small = value.size <= KNOWN_LIMIT and value.ndim <= 1 and value.dtype != object
        return Known(TensorType(value.dtype, value.shape), value.astype(object) if small else None)
    return Known(type_of(value))


def type_of(value: Any) -> Type:
    """The type of a value at run time. An empty list and None say nothing of their elements: float32, unranked."""
    if is_array(value):
        return TensorType(value.dtype, value.shape)
    if is_list(value):
        element = type_of(value[0]) if value else TensorType(np.dtype(np.float32))
        for other in value[1:]:
            element = join(element, type_of(other))
        return SequenceType(element)
    if is_dict(value):
        key = np.dtype(object) if value and isinstance(next(iter(value)), str) else np.dtype(np.int64)
        return MapType(key, TensorType(np.dtype(np.float32), ()))
    if value is None:
        return OptionalType(TensorType(np.dtype(np.float32)))
    raise TypeRuleError(f"{type(value).__name__} is not a value of a tensor graph", fix="give arrays, lists or None")


def tensor(fact: Fact, what: str = "input") -> TensorType:
    """The tensor type of a fact, or an error that names what it is."""
    if not isinstance(fact.type, TensorType):
        raise TypeRuleError(f"{what} is {fact.type}, expected a tensor")
    return fact.type


def same_kind(a: Type, b: Type) -> bool:
    """Whether two types agree in everything but shape."""
    match a, b:
        case TensorType(), TensorType():
            return a.dtype == b.dtype
        case (SequenceType(), SequenceType()) | (OptionalType(), OptionalType()):
            return same_kind(a.element, b.element)
        case MapType(), MapType():
            return a.key == b.key and same_kind(a.value, b.value)
        case _:
            pass
    return False


def contradict(a: Type, b: Type) -> bool:
    """Whether no value can have both types, since element types, ranks or lengths surely differ."""
    if not same_kind(a, b):
        return True
    if not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return False
    if isinstance(a.shape, AnyShape) or isinstance(b.shape, AnyShape):
        return False
    return len(a.shape) != len(b.shape) or any(map(dims.differ, a.shape, b.shape))


def join(a: Type, b: Type) -> Type:
    """The narrowest type that holds both: dims that are not proved equal become unknown, ranks that differ unranked."""
    if not same_kind(a, b):
        if isinstance(a, OptionalType) != isinstance(b, OptionalType):
            inner_a = a.element if isinstance(a, OptionalType) else a
            inner_b = b.element if isinstance(b, OptionalType) else b
            return OptionalType(join(inner_a, inner_b))
        raise TypeRuleError(f"{a} and {b} have no common type")
    match a, b:
        case TensorType(), TensorType():
            if isinstance(a.shape, AnyShape) or isinstance(b.shape, AnyShape) or len(a.shape) != len(b.shape):
                return TensorType(a.dtype)
            pairs = zip(a.shape, b.shape, strict=True)
            return TensorType(a.dtype, tuple(x if dims.equal(x, y) else dims.UNKNOWN for x, y in pairs))
        case SequenceType(), SequenceType():
            return SequenceType(join(a.element, b.element))
        case OptionalType(), OptionalType():
            return OptionalType(join(a.element, b.element))
        case _:
            pass
    return a


def meet(a: Type, b: Type) -> Type:
    """What both say together: `a`, with what only `b` knows filled in. Kinds must agree."""
    match a, b:
        case TensorType(), TensorType():
            if isinstance(a.shape, AnyShape) or isinstance(b.shape, AnyShape) or len(a.shape) != len(b.shape):
                return TensorType(a.dtype, b.shape if isinstance(a.shape, AnyShape) else a.shape)
            pairs = zip(a.shape, b.shape, strict=True)
            return TensorType(
                a.dtype, tuple(y if isinstance(y, int) and not isinstance(x, int) else x for x, y in pairs)
            )
        case SequenceType(), SequenceType():
            return SequenceType(meet(a.element, b.element))
        case OptionalType(), OptionalType():
            return OptionalType(meet(a.element, b.element))
        case _:
            pass
    return a


_STRING_NAMES = {"float32": "float", "float64": "double"}


def type_string(type: Type) -> str:
    """As ONNX writes it: `tensor(float)`, `seq(tensor(int64))`, `optional(...)`, `map(int64,tensor(float))`."""
    match type:
        case TensorType():
            text = name_of(type.dtype)
            return f"tensor({_STRING_NAMES.get(text, text)})"
        case SequenceType():
            return f"seq({type_string(type.element)})"
        case OptionalType():
            return f"optional({type_string(type.element)})"
        case MapType():
            return f"map({name_of(type.key)},{type_string(type.value)})"
