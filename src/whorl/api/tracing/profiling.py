"""Where the time of a run goes: the nodes of all regions, natively run ones too, by clocks between them.

The clocks are in a second form of the model, which is compiled for the profile alone, and in which elementwise nodes
are computed one by one; what they show are shares, of the time that the model takes as it is. Nodes that take less than
a clock can tell count as the end of the iteration.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from whorl.api.models import Source, load_module
from whorl.api.preparing import prepare
from whorl.api.tracing.advising import advise
from whorl.api.tracing.recording import copy_module
from whorl.api.tracing.spending import RunProfile, Spent
from whorl.codegen.clock import cycle_counter
from whorl.codegen.target import is_available
from whorl.ir.graph import Module, Node
from whorl.ir.types import AnyShape, TensorType
from whorl.kernels.clock.meaning import COLUMNS, FIRST, INTERPRETED, NATIVE, TICKS
from whorl.ops.control.flow import Loop
from whorl.passes.expose.adding import retype
from whorl.passes.expose.scopes import Scope, scopes_of
from whorl.passes.expose.timing import READING, Timed, add_clocks
from whorl.runtime.backends import Mode
from whorl.runtime.limits import Limits
from whorl.runtime.session import Session

if TYPE_CHECKING:
    from whorl.runtime.compiled.explain import Verdict

RUNS, LEAST_RUNS = 0.3, 3
"""Seconds for which a model is run to time it, and runs at least."""
CLOCKED, PAUSE = 5, 0.01
"""Runs with clocks, and the seconds between them, which tell how fast the clock goes."""
LEAST_PRICE, MOST_PRICE = 1.0, 2.0
"""What a reading costs, of what one after another costs: a busy machine would tell anything."""
SHORTEST = 2.0
"""Nanoseconds below which a clock cannot tell what a node takes."""
NATIVELY, BY_INTERPRETER, CALLED_BACK, UNFELT, NEVER = (
    "native",
    "interpreted",
    "called back",
    "too short",
    "not reached",
)
ENDING = "end of"


def profile(
    source: Source, inputs: Mapping[str, Any], *, limits: Limits | None = None, backend: str | None = None
) -> RunProfile:
    """Where the time of a run of a model goes, whatever `load` takes: the nodes of all of its loops and branches.

    The model runs until its time is known, and then with clocks between its nodes, in a second form that is compiled
    for that. Printed, a profile is a table. Errors: LoadError, RunError, LimitError.
    """
    return profile_module(load_module(source), inputs, limits, backend)


def profile_module(
    module: Module, inputs: Mapping[str, Any], limits: Limits | None = None, mode: str | Mode | None = None
) -> RunProfile:
    """`profile` of a module, which is left as it is."""
    mode = mode or "native"
    plain = Session(prepare(copy_module(module)), limits, mode)
    start = time.perf_counter()
    plain.execute(None, inputs)
    first = time.perf_counter() - start
    taken = _run_often(lambda: plain.execute(None, inputs))
    seconds, least = statistics.median(taken), min(taken)
    copy = copy_module(module)
    clock = cycle_counter() if plain.mode.compiles and is_available() else time.perf_counter_ns
    timed = add_clocks(copy, scopes_of(copy), scopes_of(module), clock)
    retype(copy)
    session = Session(prepare(copy), limits, mode)
    tables, nanoseconds = _read_clocks(session, timed, inputs)
    verdicts = {each.title: each for each in _flatten(plain.explain() if plain.mode.compiles else [])}
    nodes = _Tree(timed, tables, nanoseconds, verdicts, 1e9 * least).of_region(timed[0].scope)
    total = sum(each.seconds for each in nodes)
    for each in nodes:
        _scale(each, seconds / total if total else 0.0)
    _share(nodes, seconds)
    return RunProfile(seconds, first, nodes)


def _run_often(run: Callable[[], object]) -> list[float]:
    """The times of some runs."""
    taken: list[float] = []
    while len(taken) < LEAST_RUNS or sum(taken) < RUNS:
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return taken


def _read_clocks(
    session: Session, timed: Sequence[Timed], inputs: Mapping[str, Any]
) -> tuple[dict[Scope, np.ndarray], float]:
    """The least that each row of the tables had in several runs, once all is compiled; the nanoseconds of a tick."""
    names = [each.output for each in timed]
    moments: list[tuple[int, int]] = []
    session.execute(names, inputs)
    least: list[np.ndarray] = []
    for _ in range(CLOCKED):
        tables = session.execute(names, inputs)
        moments.append((max(int(table[0]) for table in tables), time.perf_counter_ns()))
        rows = [table[FIRST:].reshape(-1, COLUMNS) for table in tables]
        least = [np.minimum(*pair) for pair in zip(least or rows, rows, strict=True)]
        time.sleep(PAUSE)
    (ticks, start), (later, stop) = moments[0], moments[-1]
    nanoseconds = (stop - start) / (later - ticks) if later > ticks else 1.0
    return dict(zip((each.scope for each in timed), least, strict=True)), nanoseconds


def _flatten(verdicts: Sequence[Verdict]) -> Iterator[Verdict]:
    for each in verdicts:
        yield each
        yield from _flatten(each.inside)


class _Tree:
    """What was spent, region by region, in nanoseconds.

    Clocks cost time, and keep nodes apart: readings cost what the model with clocks takes longer, within bounds.
    """

    def __init__(
        self,
        timed: Sequence[Timed],
        tables: Mapping[Scope, np.ndarray],
        nanoseconds: float,
        verdicts: Mapping[str, Verdict],
        whole: float,
    ) -> None:
        self.timed = {each.scope: each for each in timed}
        self.tables, self.nanoseconds, self.verdicts = tables, nanoseconds, verdicts
        self.calls = {title for each in verdicts.values() for title in each.calls}
        self.price = 0.0
        rows = self._rows(timed[0].scope)
        with_clocks = sum(self._total(row) for _, row in rows)
        readings = sum(self._readings(timed[0].scope, node, row) for node, row in rows)
        price = (with_clocks - whole) / readings if readings else LEAST_PRICE
        self.price = min(max(price, LEAST_PRICE), MOST_PRICE)
        if all(self._total(row) <= self.price * self._readings(timed[0].scope, node, row) for node, row in rows):
            self.price = 0.0  # a run so short that it is lost among readings

    def of_region(self, scope: Scope) -> list[Spent]:
        """The nodes of a region."""
        return [self._of_node(scope, node, row) for node, row in self._rows(scope)]

    def _rows(self, scope: Scope) -> list[tuple[Node, np.ndarray]]:
        return list(zip(self.timed[scope].nodes, self.tables[scope][READING + 1 :], strict=True))

    def _total(self, row: np.ndarray) -> float:
        return float(row[TICKS]) * self.nanoseconds

    def _readings(self, scope: Scope, node: Node, row: np.ndarray) -> float:
        """What the readings of clocks behind a node and in its regions would cost if each cost as much as one alone."""
        reading = self.tables[scope][READING]
        total = _count(row) * self._total(reading) / max(1, _count(reading))
        for region in self._inside(scope, node):
            table = self.tables[region]
            total += (READING + 1) * self._total(table[READING])
            total += sum(self._readings(region, each, own) for each, own in self._rows(region))
        return total

    def _inside(self, scope: Scope, node: Node) -> list[Scope]:
        return [each for each in self.timed if each.node is node and each.around is scope]

    def _of_node(self, scope: Scope, node: Node, row: np.ndarray) -> Spent:
        times = _count(row)
        taken = max(0.0, self._total(row) - self.price * self._readings(scope, node, row))
        how = NEVER if not times else NATIVELY if row[NATIVE] else BY_INTERPRETER
        how = CALLED_BACK if node.title in self.calls and how == NATIVELY else how
        regions = self._inside(scope, node)
        if not regions and how == NATIVELY and taken < SHORTEST * times:
            how, taken = UNFELT, 0.0
        verdict = self.verdicts.get(node.title)
        reason = verdict.reason if verdict is not None and how == BY_INTERPRETER else ""
        advice = advise(scope, node, reason, how == CALLED_BACK)
        spent = Spent(node.title, how, times, taken / 1e9, bytes=_size_of(node), advice=advice)
        if regions:
            self._add_inside(spent, node, regions)
        return spent

    def _add_inside(self, spent: Spent, node: Node, regions: Sequence[Scope]) -> None:
        """The nodes of a loop's body or of branches, and what these take besides: storing results, going on."""
        entered = sum(_count(self.tables[region][READING]) for region in regions)
        spent.inside = [each for region in regions for each in self.of_region(region)]
        total = sum(each.seconds for each in spent.inside)
        if total > spent.seconds:
            for each in spent.inside:
                _scale(each, spent.seconds / total)
        what = "the iteration" if isinstance(node.op, Loop) else "the branch"
        short = [each.title for each in spent.inside if each.how == UNFELT]
        advice = f"has {', '.join(short)}" if short and spent.seconds > total else ""
        rest = max(0.0, spent.seconds - total)
        spent.inside.append(Spent(f"{ENDING} {what}", spent.how, entered, rest, advice=advice))


def _count(row: np.ndarray) -> int:
    return int(row[NATIVE] + row[INTERPRETED])


def _size_of(node: Node) -> int | None:
    """The bytes that a node gives, where its types tell."""
    total = 0
    for value in node.outputs:
        type = value.type
        if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
            return None
        lengths = [dim for dim in type.shape if isinstance(dim, int)]
        if len(lengths) < len(type.shape):
            return None
        total += math.prod(lengths) * type.dtype.itemsize
    return total


def _scale(spent: Spent, factor: float) -> None:
    spent.seconds *= factor
    for each in spent.inside:
        _scale(each, factor)


def _share(nodes: Sequence[Spent], whole: float) -> None:
    for each in nodes:
        each.share = each.seconds / whole if whole else 0.0
        _share(each.inside, whole)
