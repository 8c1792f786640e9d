"""Random inputs that fit a model's declared types, and lengths that a model can take."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import Dim, Linear
from whorl.ir.dtypes import BOOL, COMPLEX, STRING, UNSIGNED, is_integer
from whorl.ir.graph import Module
from whorl.ir.infer import Inference
from whorl.ir.types import UNRANKED, AnyShape, MapType, OptionalType, SequenceType, TensorType, Type
from whorl.ir.walk import clone_region

DEFAULT_SIZE = 2
"""The length of a named dim without a chosen one."""
MOST_ELEMENTS, MOST_AXES = 1 << 28, 32


def synthetic_feeds(module: Module, seed: int = 0, sizes: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Random inputs, without defaults and states: small integers, normal floats, short strings.

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
        case MapType():
            raise RunError(f"input {name!r} is {type}, for which no value can be made up", fix="give it")


def _size(dim: Dim, sizes: Mapping[str, int]) -> int:
    chosen: dict[str, Dim] = {name: sizes.get(name, DEFAULT_SIZE) for name in dims.names_in(dim)}
    size = dims.substitute(dim, chosen)
    return size if isinstance(size, int) else DEFAULT_SIZE


def _tensor(type: TensorType, random: np.random.Generator, sizes: Mapping[str, int]) -> np.ndarray:
    shape = () if isinstance(type.shape, AnyShape) else tuple(_size(dim, sizes) for dim in type.shape)
    if math.prod(length or 1 for length in shape) > MOST_ELEMENTS or len(shape) > MOST_AXES:
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


# ---- lengths -----------------------------------------------------------------------------------------------------

MOST_ATTEMPTS = 64
MOST_NODES = 20_000
"""Nodes that are inferred again, all attempts together: large models get fewer attempts."""


def lengths_of(module: Module, feeds: Mapping[str, Any]) -> dict[str, int]:
    """The lengths that values of inputs give to named dims."""
    lengths: dict[str, int] = {}
    for value in module.main.arguments:
        fed, shape = feeds.get(value.name), value.type.shape if isinstance(value.type, TensorType) else UNRANKED
        if fed is None or isinstance(shape, AnyShape):
            continue
        for dim, length in zip(shape, np.shape(fed), strict=False):
            if isinstance(dim, Linear) and str(dim) in dims.names_in(dim):
                lengths.setdefault(str(dim), length)
    return lengths


def fitting_lengths(module: Module, sizes: Mapping[str, int], drawn: Sequence[str]) -> dict[str, int]:
    """Lengths for `drawn` dims, among those of other dims, with which inference refuses fewer nodes.

    Contains the dims whose length changes; empty where inference refuses no node, or no other length helps.
    """
    chosen = dict(sizes) | dict.fromkeys(drawn, DEFAULT_SIZE)
    attempts = min(MOST_ATTEMPTS, MOST_NODES // (1 + sum(1 for _ in module.nodes())))
    left = _count_problems(module, chosen)
    better: dict[str, int] = {}
    lengths = dict.fromkeys([*sizes.values(), *_lengths_in(module)])
    candidates = [(name, length) for length in lengths for name in drawn]
    for name, length in candidates[:attempts]:
        if left and name not in better and (now := _count_problems(module, chosen | {name: length})) < left:
            left, chosen[name], better[name] = now, length, length
    return better


def _count_problems(module: Module, sizes: Mapping[str, int]) -> int:
    """How many nodes cannot run with these lengths of the inputs."""
    region = clone_region(module.main)
    binding: dict[str, Dim] = dict(sizes)
    for value in region.arguments:
        if isinstance(value.type, TensorType) and not isinstance(value.type.shape, AnyShape):
            value.type = value.type.with_shape(tuple(dims.substitute(dim, binding) for dim in value.type.shape))
    inference = Inference()
    inference.depth = 1  # what cannot run is counted, in the main region too
    try:
        inference.region(region)
    except TypeRuleError:
        return len(inference.problems) + 1
    return len(inference.problems)


def _lengths_in(module: Module) -> list[int]:
    """The fixed lengths in the types of a module, the frequent ones first."""
    values = [*module.main.arguments, *(value for node in module.nodes() for value in node.outputs)]
    shapes = [value.type.shape for value in values if isinstance(value.type, TensorType)]
    lengths = Counter(dim for shape in shapes if not isinstance(shape, AnyShape) for dim in shape if type(dim) is int)
    return [length for length, _ in lengths.most_common() if 0 < length <= MOST_ELEMENTS]
