"""Programs for lists of tensors that differ in shape: such an input is two, its elements and the table of its shapes.

`lowering/tables.py` says what such a sequence becomes. There is a program cache for each choice of ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import AnyShape, SequenceType, TensorType
from whorl.lowering.ragged import RaggedSequence
from whorl.runtime.compiled.memory import flatten_list
from whorl.runtime.compiled.program_cache import ProgramCache

MOST_RANKS = 4
"""Choices of ranks for which programs are kept."""
MakeCache = Callable[[Sequence[Node], Sequence[Value]], ProgramCache]
"""A cache for these nodes before those of a subgraph, and for these inputs."""


class RaggedInputs:
    """The program caches of a subgraph for lists whose tensors differ in shape, by the ranks of the tensors."""

    def __init__(self, inputs: Sequence[Value], make: MakeCache) -> None:
        self.inputs, self.make = inputs, make
        elements = [v.type.element if isinstance(v.type, SequenceType) else None for v in inputs]
        self.elements = [type if isinstance(type, TensorType) else None for type in elements]
        self.caches: dict[tuple[int, ...], ProgramCache] = {}

    def find(self, values: Sequence[object]) -> tuple[ProgramCache, list[np.ndarray]] | None:
        """The cache for these inputs, and their arrays; None where a list cannot be laid out."""
        arrays: list[object] = []
        ranks: list[int] = []
        for value, element in zip(values, self.elements, strict=True):
            if element is None:
                arrays.append(value)
                continue
            pair = flatten_list(value, element)
            if pair is None:
                return None
            arrays += pair
            ranks.append(pair[1].shape[1] - 1)
        cache = self._cache(tuple(ranks))
        known = cache.require_arrays(arrays)
        return None if known is None else (cache, known)

    def _cache(self, ranks: tuple[int, ...]) -> ProgramCache:
        cache = self.caches.get(ranks)
        if cache is None:
            cache = self.make(*self._opened(ranks))
            self.caches = {**dict([*self.caches.items()][1 - MOST_RANKS :]), ranks: cache}
        return cache

    def _opened(self, ranks: Sequence[int]) -> tuple[list[Node], list[Value]]:
        """The nodes that make sequences of pairs of tensors, and the inputs with the pairs."""
        nodes: list[Node] = []
        inputs: list[Value] = []
        arguments = Region("lists")
        left = iter(ranks)
        for value, element in zip(self.inputs, self.elements, strict=True):
            if element is None:
                inputs.append(value)
                continue
            rank = next(left)
            types = element.with_shape((UNKNOWN,)), TensorType(INT64, (UNKNOWN, 1 + rank))
            pair = [arguments.add_argument(value.name, type) for type in types]
            node = Node(RaggedSequence(_shape(element, rank)), pair, (), value.name)
            node.outputs = [value]
            nodes.append(node)
            inputs += pair
        return nodes, inputs


def _shape(element: TensorType, rank: int) -> tuple[int | None, ...]:
    """The lengths that all tensors of a sequence have by its type."""
    if isinstance(element.shape, AnyShape) or len(element.shape) != rank:
        return (None,) * rank
    return tuple(n if isinstance(n, int) else None for n in element.shape)
