"""A graph over time as a module that stands alone: recorded values as outputs, initial values as optional inputs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace

from whorl.errors import UnsupportedError
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT64
from whorl.ir.graph import Module, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType, tensor
from whorl.mdf.compile.program import DONE, SEED, SET, STEPS, Output, Program, ProgramSpec, program_of
from whorl.mdf.compile.scope import Scope, as_number, known_shape
from whorl.mdf.compile.tracer import Tracer, is_stateful
from whorl.mdf.functions.operators import Precision
from whorl.mdf.integration.names import Integrator
from whorl.mdf.model import Datum, Graph
from whorl.mdf.variables import INPUT, PARAMETER, Cell, State
from whorl.ops.core.base import broadcast_shapes
from whorl.ops.elementwise.arithmetic import Max, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.shapes import Expand, Unsqueeze


def module_of(
    graph: Graph,
    record: Mapping[str, Cell],
    has_dt: bool = True,
    inputs_persist: bool = False,
    precision: Precision = "float64",
    integrator: Integrator = "euler",
) -> Module:
    """The graph as a module. Inputs: steps, dt, and with the file's values as defaults what a run begins with.

    Where a graph can only be compiled for the file's own values, there are no inputs for others.
    Outputs: each of `record` with a row for each evaluation, one before the steps. Errors: UnsupportedError.
    """
    initial = initial_values(graph)
    overrides = {cell: array.shape for cell, array in initial.items()}
    spec = ProgramSpec(
        tuple(dict.fromkeys(record.values())),
        overrides,
        has_dt=has_dt,
        inputs_persist=inputs_persist,
        precision=precision,
        integrator=integrator,
    )
    try:
        program = program_of(graph, spec)
    except UnsupportedError:
        initial = {}
        program = program_of(graph, replace(spec, overrides={}))
    module = program.module
    traces = _Traces(program)
    made = {cell: traces.value(cell) for cell in spec.record}
    module.main.results = [made[cell] for cell in record.values()]
    module.output_names = list(record)
    names = {value.name for value in module.main.arguments}
    module.defaults = {program.overrides[cell]: array for cell, array in initial.items()}
    module.defaults |= {name: np.array(0, np.int64) for name in (DONE, SEED, SET) if name in names}
    module.metadata = {"graph_name": graph.id, "producer_name": "whorl"}
    return module


def initial_values(graph: Graph) -> dict[Cell, np.ndarray]:
    """What may be given in the place of the file's values: of stateful parameters and of unconnected input ports."""
    connected = {(edge.receiver, edge.receiver_port) for edge in graph.edges.values()}
    tracer = Tracer(graph, Scope(Region(), Inference()), State())
    initial: dict[Cell, np.ndarray] = {}
    for node in graph.nodes.values():
        names = tracer.names_before(node)
        free = [Cell(node.id, INPUT, id) for id in node.input_ports if (node.id, id) not in connected]
        starting = [p for p in node.parameters.values() if is_stateful(p) and p.default_initial_value is not None]
        for cell in (*free, *(Cell(node.id, PARAMETER, parameter.id) for parameter in starting)):
            try:
                initial[cell] = as_number(names[cell.id]).astype(FLOAT64)
            except UnsupportedError:
                continue
    return initial


class _Traces:
    """Joins what is recorded before the loop and in it."""

    def __init__(self, program: Program) -> None:
        self.program, self.build = program, program.build
        self.results = program.module.main.results

    def value(self, cell: Cell) -> Value:
        if self.program.is_whole and cell in self.program.collected:
            return self.results[self.program.collected[cell]]
        rows = [self._row(row[cell]) for row in self.program.first]
        rest = self._rest(cell)
        types = [tensor(row) for row in rows] + ([] if rest is None else [tensor(rest)])
        shapes = [known_shape(type) for type in types[: len(rows)]] + self._element(rest)
        shape = known_shape(TensorType(FLOAT64, broadcast_shapes(*shapes)))
        if not all(type.dtype == BOOL for type in types):
            rows, rest = [_floats(self.build, row) for row in rows], rest and _floats(self.build, rest)
        parts = [self._expanded(self.build.add(Unsqueeze(), row, self.build.int64(0)), shape) for row in rows]
        if rest is not None:
            parts.append(self._expanded(rest, shape))
        return self.build.add(Concat(axis=0), *parts, name=str(cell))

    def _row(self, value: Datum) -> Value:
        if isinstance(value, Output):
            return self.results[value.index]
        return self.build.constant(as_number(np.nan if value is None else value))

    def _rest(self, cell: Cell) -> Value | None:
        """The rows of the loop."""
        if cell in self.program.collected:
            return self.results[self.program.collected[cell]]
        if cell not in self.program.fixed:
            return None
        row = self._row(self.program.fixed[cell])
        row = self.build.add(Unsqueeze(), row, self.build.int64(0))
        shape = known_shape(tensor(row))[1:]
        count = self.build.add(Concat(axis=0), self._count(), self.build.int64(*shape)) if shape else self._count()
        return self.build.add(Expand(), row, count)

    def _count(self) -> Value:
        (steps,) = [value for value in self.program.module.main.arguments if value.name == STEPS]
        left = self.build.add(Sub(), steps, self.build.constant(np.array(self.program.before_loop, np.int64)))
        left = self.build.add(Max(), left, self.build.constant(np.array(0, np.int64)))
        return self.build.add(Unsqueeze(), left, self.build.int64(0))

    def _element(self, rest: Value | None) -> list[tuple[int, ...]]:
        if rest is None:
            return []
        type = tensor(rest)
        assert isinstance(type.shape, tuple)
        return [known_shape(type.with_shape(type.shape[1:]))]

    def _expanded(self, value: Value, shape: tuple[int, ...]) -> Value:
        """Rows repeated to a shape, behind the axis of the evaluations."""
        type = tensor(value)
        assert isinstance(type.shape, tuple)
        if type.shape[1:] == shape:
            return value
        missing = len(shape) - (len(type.shape) - 1)
        if missing:
            value = self.build.add(Unsqueeze(), value, self.build.int64(*range(1, 1 + missing)))
        return self.build.add(Expand(), value, self.build.int64(1, *shape))


def _floats(build: Builder, value: Value) -> Value:
    return value if tensor(value).dtype == FLOAT64 else build.add(Cast(to=FLOAT64), value)
