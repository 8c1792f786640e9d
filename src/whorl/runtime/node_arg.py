"""What a session tells of a model's inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass

from whorl.ir.types import AnyShape, OptionalType, SequenceType, TensorType, Type, type_string


@dataclass(frozen=True)
class NodeArg:
    """An input or output of a model: its name, its shape (ints, names, None) and its type as `tensor(float)`.

    The shape of a sequence or optional is that of its elements; it is empty where the rank is not known.
    """

    name: str
    shape: list[int | str | None]
    type: str


def node_arg(name: str, type: Type) -> NodeArg:
    """The description of a value by its type."""
    inner = type
    while isinstance(inner, SequenceType | OptionalType):
        inner = inner.element
    shape: list[int | str | None] = []
    if isinstance(inner, TensorType) and not isinstance(inner.shape, AnyShape):
        shape = [d if isinstance(d, int) else _dim_name(str(d), name, k) for k, d in enumerate(inner.shape)]
    return NodeArg(name, shape, type_string(type))


def _dim_name(text: str, value: str, axis: int) -> str | None:
    """A dim's name; None for one that only inference named."""
    return None if text.partition("'")[0] == f"{value}.{axis}" else text
