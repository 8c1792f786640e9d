"""What a caller could fix so that a loop that remains has a known number of iterations: lengths and inputs."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from msgspec import Struct, field

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import is_integer
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.infer import names_in_type
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.control.flow import Loop, known_bool
from whorl.passes.locations import names_of
from whorl.passes.rules.pattern import tensor_type
from whorl.passes.unroll.decisions import decide_by_length

BOUND = 64
"""The iterations that a message allows to a loop that only its condition ends."""
EXAMPLE = 8
"""The length or value that a message shows."""


class Remedy(Struct):
    """Named lengths to fix, inputs to fix, loops to bound, each with an example, and iterations to allow.

    `decisions`: for which lengths branches, by their location, take their first one.
    """

    lengths: dict[str, Any] = field(default_factory=dict[str, Any])
    inputs: dict[str, Any] = field(default_factory=dict[str, Any])
    bounds: dict[str, int] = field(default_factory=dict[str, int])
    iterations: int = 0
    decisions: dict[str, str] = field(default_factory=dict[str, str])


class Unfixable(Exception):
    """A number of iterations depends on what only a run computes."""


class TripCountSources:
    """The origins of numbers of iterations in a module."""

    def __init__(self, module: Module) -> None:
        self._main = module.main
        self._lengths = set[str]().union(*(names_in_type(value.type) for value in module.main.arguments))
        self._around: Mapping[Region, Node] = {region: node for node in module.nodes() for region in node.regions}

    def add_lengths(self, names: Collection[str], remedy: Remedy) -> None:
        """Note names of lengths, if inputs of the module have all of them."""
        if self._lengths.issuperset(names):
            remedy.lengths.update(dict.fromkeys(names, EXAMPLE))

    def decide(self, node: Node, remedy: Remedy) -> str:
        """Note what decides an If; for which lengths it takes its first branch, or nothing."""
        decision = decide_by_length(node, self._lengths)
        if decision is not None:
            remedy.lengths[decision.name] = decision.example
            return str(decision)
        condition, is_innermost = node.inputs[0], not any(inner.regions for r in node.regions for inner in r.nodes)
        if condition is not None and is_innermost:
            with suppress(Unfixable):
                self._add_sources([*self._origins(condition)], remedy)
        return ""

    def add(self, node: Node, remedy: Remedy) -> None:
        """Note what bounds a loop; nothing where only a run can tell."""
        assert isinstance(node.op, Loop)
        trip, _, _, scanned, _ = node.op.split(node.inputs)
        lengths = [how.length(tensor_type(x)) for x, how in zip(scanned, node.op.scanned, strict=True)]
        counts = [] if trip is None else [lambda: self._origins(trip)]
        if lengths:
            counts.append(lambda: itertools.chain.from_iterable(map(self._names, lengths)))
        for count in counts:
            try:
                sources = [*count()]
            except Unfixable:
                continue
            if not sources:
                continue
            self._add_sources(sources, remedy)
            return
        names = sorted(names_of(node))
        if names and node.inputs[1] is not None and known_bool(node.regions[0].results[0]) is not True:
            remedy.bounds[node.name or names[0]] = BOUND

    def _add_sources(self, sources: list[str | Value], remedy: Remedy) -> None:
        for origin in sources:
            if isinstance(origin, str):
                remedy.lengths.setdefault(origin, EXAMPLE)
            else:
                remedy.inputs[origin.name] = _example(tensor_type(origin))

    def _origins(self, trip: Value) -> Iterator[str | Value]:
        """Names of lengths, and inputs, that a value is computed from. Errors: Unfixable."""
        pending, seen = [trip], {trip}
        while pending:
            value = pending.pop()
            if value.known is not None:
                for element in value.known.flat:
                    yield from self._names(element)
            elif value.owner is self._main:
                if not _is_small(value):
                    raise Unfixable
                yield value
            else:
                operands = [v for v in self._operands(value) if v not in seen]
                seen.update(operands)
                pending += reversed(operands)

    def _operands(self, value: Value) -> list[Value]:
        """The values that another one is computed from. Errors: Unfixable."""
        if isinstance(value.owner, Region):
            return [self._outside(value, value.owner)]
        if value.owner.regions or not value.owner.op.pure:
            raise Unfixable
        return [operand for operand in value.owner.inputs if operand is not None]

    def _names(self, length: Dim) -> Iterator[str]:
        names = dims.names_in(length)
        if not names <= self._lengths or (not names and not isinstance(length, int | float | bool | np.number)):
            raise Unfixable
        yield from sorted(names)

    def _outside(self, argument: Value, region: Region) -> Value:
        """The captured value that an argument of a body or branch is. Errors: Unfixable for what an iteration makes."""
        node = self._around[region]
        if isinstance(node.op, Loop):
            captured = dict(zip(node.op.split(region.arguments)[4], node.op.split(node.inputs)[4], strict=True))
        else:
            captured = dict(zip(region.arguments, node.inputs[1:], strict=True))
        if (value := captured.get(argument)) is None:
            raise Unfixable
        return value


def _example(type: TensorType) -> Any:
    value: Any = True if type.dtype == bool else EXAMPLE
    for _ in range(type.rank or 0):
        value = [value]
    return value


def _is_small(value: Value) -> bool:
    """Whether an input is one integer or truth value, which a caller can be asked to fix."""
    type = value.type
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return False
    return (is_integer(type.dtype) or type.dtype == bool) and all(length == 1 for length in type.shape)
