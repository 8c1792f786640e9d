"""The fast path of a session: feeds of a signature met before go straight to one native program.

It exists where one subgraph is the whole program. Names, element types and shapes are compared, and an entry in machine
code reads the addresses of the arrays itself (`codegen.arrays`), since asking NumPy takes longer than many a program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Event

import numpy as np

from whorl.ir.types import TensorType
from whorl.runtime.compiled.launch import CONTIGUOUS, BoundLaunch
from whorl.runtime.compiled.partition import CompiledSubgraph
from whorl.runtime.compiled.program_cache import MOST_BOUND, Signature, signature_of
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.limits import UNLIMITED, Budget
from whorl.runtime.values import is_array


class FastPath:
    """Launches by the signature of all feeds.

    Feeds that differ in anything take the long way, which checks them and reports what is wrong.
    """

    def __init__(self, plan: Plan, names: Sequence[str]) -> None:
        self.launches: dict[Signature, tuple[BoundLaunch, list[int]]] = {}
        self.specialised: list[int] = []
        arguments = list(plan.slots)[: plan.count]
        dtypes = [v.type.dtype if isinstance(v.type, TensorType) else None for v in arguments]
        self.expected = list(zip(names, dtypes, strict=True))
        self.subgraph = _only_subgraph(plan)
        self.order = [self.subgraph.outputs.index(slot) for slot in plan.results] if self.subgraph is not None else []

    def learn(self, arguments: Sequence[object]) -> None:
        """Remember the signature of arguments with which the long way has just succeeded."""
        subgraph = self.subgraph
        if subgraph is None or subgraph.parts or any(dtype is None for _, dtype in self.expected):
            self.launches.clear()
            return
        cache = subgraph.cache
        arrays = cache.require_arrays([arguments[slot - 1] for slot in subgraph.inputs])
        launch = None if arrays is None else cache.recent.get(cache.signature(arrays))
        if not isinstance(launch, BoundLaunch) or launch.has_calls:
            return
        specialised = [subgraph.inputs[n] - 1 for n in cache.specialised]
        if specialised != self.specialised:
            self.launches.clear()
            self.specialised = specialised
        positions = [subgraph.inputs[n] - 1 for n in launch.graph.inputs]
        tensors = [x for x in arguments if is_array(x)]
        while len(self.launches) >= MOST_BOUND:
            del self.launches[next(iter(self.launches))]
        self.launches[signature_of(tensors, specialised)] = launch, positions

    def run(self, feeds: Mapping[str, object], cancelled: Event) -> list[np.ndarray] | None:
        """All outputs, in the model's order; None where the long way must be taken."""
        if len(feeds) != len(self.expected):
            return None
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
        entry = self.launches.get(signature_of(arrays, self.specialised) if self.specialised else tuple(shapes))
        if entry is None:
            return None
        launch, positions = entry
        budget = Budget(UNLIMITED.limits, cancelled.is_set) if launch.needs_help else UNLIMITED
        results = launch.run([arrays[n] for n in positions], budget)
        return None if results is None else [results[n] for n in self.order]


def _only_subgraph(plan: Plan) -> CompiledSubgraph | None:
    """The subgraph that is the whole plan, if every result is an array of its own that it makes."""
    if len(plan.parts) != 1 or len(set(plan.results)) < len(plan.results):
        return None
    part = plan.parts[0]
    return part if isinstance(part, CompiledSubgraph) and set(plan.results) <= set(part.outputs) else None
