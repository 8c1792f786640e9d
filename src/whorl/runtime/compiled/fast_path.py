"""The fast path of a session: feeds of a signature met before go straight to one native program.

It exists where one subgraph is the whole program. Names, element types and shapes are compared, and an entry in machine
code reads the addresses of the arrays itself (`codegen.arrays`), since asking NumPy takes longer than many a program. A
list of arrays of one shape is the array of its rows; where one has several, each is two arrays (`ragged_inputs`).
Where some shapes come again and again, all of this is machine code (`direct_call`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from whorl.ir.forking import import_whole
from whorl.ir.types import TensorType
from whorl.runtime.compiled.binding import LEAST, MOST_BOUND, Signature, contents_of, signature_of
from whorl.runtime.compiled.launch import CONTIGUOUS, BoundLaunch, Launch
from whorl.runtime.compiled.list_launch import ListLaunch
from whorl.runtime.compiled.lists import SHORT, SMALL, ListArrays, ListMemory, ListReader
from whorl.runtime.compiled.prepared import Description, PreparedSession
from whorl.runtime.limits import UNLIMITED, Budget
from whorl.runtime.values import is_array

if TYPE_CHECKING:
    from whorl.runtime.compiled.direct_call import DirectCall
    from whorl.runtime.compiled.partition import CompiledSubgraph
    from whorl.runtime.compiled.program_cache import ProgramCache
    from whorl.runtime.whole import Whole


OFTEN = 100
"""Runs of one shape from which a direct call is made: to load what makes it takes as long as some hundred of them."""
MOST_CALLS = 4
"""Direct calls that a session has: one after the other is asked, which takes each some 0.2 us to see other shapes."""


class Entry(Struct):
    """A launch, the feeds that are its inputs, None where they are all of them in order, and how often it ran."""

    launch: BoundLaunch
    positions: list[int] | None
    runs: int = 0


class Tensors(Struct, frozen=True):
    """Feeds, and the arrays that they are: a list is its rows, or, where one `is_ragged`, elements and a table.

    One launch is for lists of all `sizes` that have a `key`; `memory` has their elements and tables, and room for more.
    """

    feeds: Sequence[np.ndarray | ListArrays]
    is_ragged: bool = False
    key: Signature = ()
    memory: Sequence[np.ndarray] = ()
    sizes: Sequence[int] = ()

    @property
    def arrays(self) -> list[np.ndarray]:
        """The arrays, with their shapes."""
        arrays: list[np.ndarray] = []
        for x in self.feeds:
            if not isinstance(x, ListArrays):
                arrays.append(x)
            elif self.is_ragged:
                arrays += x.pair()
            else:
                arrays.append(x.rows())
        return arrays

    @property
    def ranks(self) -> dict[int, int]:
        """The ranks of the arrays in lists that are tables, by feed."""
        lists = {n: x for n, x in enumerate(self.feeds) if isinstance(x, ListArrays)} if self.is_ragged else {}
        return {n: x.rank for n, x in lists.items()}

    def signature(self, arrays: Sequence[np.ndarray], keyed: Sequence[int]) -> Signature:
        """The shapes of the arrays, and the contents of some feeds; no list is among these."""
        return (*signature_of(arrays, ()), *self._contents(keyed))

    def list_signature(self, keyed: Sequence[int]) -> Signature:
        """The key of a launch for lists of all sizes, and the contents of some feeds."""
        return (*self.key, *self._contents(keyed))

    def _contents(self, keyed: Sequence[int]) -> list[bytes | None]:
        return [contents_of(x) for x in (self.feeds[n] for n in keyed) if not isinstance(x, ListArrays)]

    @property
    def numbers(self) -> list[range]:
        """The numbers of the arrays that each feed is."""
        counts = [1 + (n in self.ranks) for n in range(len(self.feeds))]
        return [range(end - count, end) for count, end in zip(counts, accumulate(counts), strict=True)]


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
        sequences: Mapping[str, TensorType] | None = None,
    ) -> None:
        self.readers = {name: ListReader(type) for name, type in (sequences or {}).items()}
        self.launches: dict[Signature, Entry] = {}
        self.keyed: list[int] = []
        self.expected = [(name, self.readers[name].dtype if name in self.readers else dtype) for name, dtype in inputs]
        self.sources = [(dtype, self.readers.get(name)) for name, dtype in self.expected]
        self.prepared = prepared
        self.subgraph: CompiledSubgraph | None = None
        self.whole: Whole | None = None
        self.interpreted: DirectCall | None = None
        self._set_order(())
        self.forget_calls()
        self.budget: tuple[Event, Budget] | None = None
        known = None if prepared is None else prepared.description
        self.is_prepared = known is not None
        if known is not None:
            self._set_order(known.order)
            self.keyed = [known.arguments[n] for n in (*known.specialised, *known.counts)]

    @property
    def is_ready(self) -> bool:
        """Whether there is something to run."""
        return bool(self.launches or self.calls) or self.is_prepared

    def watch(self, subgraph: CompiledSubgraph | None, whole: Whole) -> None:
        """Learn from a subgraph that is all of the plan of a module from now on."""
        self.subgraph, self.whole = subgraph, whole
        self.forget_calls()
        self.interpreted = None if subgraph is not None else _call_of(whole)
        if subgraph is None:
            self.launches.clear()
            self.is_prepared = False
        elif self.launches:
            subgraph.is_prepared = True
        self._set_order(() if subgraph is None else [subgraph.outputs.index(slot) for slot in whole.plan.results])

    def _set_order(self, order: Sequence[int]) -> None:
        """Say which of a program's results each output is."""
        self.order, self.is_in_order = order, [*order] == [*range(len(order))]

    def forget_calls(self) -> None:
        """Make no direct call any more, before a shape has come often again."""
        self.calls: tuple[DirectCall, ...] = ()
        self.called: tuple[Entry, ...] = ()
        for entry in [*self.launches.values()]:
            entry.runs = 0

    def learn(self, arguments: Sequence[object]) -> None:
        """Remember the signature of arguments with which the long way has just succeeded."""
        subgraph = self.subgraph
        if subgraph is None or subgraph.parts or any(dtype is None for _, dtype in self.expected):
            self.launches.clear()
            self.forget_calls()
            self.calls = () if self.interpreted is None else (self.interpreted,)
            return
        tensors = self._read(arguments)
        if tensors is None:
            return
        cache = self._cache(subgraph, tensors)
        keyed = None if cache is None else _keyed(subgraph, cache, tensors)
        if keyed is None:
            return
        if keyed != self.keyed:
            self.launches.clear()
            self.keyed, self.is_prepared = keyed, False
        self._bind(subgraph, tensors)

    def _bind(self, subgraph: CompiledSubgraph, tensors: Tensors) -> Entry | None:
        """The launch for arrays of a signature that is new, remembered, where the program for them is compiled."""
        cache = self._cache(subgraph, tensors)
        if cache is None or _keyed(subgraph, cache, tensors) != self.keyed:
            return None
        known = tensors.numbers
        numbers = [n for slot in subgraph.inputs for n in known[slot - 1]]
        arrays = tensors.arrays
        chosen = [arrays[n] for n in numbers]
        launch = cache.find_compiled(chosen)
        if launch is None or launch.has_calls:
            return None
        key, positions = tensors.signature(arrays, self.keyed), [numbers[n] for n in launch.graph.inputs]
        if tensors.is_ragged:
            listed = {number for n in tensors.ranks for number in known[n]}
            sources = [n if n in listed else None for n in numbers]
            for_all = ListLaunch.of(launch, cache.binder.bind(chosen), sources)
            if for_all is not None:
                key, launch = tensors.list_signature(self.keyed), for_all
        self._prepare(subgraph, launch.launch)
        return self._remember(key, launch, positions, len(arrays))

    def _prepare(self, subgraph: CompiledSubgraph, launch: Launch) -> None:
        """Keep a program for later processes, unless feeds are lists, which take other ways to it."""
        whole = self.whole
        if self.prepared is None or self.readers or whole is None:
            return
        pattern = subgraph.cache.pattern_of(launch)
        if pattern is not None:
            self.prepared.add(partial(self._description, subgraph, whole), pattern, launch)

    def _cache(self, subgraph: CompiledSubgraph, tensors: Tensors) -> ProgramCache | None:
        """The programs for such arrays."""
        if not tensors.is_ragged:
            return subgraph.cache
        ranks = tensors.ranks
        return subgraph.programs.ragged_cache([ranks[slot - 1] for slot in subgraph.inputs if slot - 1 in ranks])

    def _read(self, arguments: Sequence[object]) -> Tensors | None:
        """Arguments as arrays; None where one is something else."""
        feeds: list[Any] = []
        memory: list[np.ndarray] = []
        sizes: list[int] = []
        key: list[tuple[int, ...] | None] = [None]
        is_ragged, is_small = False, self.subgraph is not None and self.subgraph.programs.prefers_tables
        for x, (dtype, reader) in zip(arguments, self.sources):  # noqa: B905 - `strict` takes longer
            if reader is not None:
                known = reader.read(x)
                if known is None:
                    return None
                is_ragged = is_ragged or not known.is_alike
                total, count = known.total, known.count
                is_small = is_small and count < SHORT and total <= SMALL
                key.append((known.rank, total if total < LEAST else LEAST, count if count < LEAST else LEAST))
                memory += known.elements, known.table
                sizes += total, count
                feeds.append(known)
            elif is_array(x) and x.flags.num & CONTIGUOUS == CONTIGUOUS and x.dtype == dtype:
                key.append(x.shape)
                memory.append(x)
                sizes.append(0)
                feeds.append(x)
            else:
                return None
        return Tensors(feeds, is_ragged or is_small, tuple(key), memory, sizes)

    def _remember(self, key: Signature, launch: BoundLaunch, positions: list[int], count: int) -> Entry:
        while len(self.launches) >= MOST_BOUND:
            self.launches.pop(tuple(self.launches)[0], None)  # noqa: RUF015 - in one step, as other threads change it
        entry = Entry(launch, None if positions == [*range(count)] else positions)
        self.launches[key] = entry
        return entry

    def _description(self, subgraph: CompiledSubgraph, whole: Whole) -> Description:
        cache = subgraph.cache
        inputs = tuple((name, dtype) for name, dtype in self.expected if dtype is not None)
        arguments = tuple(slot - 1 for slot in subgraph.inputs)
        types, specialised, counts = tuple(cache.binder.types), tuple(cache.specialised), tuple(cache.binder.counts)
        outputs, order = tuple(whole.module.output_names), tuple(self.order)
        return Description(whole.interface, inputs, outputs, arguments, types, order, specialised, counts)

    def _prepared_launch(self, arrays: Sequence[np.ndarray]) -> Entry | None:
        """What is prepared for feeds of a signature that is new here."""
        prepared = self.prepared
        launch = None if prepared is None else prepared.find(arrays)
        if launch is None or prepared is None or prepared.description is None:
            return None
        positions = [prepared.description.arguments[n] for n in launch.graph.inputs]
        if self.subgraph is not None:
            self.subgraph.is_prepared = True
        return self._remember(signature_of(arrays, self.keyed), launch, positions, len(arrays))

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
        if self.readers:
            return self._run_lists(feeds, cancelled, threads)
        arrays: list[np.ndarray] = []
        shapes: list[tuple[int, ...]] = []
        for name, dtype in self.expected:
            x = feeds.get(name)
            if type(x) is not np.ndarray or x.flags.num & CONTIGUOUS != CONTIGUOUS:
                return None
            if x.dtype is not dtype and x.dtype != dtype:  # after pickle an element type is an object of its own
                return None
            arrays.append(x)
            shapes.append(x.shape)
        entry = self.launches.get(signature_of(arrays, self.keyed) if self.keyed else tuple(shapes))
        if entry is None:
            entry = self._prepared_launch(arrays) if self.is_prepared else None
        if entry is None:
            entry = self._new_entry(Tensors(arrays))
        return None if entry is None else self._launch(entry, arrays, cancelled, threads)

    def _run_lists(self, feeds: Mapping[str, object], cancelled: Event, threads: int) -> list[Any] | None:
        """The same where some feeds are lists."""
        tensors = self._read([feeds.get(name) for name, _ in self.expected])
        if tensors is None:
            return None
        arrays = tensors.memory
        entry = self.launches.get(tensors.list_signature(self.keyed)) if tensors.is_ragged else None
        if entry is None:
            exact = tensors.arrays
            entry = self.launches.get(tensors.signature(exact, self.keyed)) or self._new_entry(tensors)
            if entry is None or not isinstance(entry.launch, ListLaunch):
                arrays = exact
        results = None if entry is None else self._launch(entry, arrays, cancelled, threads, tensors)
        for feed in tensors.feeds:
            if isinstance(feed, ListMemory):
                feed.give_back()
        return results

    def _new_entry(self, tensors: Tensors) -> Entry | None:
        subgraph = self.subgraph
        return None if subgraph is None or subgraph.parts else self._bind(subgraph, tensors)

    def _launch(
        self,
        entry: Entry,
        arrays: Sequence[np.ndarray],
        cancelled: Event,
        threads: int,
        tensors: Tensors | None = None,
    ) -> list[Any] | None:
        """The outputs of a launch for all feeds, in the model's order; None if it failed.

        `tensors` are what the arrays are of, where some are of lists.
        """
        launch, positions = entry.launch, entry.positions
        budget = self._budget_of(cancelled, threads) if launch.needs_help else UNLIMITED
        chosen = arrays if positions is None else [arrays[n] for n in positions]
        is_for_lists = isinstance(launch, ListLaunch)
        sizes = () if tensors is None else tensors.sizes
        results = launch.run_lists(chosen, sizes, budget) if is_for_lists else launch.run(chosen, budget)
        if results is None:
            return None
        runs = entry.runs
        entry.runs = runs + 1
        if runs == OFTEN:
            self._add_call(entry, tensors or Tensors(arrays), cancelled, threads)
        if self.is_in_order and len(results) == len(self.order):
            return results
        return [results[n] for n in self.order]

    def _add_call(self, entry: Entry, tensors: Tensors, cancelled: Event, threads: int) -> None:
        """Have the runs of this shape be calls of machine code, where they may: in the stead of the oldest of many."""
        call = self._make_call(entry, tensors, cancelled, threads)
        if call is None:
            return
        for oldest in self.called[MOST_CALLS - 1 :]:
            oldest.runs = 0
        self.called = entry, *self.called[: MOST_CALLS - 1]
        self.calls = call, *self.calls[: MOST_CALLS - 1]
        if cancelled.is_set():  # meanwhile: the call would end every later run, too
            self.forget_calls()

    def _make_call(self, entry: Entry, tensors: Tensors, cancelled: Event, threads: int) -> DirectCall | None:
        """The direct call for this shape; there is none for a program that is for the elements of a list."""
        launch, positions = entry.launch, entry.positions
        known = import_whole("whorl.runtime.compiled.direct_call")
        feeds: list[object] = []
        for n, ((name, _), (_, reader), x) in enumerate(zip(self.expected, self.sources, tensors.feeds, strict=True)):
            if isinstance(x, ListArrays):
                if n in self.keyed:
                    return None
                feeds.append(known.ListFeed(name, x, reader))
            else:
                feeds.append(known.Feed(name, x, contents_of(x) if n in self.keyed else None))
        prefers_tables = self.subgraph is not None and self.subgraph.programs.prefers_tables
        expected = known.Feeds(feeds, tensors.is_ragged, prefers_tables)
        inputs = range(sum(map(len, tensors.numbers))) if positions is None else positions
        return known.direct_call(expected, launch, inputs, self.order, self._budget_of(cancelled, threads))


def _keyed(subgraph: CompiledSubgraph, cache: ProgramCache, tensors: Tensors) -> list[int] | None:
    """The feeds whose contents programs are specialised to; None where one is a list, which has no key."""
    known = tensors.numbers
    owners = [slot - 1 for slot in subgraph.inputs for _ in known[slot - 1]]
    keyed = [owners[n] for n in cache.keyed]
    return None if any(isinstance(tensors.feeds[n], ListArrays) for n in keyed) else keyed


def _call_of(whole: Whole) -> DirectCall | None:
    """The call of a plan of a few interpreted nodes, loaded with the first plan that may be one."""
    return import_whole("whorl.runtime.compiled.interpreted_call").InterpretedCall.of(whole.plan)
