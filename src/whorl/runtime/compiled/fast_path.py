"""The fast path of a session: feeds of a signature met before go straight to one native program.

It exists where one subgraph is the whole program. Names, element types and shapes are compared, and an entry in machine
code reads the addresses of the arrays itself (`codegen.arrays`), since asking NumPy takes longer than many a program. A
list of arrays of one shape is the array of its rows; where one has several, each is two arrays (`ragged_inputs`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from whorl.runtime.compiled.binding import MOST_BOUND, Signature, signature_of
from whorl.runtime.compiled.launch import CONTIGUOUS, BoundLaunch
from whorl.runtime.compiled.memory import flatten_list, stack_alike
from whorl.runtime.compiled.prepared import Description, PreparedSession
from whorl.runtime.limits import UNLIMITED, Budget
from whorl.runtime.values import is_array

if TYPE_CHECKING:
    from whorl.runtime.compiled.partition import CompiledSubgraph


Entry = tuple[BoundLaunch, list[int] | None]
"""A launch, and the feeds that are its inputs; None where they are all of them in order."""


class FastPath:
    """Launches by the signature of all feeds.

    Feeds that differ in anything take the long way, which checks them and reports what is wrong. What was prepared
    serves from the first run on; what is learned is prepared for later processes. `sequences` are inputs that are lists
    of arrays, with their element types.
    """

    def __init__(
        self,
        inputs: Sequence[tuple[str, np.dtype | None]],
        prepared: PreparedSession | None = None,
        sequences: Mapping[str, np.dtype] | None = None,
    ) -> None:
        self.sequences = sequences or {}
        self.launches: dict[Signature, Entry] = {}
        self.specialised: list[int] = []
        self.expected = [(name, self.sequences.get(name, dtype)) for name, dtype in inputs]
        self.prepared = prepared
        self.subgraph: CompiledSubgraph | None = None
        self.outputs: Sequence[str] = ()
        self._set_order(())
        self.budget: tuple[Event, Budget] | None = None
        known = None if prepared is None else prepared.description
        self.is_prepared = known is not None
        if known is not None:
            self._set_order(known.order)
            self.specialised = [known.arguments[n] for n in known.specialised]

    @property
    def is_ready(self) -> bool:
        """Whether there is something to run."""
        return bool(self.launches) or self.is_prepared

    def watch(self, subgraph: CompiledSubgraph | None, results: Sequence[int], outputs: Sequence[str]) -> None:
        """Learn from a subgraph that is a whole plan, whose outputs lie in the slots of `results`, from now on."""
        self.subgraph, self.outputs = subgraph, outputs
        if subgraph is None:
            self.launches.clear()
            self.is_prepared = False
        elif self.launches:
            subgraph.is_prepared = True
        self._set_order(() if subgraph is None else [subgraph.outputs.index(slot) for slot in results])

    def _set_order(self, order: Sequence[int]) -> None:
        """Say which of a program's results each output is."""
        self.order, self.is_in_order = order, [*order] == [*range(len(order))]

    def learn(self, arguments: Sequence[object]) -> None:
        """Remember the signature of arguments with which the long way has just succeeded."""
        subgraph = self.subgraph
        if subgraph is None or subgraph.parts or any(dtype is None for _, dtype in self.expected):
            self.launches.clear()
            return
        tensors = self._tensors(arguments)
        cache = subgraph.cache
        values = [arguments[slot - 1] for slot in subgraph.inputs]
        known = cache.require_arrays(values)
        if known is None:
            self._learn_ragged(subgraph, values, arguments)
            return
        launch = cache.recent.get(cache.signature(known))
        if tensors is None or not isinstance(launch, BoundLaunch) or launch.has_calls:
            return
        specialised = [subgraph.inputs[n] - 1 for n in cache.specialised]
        if specialised != self.specialised:
            self.launches.clear()
            self.specialised, self.is_prepared = specialised, False
        positions = [subgraph.inputs[n] - 1 for n in launch.graph.inputs]
        self._remember(tensors, launch, positions)
        pattern = None if self.prepared is None or self.sequences else cache.pattern_of(launch.launch)
        if self.prepared is not None and pattern is not None:
            self.prepared.add(self._description(subgraph), pattern, launch.launch)

    def _learn_ragged(self, subgraph: CompiledSubgraph, values: Sequence[object], arguments: Sequence[object]) -> None:
        """The same for arguments among which a list has arrays of several shapes."""
        known, tensors = subgraph.find_ragged(values), self._pairs(arguments)
        if known is None or tensors is None or self.specialised or known[0].specialised:
            return
        launch = known[0].recent.get(known[0].signature(known[1]))
        if not isinstance(launch, BoundLaunch) or launch.has_calls:
            return
        counts = [1 + (name in self.sequences) for name, _ in self.expected]
        firsts = [0, *accumulate(counts)]
        numbers = [firsts[slot - 1] + k for slot in subgraph.inputs for k in range(counts[slot - 1])]
        self._remember(tensors, launch, [numbers[n] for n in launch.graph.inputs])

    def _pairs(self, arguments: Sequence[object]) -> list[np.ndarray] | None:
        """Arguments as arrays, those that are lists as their elements and tables; None where one is neither."""
        arrays: list[np.ndarray] = []
        for x, (name, dtype) in zip(arguments, self.expected, strict=True):
            if name in self.sequences:
                pair = None if dtype is None else flatten_list(x, dtype)
                if pair is None:
                    return None
                arrays += pair
            elif not is_array(x) or x.flags.num & CONTIGUOUS != CONTIGUOUS or x.dtype != dtype:
                return None
            else:
                arrays.append(x)
        return arrays

    def _tensors(self, arguments: Sequence[object]) -> list[np.ndarray] | None:
        """Arguments as arrays, those that are lists as their rows; None where one is neither."""
        tensors: list[np.ndarray] = []
        for x, (name, dtype) in zip(arguments, self.expected, strict=True):
            rows = stack_alike(x, dtype) if dtype is not None and name in self.sequences else x
            if not is_array(rows):
                return None
            tensors.append(rows)
        return tensors

    def _remember(self, tensors: Sequence[np.ndarray], launch: BoundLaunch, positions: list[int]) -> Entry:
        while len(self.launches) >= MOST_BOUND:
            self.launches.pop(tuple(self.launches)[0], None)  # noqa: RUF015 - in one step, as other threads change it
        entry = launch, None if positions == [*range(len(tensors))] else positions
        self.launches[signature_of(tensors, self.specialised)] = entry
        return entry

    def _description(self, subgraph: CompiledSubgraph) -> Description:
        cache = subgraph.cache
        inputs = tuple((name, dtype) for name, dtype in self.expected if dtype is not None)
        arguments = tuple(slot - 1 for slot in subgraph.inputs)
        types, specialised = tuple(cache.binder.types), tuple(cache.specialised)
        has_loop = cache.loop is not None
        return Description(inputs, tuple(self.outputs), arguments, types, tuple(self.order), specialised, has_loop)

    def _prepared_launch(self, arrays: Sequence[np.ndarray]) -> Entry | None:
        """What is prepared for feeds of a signature that is new here."""
        prepared = self.prepared
        launch = None if prepared is None else prepared.find(arrays)
        if launch is None or prepared is None or prepared.description is None:
            return None
        positions = [prepared.description.arguments[n] for n in launch.graph.inputs]
        if self.subgraph is not None:
            self.subgraph.is_prepared = True
        return self._remember(arrays, launch, positions)

    def _budget_of(self, cancelled: Event, threads: int) -> Budget:
        """The budget of runs without limits, which keeps nothing of any: one serves until the session is cancelled."""
        known = self.budget
        if known is None or known[0] is not cancelled or known[1].threads != threads:
            self.budget = known = cancelled, Budget(UNLIMITED.limits, cancelled.is_set, threads=threads)
        return known[1]

    def run(self, feeds: Mapping[str, object], cancelled: Event, threads: int) -> list[Any] | None:
        """All outputs, in the model's order; None where the long way must be taken."""
        if len(feeds) != len(self.expected):
            return None
        arrays: list[np.ndarray] = []
        shapes: list[tuple[int, ...]] = []
        for name, dtype in self.expected:
            x = feeds.get(name)
            if self.sequences and dtype is not None and name in self.sequences:
                x = stack_alike(x, dtype)
                if x is None:
                    return self._run_ragged(feeds, cancelled, threads)
            if type(x) is not np.ndarray or x.flags.num & CONTIGUOUS != CONTIGUOUS:
                return None
            if x.dtype is not dtype and x.dtype != dtype:  # after pickle an element type is an object of its own
                return None
            arrays.append(x)
            shapes.append(x.shape)
        entry = self.launches.get(signature_of(arrays, self.specialised) if self.specialised else tuple(shapes))
        if entry is None:
            entry = self._prepared_launch(arrays) if self.is_prepared else None
        return None if entry is None else self._launch(entry, arrays, cancelled, threads)

    def _run_ragged(self, feeds: Mapping[str, object], cancelled: Event, threads: int) -> list[Any] | None:
        """The same where a list has arrays of several shapes."""
        arrays = self._pairs([feeds.get(name) for name, _ in self.expected])
        entry = None if arrays is None else self.launches.get(tuple([x.shape for x in arrays]))
        return None if entry is None or arrays is None else self._launch(entry, arrays, cancelled, threads)

    def _launch(self, entry: Entry, arrays: Sequence[np.ndarray], cancelled: Event, threads: int) -> list[Any] | None:
        """The outputs of a launch for all feeds, in the model's order; None if it failed."""
        launch, positions = entry
        budget = self._budget_of(cancelled, threads) if launch.needs_help else UNLIMITED
        results = launch.run(arrays if positions is None else [arrays[n] for n in positions], budget)
        if results is None or (self.is_in_order and len(results) == len(self.order)):
            return results
        return [results[n] for n in self.order]
