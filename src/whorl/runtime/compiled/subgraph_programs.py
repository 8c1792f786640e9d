"""The program caches of a subgraph: one for runs without a limit on iterations, one for each limit, and those for lists
of tensors that differ in shape.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence

import numpy as np

from whorl.ir.graph import Node, Value
from whorl.runtime.compiled.lists import SHORT, SMALL
from whorl.runtime.compiled.program_cache import ProgramCache
from whorl.runtime.compiled.ragged_inputs import RaggedInputs
from whorl.runtime.values import is_array, is_sequence

MOST_LIMITS = 4
"""Limits on iterations for which a subgraph keeps programs of their own."""


class SubgraphPrograms:
    """The caches of consecutive nodes; of slices of a loop, `varying` are inputs that differ from slice to slice.

    `prefers_tables`: small lists go to the programs for lists whose tensors differ in shape also where they do not,
    since those serve all lengths alike.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        inputs: Sequence[Value],
        results: Sequence[Value],
        constants: Sequence[Node],
        varying: Collection[Value] = (),
    ) -> None:
        self.nodes, self.inputs, self.results, self.constants = nodes, inputs, results, constants
        self.varying = varying
        self.cache = self._make()
        self.limited: dict[int, ProgramCache] = {}
        self.ragged: dict[int | None, RaggedInputs] = {}
        self.prefers_tables = False

    def _make(
        self, most_iterations: int | None = None, first: Sequence[Node] = (), inputs: Sequence[Value] | None = None
    ) -> ProgramCache:
        """A cache for runs that may do so many iterations, of `first` and then the subgraph, for other `inputs`."""
        nodes, values = [*first, *self.nodes], self.inputs if inputs is None else inputs
        return ProgramCache(nodes, values, self.results, self.constants, most_iterations, self.varying)

    @property
    def caches(self) -> list[ProgramCache]:
        """All of them."""
        ragged = [cache for inputs in self.ragged.values() for cache in inputs.caches.values()]
        return [self.cache, *self.limited.values(), *ragged]

    def choose(
        self, values: Sequence[object], most_iterations: int | None
    ) -> tuple[ProgramCache, list[np.ndarray]] | None:
        """The cache for these inputs and a limit on iterations, and the inputs' arrays; None where there is none."""
        if self.prefers_tables and self.cache.sequences and all(map(_is_small, values)):
            chosen = self.find_ragged(values, most_iterations)
            if chosen is not None:
                return chosen
        cache = self._for_limit(most_iterations)
        arrays = cache.require_arrays(values)
        return self.find_ragged(values, most_iterations) if arrays is None else (cache, arrays)

    def find_ragged(
        self, values: Sequence[object], most_iterations: int | None = None
    ) -> tuple[ProgramCache, list[np.ndarray]] | None:
        """The cache for inputs some of which are lists of tensors that differ in shape, and the inputs' arrays."""
        if not self.cache.sequences:
            return None
        ragged = self.ragged.get(most_iterations)
        if ragged is None:
            ragged = RaggedInputs(self.inputs, functools.partial(self._make, most_iterations))
            self.ragged = {**dict([*self.ragged.items()][1 - MOST_LIMITS :]), most_iterations: ragged}
        return ragged.find(values)

    def ragged_cache(self, ranks: Sequence[int]) -> ProgramCache | None:
        """The programs of runs without limits for lists whose tensors have these ranks, if there were such runs."""
        ragged = self.ragged.get(None)
        return None if ragged is None else ragged.caches.get(tuple(ranks))

    def _for_limit(self, most_iterations: int | None) -> ProgramCache:
        """The programs of runs that may do so many iterations of each loop."""
        if most_iterations is None or self.cache.loop is None:
            return self.cache
        cache = self.limited.get(most_iterations)
        if cache is None:
            cache = self._make(most_iterations)
            self.limited = {**dict([*self.limited.items()][1 - MOST_LIMITS :]), most_iterations: cache}
        return cache

    def may_be_rows(self, values: Sequence[object], cache: ProgramCache) -> bool:
        """Whether these inputs, for which a cache was chosen since tables are preferred, may be rows as well."""
        is_chosen = self.prefers_tables and self._is_for_tables(cache)
        return is_chosen and self.cache.require_arrays(values) is not None

    def _is_for_tables(self, cache: ProgramCache) -> bool:
        """Whether a cache has programs for lists whose tensors differ in shape."""
        return any(cache is each for inputs in self.ragged.values() for each in inputs.caches.values())


def _is_small(value: object) -> bool:
    """Whether a value is a small list, or none."""
    return not is_sequence(value) or (len(value) < SHORT and sum(x.size for x in value if is_array(x)) <= SMALL)
