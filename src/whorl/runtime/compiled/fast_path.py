"""The fast path of a session: feeds of a signature met before go straight to one native program.

It exists where one subgraph is the whole program. Names, element types and shapes are compared, and an entry in machine
code finds the memory of the arrays itself (`codegen.arrays`), since asking NumPy takes longer than many a program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Event
from typing import Any

import numpy as np

from whorl.ir.types import TensorType
from whorl.runtime.compiled.launch import CONTIGUOUS, Launch
from whorl.runtime.compiled.partition import Stretch
from whorl.runtime.compiled.program_cache import contents
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.limits import UNLIMITED, Budget


class Direct:
    """What a plan that is a single native segment needs to run: its inputs' names, and a launch for their shapes.

    Whatever is not exactly as it was before takes the long way, which checks it and says what is wrong.
    """

    def __init__(self, plan: Plan, names: Sequence[str]) -> None:
        self.launches: dict[tuple, tuple[Launch, list[int]]] = {}
        self.watched: list[int] = []
        arguments = list(plan.slots)[: plan.count]
        dtypes = [v.type.dtype if isinstance(v.type, TensorType) else None for v in arguments]
        self.expected = list(zip(names, dtypes, strict=True))
        self.stretch = _only_stretch(plan)
        self.order = [self.stretch.outputs.index(slot) for slot in plan.results] if self.stretch is not None else []

    def learn(self, arrays: Sequence[Any]) -> None:
        """Remember the form of arguments with which the long way has just succeeded."""
        stretch = self.stretch
        if stretch is None or stretch.parts or any(dtype is None for _, dtype in self.expected):
            self.launches.clear()
            return
        given = [arrays[slot - 1] for slot in stretch.inputs]
        launch = stretch.segment.found.get(stretch.segment.signature(given))
        if not isinstance(launch, Launch) or launch.has_calls:
            return
        watched = [stretch.inputs[n] - 1 for n in stretch.segment.watched]
        if watched != self.watched:
            self.launches.clear()
            self.watched = watched
        positions = [stretch.inputs[n] - 1 for n in launch.graph.inputs]
        self.launches[self._key(arrays)] = launch, positions

    def _key(self, arrays: Sequence[np.ndarray]) -> tuple:
        shapes = tuple([x.shape for x in arrays])
        return (shapes, *[contents(arrays[n]) for n in self.watched]) if self.watched else shapes

    def run(self, feeds: Mapping[str, Any], cancelled: Event) -> list[np.ndarray] | None:
        """All outputs, in the model's order; None where the long way must be taken."""
        if len(feeds) != len(self.expected):
            return None
        arrays, shapes = [], []
        for name, dtype in self.expected:
            x = feeds.get(name)
            if type(x) is not np.ndarray or x.dtype is not dtype or x.flags.num & CONTIGUOUS != CONTIGUOUS:
                return None
            arrays.append(x)
            shapes.append(x.shape)
        found = self.launches.get(self._key(arrays) if self.watched else tuple(shapes))
        if found is None:
            return None
        launch, positions = found
        budget = Budget(UNLIMITED.limits, cancelled.is_set) if launch.needs_help else UNLIMITED
        results = launch.run([arrays[n] for n in positions], budget)
        return None if results is None else [results[n] for n in self.order]


def _only_stretch(plan: Plan) -> Stretch | None:
    """The stretch that is the whole plan, if every result is an array of its own that it makes."""
    if len(plan.parts) != 1 or not isinstance(plan.parts[0], Stretch) or len(set(plan.results)) < len(plan.results):
        return None
    return plan.parts[0] if set(plan.results) <= set(plan.parts[0].outputs) else None
