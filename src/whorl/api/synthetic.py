"""Random inputs that fit a model's declared types."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, COMPLEX, STRING, UNSIGNED, is_integer
from whorl.ir.graph import Module
from whorl.ir.types import AnyShape, OptionalType, SequenceType, TensorType, Type

DEFAULT_SIZE = 2
"""The length of a named dim that nobody chose."""
MOST_ELEMENTS, MOST_AXES = 1 << 28, 32


def synthetic_feeds(module: Module, seed: int = 0, sizes: Mapping[str, int] | None = None) -> dict[str, Any]:
    """A value for every input without a default that is no state: small integers, normal floats, short strings.

    `sizes` gives lengths of named dims (else 2); the same name has one length everywhere. Scalars of integer type are
    small and positive, so that they serve as trip counts.
    """
    random = np.random.default_rng(seed)
    ours = {*module.defaults, *(state.input for state in module.states)}
    return {
        value.name: _value(value.type, random, dict(sizes or {}), value.name)
        for value in module.main.arguments
        if value.name not in ours
    }


def _value(type: Type, random: np.random.Generator, sizes: Mapping[str, int], name: str) -> Any:
    match type:
        case TensorType():
            return _tensor(type, random, sizes)
        case SequenceType():
            return [_value(type.element, random, sizes, name) for _ in range(3)]
        case OptionalType():
            return _value(type.element, random, sizes, name)
    raise RunError(f"input {name!r} is {type}, for which no value can be made up", fix="give it")


def _size(dim: Dim, sizes: Mapping[str, int]) -> int:
    chosen: dict[str, Dim] = {name: sizes.get(name, DEFAULT_SIZE) for name in dims.names_in(dim)}
    size = dims.substitute(dim, chosen)
    return size if isinstance(size, int) else DEFAULT_SIZE


def _tensor(type: TensorType, random: np.random.Generator, sizes: Mapping[str, int]) -> np.ndarray:
    shape = () if isinstance(type.shape, AnyShape) else tuple(_size(dim, sizes) for dim in type.shape)
    if math.prod(shape) > MOST_ELEMENTS or len(shape) > MOST_AXES:
        raise RunError(
            f"a value of {str(list(shape))[:80]} is too large to be made up", fix="give the input, or lengths of dims"
        )
    dtype = type.dtype
    if dtype == STRING:
        array = np.empty(shape, object)
        array[...] = "text"
        return array
    if dtype == BOOL:
        return np.asarray(random.random(shape) < 0.5) if shape else np.array(True)
    if is_integer(dtype):
        high = 2 if dtype.itemsize == 1 and "2" in str(dtype) else 5
        low = 1 if not shape or dtype in UNSIGNED else 0
        return np.asarray(random.integers(low, high, shape)).astype(dtype)
    values = random.standard_normal(shape)
    if dtype in COMPLEX:
        values = values + 1j * random.standard_normal(shape)
    return np.asarray(values).astype(dtype)
