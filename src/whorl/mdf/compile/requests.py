"""Running a graph over time by compiled programs, one for each form of request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from whorl.errors import LimitError, RunError, WhorlError
from whorl.ir.types import TensorType
from whorl.ir.walk import clone_region
from whorl.mdf.compile.mapped import MappedProgram, mapped_inputs
from whorl.mdf.compile.program import DONE, DT, SEED, SET, STEPS, Output, Program, ProgramSpec, program_of
from whorl.mdf.compile.scope import SETS, NotElementwiseError
from whorl.mdf.functions.operators import Precision
from whorl.mdf.integration.names import Integrator
from whorl.mdf.model import Datum, Graph
from whorl.mdf.random.draws import Replay
from whorl.mdf.simulation import SavedState, Simulation, Times, Trace
from whorl.mdf.variables import Cell
from whorl.passes.context import Context
from whorl.passes.sparse_products import sparse_products
from whorl.passes.vectorize.batched import CannotVectorize
from whorl.runtime.backends import choose_mode
from whorl.runtime.limits import Limits
from whorl.runtime.session import Session

MOST_PROGRAMS = 32
"""Programs that a graph keeps."""


class Request(Struct, frozen=True):
    """A simulation: what to record, and values in the place of the file's.

    `sets` have a first axis for the parameter sets of the batch.
    """

    steps: int
    dt: float | None
    record: Mapping[str, Cell]
    overrides: Mapping[Cell, np.ndarray] = field(default_factory=dict)
    sets: Mapping[Cell, np.ndarray] = field(default_factory=dict)
    batch: int | None = None
    state: SavedState = field(default_factory=SavedState)
    inputs_persist: bool = False
    precision: Precision = "float64"
    integrator: Integrator = "euler"
    series: Mapping[Cell, np.ndarray] = field(default_factory=dict)
    """Rows for unconnected input ports, one in each evaluation while there are any."""
    seed: int = 0
    replay: Replay = field(default_factory=dict)
    first_set: int = 0
    """The number of the parameter set, of the first one in a batch."""

    @property
    def evaluations(self) -> int:
        """The steps, and the evaluation before the first one."""
        return self.steps + (self.state.done == 0)

    def of_set(self, number: int) -> Request:
        """The same for one parameter set of the batch."""
        own = {cell: array[number] for cell, array in self.sets.items()}
        arrays = {c: a[..., number if a.shape[-1] > 1 else 0] for c, a in self.state.arrays.items()}
        engine = self.state.engine[number] if isinstance(self.state.engine, list) else self.state.engine
        state = replace(self.state, arrays=arrays, batch=None, engine=engine)
        return replace(self, overrides={**self.overrides, **own}, sets={}, batch=None, state=state, first_set=number)


class Prepared:
    """A program and what runs it."""

    def __init__(self, program: Program, limits: Limits | None, backend: str | None) -> None:
        self.program = program
        module = replace(program.module, main=clone_region(program.module.main))  # the other is mapped over sets
        sparse_products(module, Context(module))
        self.session = Session(module, limits, choose_mode(backend, once=False))

    def run(self, request: Request) -> Simulation:
        """Errors: RunError, LimitError."""
        return assembled(request, self.program, self.session.execute(None, feeds_of(request, self.program)))


class Compiler:
    """Runs a graph; programs are made when they are first needed."""

    def __init__(self, graph: Graph, limits: Limits | None = None, backend: str | None = None) -> None:
        self.graph, self.limits, self.backend = graph, limits, backend
        self._programs: dict[Datum, Prepared | WhorlError] = {}
        self._at_once: dict[Datum, MappedProgram | None] = {}

    def prepared(self, request: Request) -> Callable[[], Simulation]:
        """What runs a request. Errors: UnsupportedError and others where the graph cannot be compiled."""
        try:
            program = self._for(request)
        except NotElementwiseError:
            return self._prepared_sets(request)
        return lambda: program.run(request)

    def _prepared_sets(self, request: Request) -> Callable[[], Simulation]:
        """What runs the sets of a batch by a program of one: at once, or one after the other where that cannot be."""
        batch = request.batch or 0
        if batch < 2:
            return self._prepared_each(request)
        one = request.of_set(0)
        program = self._for(one).program
        rows = mapped_inputs(program, request.sets, request.state.arrays, batch)
        mapped = self._mapped(one, program, frozenset(rows)) if rows else None
        if mapped is None:
            return self._prepared_each(request)

        def run() -> Simulation:
            try:
                return assembled(request, program, mapped.run(feeds_of(one, program) | rows))
            except LimitError:
                raise
            except RunError:
                return self._prepared_each(request)()  # where one set fails, it tells which, or the others show why

        return run

    def _prepared_each(self, request: Request) -> Callable[[], Simulation]:
        runs = [self.prepared(request.of_set(n)) for n in range(request.batch or 0)]
        return lambda: combine_sets([run() for run in runs], request)

    def _mapped(self, one: Request, program: Program, inputs: frozenset[str]) -> MappedProgram | None:
        key = key_of(spec_of(one)), one.evaluations if not program.has_loop else None, inputs
        if key not in self._at_once:
            while len(self._at_once) >= MOST_PROGRAMS:
                self._at_once.pop(next(iter(self._at_once)))
            try:
                self._at_once[key] = MappedProgram(program, inputs, self.limits, self.backend)
            except CannotVectorize:
                self._at_once[key] = None
        return self._at_once[key]

    def _for(self, request: Request) -> Prepared:
        """The program for a request; where it has fewer steps than come before the loop, one without a loop."""
        spec = spec_of(request)
        prepared = self._program(spec)
        if prepared.program.iterations(request.steps) >= 0:
            return prepared
        return self._program(replace(spec, count=request.evaluations))

    def _program(self, spec: ProgramSpec) -> Prepared:
        key = key_of(spec)
        if key not in self._programs:
            while len(self._programs) >= MOST_PROGRAMS:
                self._programs.pop(next(iter(self._programs)))
            self._programs[key] = self._made(spec)
        prepared = self._programs[key]
        if isinstance(prepared, WhorlError):
            raise prepared
        return prepared

    def _made(self, spec: ProgramSpec) -> Prepared | WhorlError:
        """A program, or why there is none."""
        try:
            is_exact = self.limits is not None and self.limits.max_iterations is not None
            program = program_of(self.graph, replace(spec, is_exact=is_exact))
            return Prepared(program, self.limits, self.backend)
        except WhorlError as error:
            return error


def spec_of(request: Request) -> ProgramSpec:
    """What a program for a request takes and gives."""
    return ProgramSpec(
        record=tuple(dict.fromkeys(request.record.values())),
        overrides={
            **{cell: array.shape for cell, array in request.overrides.items()},
            **{cell: array.shape[1:] for cell, array in request.sets.items()},
        },
        start=_start(request.state),
        done=request.state.done,
        has_dt=request.dt is not None,
        batched=request.batch is not None,
        inputs_persist=request.inputs_persist,
        precision=request.precision,
        integrator=request.integrator,
        series={cell: rows.shape for cell, rows in request.series.items()},
        replay={draw: array.shape for draw, array in request.replay.items()},
    )


def _start(state: SavedState) -> dict[Cell, Datum]:
    """Where a program starts, for a batch of any length; that of one set goes on in a program of its own."""
    start = state.start()
    if state.batch in (None, 1):
        return start
    return {cell: _of_any_length(value) if isinstance(value, TensorType) else value for cell, value in start.items()}


def _of_any_length(type: TensorType) -> TensorType:
    assert isinstance(type.shape, tuple)
    return type if type.shape[-1] == 1 else type.with_shape((*type.shape[:-1], SETS))


def key_of(spec: ProgramSpec) -> Datum:
    """What tells programs apart."""
    start = tuple((c, v if isinstance(v, TensorType) else _bits(v)) for c, v in spec.start.items())
    flags = spec.has_dt, spec.batched, spec.inputs_persist, spec.precision, spec.integrator, spec.count
    rows = *spec.replay.items(), *spec.series.items()
    return spec.record, tuple(spec.overrides.items()), start, spec.done, flags, rows


def _bits(value: Datum) -> Datum:
    array = np.asarray(value)
    return array.dtype.str, array.shape, array.tobytes()


def feeds_of(request: Request, program: Program) -> dict[str, Datum]:
    """The inputs of a program's module."""
    feeds: dict[str, Datum] = {STEPS: np.int64(request.steps)}
    if request.dt is not None:
        feeds[DT] = np.float64(request.dt)
    if program.is_counted:
        feeds[DONE] = np.int64(request.state.done)
    axis = () if request.batch is None else (np.newaxis,)
    feeds |= {name: request.series[cell][(..., *axis)] for cell, name in program.series.items()}
    if program.draws:
        number = np.arange(request.first_set, request.first_set + (request.batch or 1))
        feeds |= {SEED: np.int64(request.seed), SET: number[0] if request.batch is None else number}
        feeds |= {name: request.replay[draw][(..., *axis)] for draw, name in program.replay.items()}
    arrays = {c: a if request.batch is None else _repeated(a, request.batch) for c, a in request.overrides.items()}
    arrays |= {cell: np.ascontiguousarray(np.moveaxis(array, 0, -1)) for cell, array in request.sets.items()}
    feeds |= {name: arrays[cell] for cell, name in program.overrides.items()}
    return feeds | {name: request.state.arrays[cell] for cell, name in program.start.items()}


def _repeated(array: np.ndarray, batch: int) -> np.ndarray:
    return np.repeat(array[..., np.newaxis], batch, axis=-1)


def assembled(request: Request, program: Program, outputs: Sequence[Datum]) -> Simulation:
    """The traces and the state that the outputs of a run hold."""
    rows = program.iterations(request.steps) if program.has_loop else 0
    traces = {}
    for name, cell in request.record.items():
        first = [row[cell] for row in program.first]
        traces[name] = Trace(
            first=[outputs[value.index] if isinstance(value, Output) else value for value in first],
            over_time=outputs[program.collected[cell]] if cell in program.collected else None,
            fixed=program.fixed.get(cell),
            repeats=rows,
            batch=request.batch,
            traced=[isinstance(value, Output) for value in first],
        )
    before = request.state
    known = {cell: value for cell, value in program.state_outputs.items() if not isinstance(value, Output)}
    arrays = {cell: outputs[value.index] for cell, value in program.state_outputs.items() if isinstance(value, Output)}
    arrays |= {cell: outputs[index] for cell, index in program.final.items()}
    arrays |= {cell: outputs[index][-1].copy() for cell, index in program.last_rows.items()}
    times = times_of(request)
    state = replace(
        before,
        arrays=arrays,
        constants=known,
        done=before.done + request.evaluations,
        overrides=request.overrides,
        sets=request.sets,
        batch=request.batch,
        time=times.end,
    )
    return Simulation(times, traces, state)


def times_of(request: Request) -> Times:
    """When the evaluations of a run are."""
    before = request.state
    return Times(before.time, 1.0 if request.dt is None else request.dt, request.steps, not before.done)


def combine_sets(results: Sequence[Simulation], request: Request) -> Simulation:
    """The results of the parameter sets of a batch as one."""
    first = results[0]
    traces = {
        name: Trace(first=(), over_time=np.stack([one[name] for one in results], axis=-1), batch=len(results))
        for name in first
    }
    states = [one.state for one in results]
    arrays = {cell: np.stack([state.arrays[cell] for state in states], axis=-1) for cell in first.state.arrays}
    engine = None if first.state.engine is None else [state.engine for state in states]
    state = replace(
        first.state, arrays=arrays, overrides=request.overrides, sets=request.sets, batch=len(results), engine=engine
    )
    return Simulation(first.when, traces, state)
