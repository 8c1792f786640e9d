"""A graph over time as a module: the first evaluations one by one, and one Loop for all that follow.

A cell is anything that a graph keeps; a program carries those that an evaluation reads before it writes them and that
it changes. Which these are is a fixpoint: the body is traced again until nothing new is carried. Where a shape changes,
one more evaluation comes before the loop.

Rows begin with the first evaluation: where an iteration more than needed can do no harm, the loop records what it finds
before each step, so that no row is copied to stand before the others. A batch has its axis behind all others:
elementwise expressions broadcast from the last axis, so they need no change, and the sets lie side by side in vectors.
Its length is a name, so that one program serves batches of any length.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import Struct, field

import whorl.mdf.compile.diffusion
from whorl.errors import UnsupportedError
from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, FLOAT64, INT64
from whorl.ir.graph import Module, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType, tensor
from whorl.mdf.compile.carried import ShapeChange, as_type, carried_type, differ_in_batch, type_of
from whorl.mdf.compile.loop import argument_names, insert_argument, may_run_once_more, rows_after, size_of, unique
from whorl.mdf.compile.schedule import TracedSchedule
from whorl.mdf.compile.scope import SETS, Scope, Traced, differs_by_set, is_same, is_sequence, lengths
from whorl.mdf.compile.tracer import Tracer
from whorl.mdf.functions.operators import Precision
from whorl.mdf.integration.names import Integrator
from whorl.mdf.model import Datum, Graph
from whorl.mdf.random.draws import TracedDrawing, draws_numbers
from whorl.mdf.variables import INPUT, PARAMETER, Cell, State
from whorl.ops.control.flow import Collected, Loop
from whorl.ops.elementwise.arithmetic import Add, Sub

assert whorl.mdf.compile.diffusion

MOST_FIRST = 8
"""Evaluations that may come before the loop until no shape changes any more."""
STEPS, DT, DONE, SEED, SET = "steps", "dt", "done", "seed", "set"
SCALAR = TensorType(FLOAT64, ())


class ProgramSpec(Struct, frozen=True):
    """The inputs and outputs of a program.

    `overrides`: shapes of values that replace those of the file, without the axis of the batch. `start`: the cells at
    the beginning, where `done` evaluations came before; of inputs only the types. `count`: the number of evaluations to
    unroll, in a program without a loop.
    """

    record: tuple[Cell, ...] = ()
    overrides: Mapping[Cell, tuple[int, ...]] = field(default_factory=dict)
    start: Mapping[Cell, Datum] = field(default_factory=dict)
    done: int = 0
    has_dt: bool = True
    batched: bool = False
    inputs_persist: bool = False
    precision: Precision = "float64"
    integrator: Integrator = "euler"
    replay: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The shapes of arrays of numbers that stand for draws."""
    series: Mapping[Cell, tuple[int, ...]] = field(default_factory=dict)
    """The shapes of rows that go into input ports."""
    count: int = 0
    is_exact: bool = False
    """Whether somebody counts iterations, so that the loop may have none more than there are steps."""


class Output(Struct, frozen=True):
    """The number of an output of a module."""

    index: int


class Program(Struct):
    """A module, and what its inputs and outputs are.

    `first`: what is recorded of the evaluations before the loop, `fixed` what no iteration changes; values are known
    or an Output. `collected` and `final`: outputs of the loop by cell. `state_outputs`: the other cells at the end.
    """

    module: Module
    build: Builder
    """Adds to the main region."""
    overrides: dict[Cell, str]
    start: dict[Cell, str]
    first: list[dict[Cell, Datum]] = field(default_factory=list)
    collected: dict[Cell, int] = field(default_factory=dict)
    fixed: dict[Cell, Datum] = field(default_factory=dict)
    final: dict[Cell, int] = field(default_factory=dict)
    state_outputs: dict[Cell, Datum] = field(default_factory=dict)
    last_rows: dict[Cell, int] = field(default_factory=dict)
    """Cells whose last row in a collected output is their value at the end."""
    steps_before: int = 0
    """Steps that are made before the loop."""
    has_loop: bool = False
    is_whole: bool = False
    """Whether the rows of the loop begin with the evaluation before the first step."""
    is_counted: bool = False
    """Whether the number of evaluations before is an input."""
    draws: bool = False
    """Whether the seed and the numbers of the parameter sets are inputs."""
    replay: dict[str, str] = field(default_factory=dict)
    series: dict[Cell, str] = field(default_factory=dict)

    @property
    def before_loop(self) -> int:
        """What the number of iterations is less than the number of steps."""
        return -1 if self.is_whole else self.steps_before

    def iterations(self, steps: int) -> int:
        """Iterations of the loop; negative where the module makes more steps than that before it."""
        return steps - self.before_loop if self.has_loop else 0


def program_of(graph: Graph, spec: ProgramSpec) -> Program:
    """Trace a graph. Errors: UnsupportedError says what keeps it from being compiled."""
    return _Writer(graph, spec).program()


class _Loop(Struct):
    """A loop body that closes: what it carries, and what it gives for a record."""

    body: Scope
    carried: dict[Cell, TensorType]
    end: State
    rows: dict[Cell, Datum]


class _Carried(Struct, frozen=True):
    """A carried value: what it is at first, in the body, and after the body."""

    cell: Cell
    initial: Value
    argument: Value
    next: Value


class _Writer:
    def __init__(self, graph: Graph, spec: ProgramSpec) -> None:
        self.graph, self.spec = graph, spec
        self.main = Scope(Region("main"), Inference(), batched=spec.batched)
        self.schedule = TracedSchedule(graph)
        self.outputs: list[tuple[str, Value]] = []
        self.first: list[dict[Cell, Datum]] = []
        self.steps = self.main.argument(STEPS, TensorType(INT64, ()))
        self.dt = self.main.argument(DT, SCALAR) if spec.has_dt else None
        draws = draws_numbers(graph)
        is_counted = self.schedule.is_counted or draws or bool(spec.series)
        self.done = self.main.argument(DONE, TensorType(INT64, ())) if is_counted else None
        self.drawing = self._drawing() if draws else None
        self.overrides = self._override_arguments()
        self.series = self._series()
        self.start = self._start()
        self.main.sets = self._sets()

    def program(self) -> Program:
        """The module with a loop, or with as many evaluations as are wanted."""
        state, calls, reason = State(self.start), self.spec.done, ""
        while len(self.first) != (self.spec.count or MOST_FIRST):
            if not self.spec.count and calls and self.schedule.is_periodic(calls):
                try:
                    return self._program(state, self._close(state, calls))
                except ShapeChange as change:
                    reason = str(change)
            state = State(state.values)
            self._evaluate(self.main, state, calls, self.dt if calls else None)
            calls += 1
            self.first.append(self._record(state))
        if self.spec.count:
            return self._program(state)
        raise UnsupportedError(f"after {calls} evaluations still: {reason}", fix="run it by the interpreter")

    def _start(self) -> dict[Cell, Datum]:
        """The values that the run goes on from; those of which only the type is known are inputs."""
        return {
            cell: self.main.argument(f"{cell} before", value) if isinstance(value, TensorType) else value
            for cell, value in self.spec.start.items()
        }

    def _sets(self) -> Traced | None:
        """An input that differs by parameter set."""
        several = [value for value in self.main.region.arguments if differs_by_set(tensor(value))]
        return self.main.traced(several[0]) if several else None

    def _override_arguments(self) -> dict[Cell, Traced]:
        batch = (SETS,) if self.spec.batched else ()
        shapes = self.spec.overrides
        suffixes = {PARAMETER: "initial", INPUT: "input"}
        return {
            cell: self.main.argument(f"{cell}.{suffixes[cell.kind]}", TensorType(FLOAT64, (*shape, *batch)))
            for cell, shape in shapes.items()
        }

    def _series(self) -> dict[Cell, Traced]:
        axis = (1,) if self.spec.batched else ()
        return {
            cell: self.main.argument(f"{cell}.rows", TensorType(FLOAT64, (*shape, *axis)))
            for cell, shape in self.spec.series.items()
        }

    def _drawing(self) -> TracedDrawing:
        seed = self.main.argument(SEED, TensorType(INT64, ()))
        number = self.main.argument(SET, TensorType(INT64, (SETS,) if self.spec.batched else ()))
        axis = (1,) if self.spec.batched else ()
        replay = {
            draw: self.main.argument(f"{draw}.drawn", TensorType(FLOAT64, (*shape, *axis)))
            for draw, shape in self.spec.replay.items()
        }
        return TracedDrawing(seed, number, replay, self.spec.batched)

    def _evaluate(self, scope: Scope, state: State, call: int | Traced, dt: Datum) -> None:
        spec = self.spec
        tracer = Tracer(
            self.graph,
            scope,
            state,
            dt,
            self.overrides,
            self.series,
            spec.inputs_persist,
            spec.precision,
            self.drawing,
            call,
            integrator=spec.integrator,
        )
        self.schedule.run(tracer, call)

    def _record(self, state: State) -> dict[Cell, Datum]:
        rows = {cell: state[cell] for cell in self.spec.record}
        for cell, value in rows.items():
            if is_sequence(value):
                fix = "record what is made of it, such as an element"
                raise UnsupportedError(f"{cell} is a sequence, which has no row over time", fix=fix)
        return rows

    # ---- the loop ------------------------------------------------------------------------------------------------

    def _close(self, state: State, calls: int) -> _Loop:
        """The body of the loop that goes on from a state, with all that it changes carried."""
        carried: dict[Cell, TensorType] = {}
        while True:
            body = self.main.inner("step")
            number = body.argument("step", TensorType(INT64, ()))
            body.argument("go_on", TensorType(BOOL, ()))
            arguments = {cell: body.argument(str(cell), t) for cell, t in carried.items()}
            inside = State({**state.values, **arguments})
            start = dict(inside.values)
            self._evaluate(body, inside, self._number(body, number, calls), self.dt)
            rows = self._record(inside)
            changed = [c for c in sorted(inside.needed) if not is_same(start.get(c), inside.values.get(c))]
            wider = {cell: self._carried_type(cell, state, inside, carried.get(cell)) for cell in changed}
            if carried.keys() >= wider.keys() and all(carried[cell] == t for cell, t in wider.items()):
                return _Loop(body, carried, inside, rows)
            carried |= wider

    def _number(self, body: Scope, iteration: Traced, calls: int) -> int | Traced:
        """The number of an evaluation inside the loop, where the schedule asks for it."""
        if self.done is None:
            return calls
        return self.schedule.number(body, iteration, self.done, len(self.first))

    def _carried_type(self, cell: Cell, state: State, inside: State, known: TensorType | None) -> TensorType:
        return carried_type(cell, state.values.get(cell), inside.values.get(cell), known, self.main.batched)

    # ---- the module ----------------------------------------------------------------------------------------------

    def _program(self, state: State, loop: _Loop | None = None) -> Program:
        self._name_inputs()
        overrides, start = map(argument_names, (self.overrides, self.start))
        program = Program(Module(self.main.region), self.main.build, overrides, start, is_counted=self.done is not None)
        program.draws = self.drawing is not None
        if self.drawing is not None:
            program.replay = {draw: array.value.name for draw, array in self.drawing.replay.items()}
        program.series = argument_names(self.series)
        program.steps_before = len(self.first) - (self.spec.done == 0)
        if loop is not None:
            self._add_loop(loop, state, program)
        for cell, value in (state if loop is None else loop.end).values.items():
            is_out = cell in program.final or cell in program.last_rows or is_sequence(value)
            if not is_out and value is not None and self._is_outer(value):
                program.state_outputs[cell] = self._output(f"{cell} at the end", value)
        program.first = (
            []
            if program.is_whole
            else [
                {cell: self._output(f"{cell} in evaluation {n}", value) for cell, value in row.items()}
                for n, row in enumerate(self.first)
            ]
        )
        program.module.main.results = [value for _, value in self.outputs]
        program.module.output_names = unique([name for name, _ in self.outputs])
        return program

    def _name_inputs(self) -> None:
        arguments = self.main.region.arguments
        for argument, name in zip(arguments, unique([argument.name for argument in arguments]), strict=True):
            argument.name = name

    def _is_outer(self, value: Datum) -> bool:
        return not isinstance(value, Traced) or value.scope is self.main

    def _output(self, name: str, value: Datum) -> Datum:
        """A known value as it is, another one as an output."""
        if not isinstance(value, Traced):
            return value
        self.outputs.append((name, self.main.value(value)))
        return Output(len(self.outputs) - 1)

    def _add_loop(self, loop: _Loop, state: State, program: Program) -> None:
        body = loop.body
        program.has_loop, program.is_whole = True, self._is_whole(loop)
        rows = {cell: value for cell, value in loop.rows.items() if isinstance(value, Traced)}
        program.fixed = {cell: value for cell, value in loop.rows.items() if cell not in rows}
        carried = [
            _Carried(cell, as_type(self.main, state.values[cell], t), argument, as_type(body, loop.end.values[cell], t))
            for argument, (cell, t) in zip(body.region.arguments[2:], loop.carried.items(), strict=False)
        ]
        elements = self._elements_before(rows, carried, body) if program.is_whole else rows_after(rows, body)
        if not carried and not elements:
            return
        titles = {value: f"{cell} over time" for cell, value in reversed(elements.items())}
        lasts = [c for c in carried if c.cell in loop.carried and c.argument not in titles] if program.is_whole else []
        outputs = self._loop_node(body, carried, [c.argument for c in lasts], titles, program.before_loop)
        start = len(self.outputs) - len(outputs)
        ends = carried if not program.is_whole else lasts
        first_end = start + (len(carried) if program.is_whole else 0)
        program.final = {c.cell: first_end + n for n, c in enumerate(ends)}
        indices = {value: len(self.outputs) - len(titles) + n for n, value in enumerate(titles)}
        program.collected = {cell: indices[value] for cell, value in elements.items()}
        if program.is_whole:
            state_outputs = {
                c.cell: indices[c.argument] for c in carried if c.cell in loop.carried and c.argument in indices
            }
            program.last_rows = state_outputs

    def _loop_node(
        self, body: Scope, carried: list[_Carried], lasts: list[Value], titles: dict[Value, str], before: int
    ) -> list[Value]:
        """The Loop; its outputs become outputs of the module."""
        go_on = body.build.constant(np.array(True))
        body.region.results = [go_on, *(c.next for c in carried), *lasts, *titles]
        op = Loop(len(carried), (), (Collected(),) * len(titles), len(lasts))
        names = [f"{c.cell} after" for c in carried] + [f"{value.name} at last" for value in lasts] + [*titles.values()]
        inputs = [self._trip_count(before), None, *(c.initial for c in carried), *body.captured]
        outputs = self.main.build.add_many(op, inputs, names, [body.region], name="time")
        self.outputs += zip(names, outputs, strict=True)
        return outputs

    def _is_whole(self, loop: _Loop) -> bool:
        """Whether the loop is to record the first evaluation, too: by what it finds before each step.

        Then what is carried and not recorded is written twice in each step, so that its value before the last step is
        known; that must not be more than what else would be copied.
        """
        is_bound = self.spec.done or self.spec.is_exact
        if len(self.first) != 1 or is_bound or not may_run_once_more(loop.body.region):
            return False
        rows = {v.value: v for v in loop.rows.values() if isinstance(v, Traced)}
        ends = (loop.end.values[cell] for cell in loop.carried)
        others = [v for v in ends if isinstance(v, Traced) and v.value not in rows]
        if size_of(others) > size_of(rows.values()):
            return False
        (first,) = self.first
        for cell, value in loop.rows.items():
            if not isinstance(value, Traced):
                if not is_same(first[cell], value):
                    return False
            elif first[cell] is None or not self._fits(cell, first[cell], lengths(value)):
                return False
        return True

    def _fits(self, cell: Cell, first: Datum, later: tuple[Dim, ...]) -> bool:
        _, shape = type_of(cell, first, self.main.batched)
        return shape == later or differ_in_batch(shape, later, self.main.batched)

    def _elements_before(self, rows: dict[Cell, Traced], carried: list[_Carried], body: Scope) -> dict[Cell, Value]:
        """For each recorded cell the carried value that it had before the iteration; it is carried where it is not."""
        (first,) = self.first
        elements = {}
        for cell, row in rows.items():
            after, type = body.value(row), TensorType(row.type.dtype, lengths(row))
            initial = as_type(self.main, first[cell], type)
            same = [c for c in carried if c.next is after and c.initial is initial]
            if not same:
                argument = insert_argument(body.region, 2 + len(carried), str(cell), type)
                same = [_Carried(cell, initial, argument, after)]
                carried += same
            elements[cell] = same[0].argument
        return elements

    def _trip_count(self, before: int) -> Value:
        """Iterations of the loop: the steps, without those made before."""
        steps, offset = self.main.value(self.steps), self.main.constant(np.array(abs(before), np.int64))
        if before == 0:
            return steps
        return self.main.build.add(Sub() if before > 0 else Add(), steps, offset)
