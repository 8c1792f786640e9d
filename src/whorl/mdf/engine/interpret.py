"""Running a graph over time by the interpreter: what cannot be compiled, parameter set by parameter set."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from whorl.mdf.compile.requests import Request, combine_sets, times_of
from whorl.mdf.compile.tracer import is_stateful
from whorl.mdf.engine.engine import Engine, Inputs
from whorl.mdf.model import Datum, Graph
from whorl.mdf.random.draws import Drawing
from whorl.mdf.simulation import SavedState, Simulation, Trace
from whorl.mdf.variables import INPUT, Cell
from whorl.runtime.limits import Limits


def interpreted(graph: Graph, request: Request, inputs: Inputs, limits: Limits | None = None) -> Simulation:
    """Run what is asked for; `limits` are those of one loop in a node. Errors: LoadError, RunError."""
    if request.batch is None:
        return _run(graph, request, inputs, limits)
    return combine_sets([_run(graph, request.of_set(n), inputs, limits) for n in range(request.batch)], request)


def _run(graph: Graph, request: Request, inputs: Inputs, limits: Limits | None) -> Simulation:
    drawing = Drawing(request.seed, request.replay, request.first_set)
    engine = Engine(
        with_values(graph, request.overrides),
        inputs,
        drawing.draws,
        precision=request.precision,
        limits=limits,
        integrator=request.integrator,
    )
    before = request.state
    if before.engine is not None:
        engine.restore(before.engine)
    rows: dict[str, list[Datum]] = {name: [] for name in request.record}
    for number in range(request.evaluations):
        drawing.start(before.done + number)
        for cell, values in request.series.items():
            if before.done + number < len(values):
                engine.set((cell.node, cell.kind, cell.id), values[before.done + number])
        engine.evaluate(None if before.done + number == 0 else request.dt)
        for name, cell in request.record.items():
            rows[name].append(copy.deepcopy(engine.value((cell.node, cell.kind, cell.id))))
    times, done = times_of(request), before.done + request.evaluations
    state = SavedState(done=done, time=times.end, overrides=request.overrides, sets=request.sets, engine=engine.save())
    return Simulation(times, {name: Trace(first) for name, first in rows.items()}, state)


def with_values(graph: Graph, overrides: Mapping[Cell, np.ndarray]) -> Graph:
    """The graph with other values of fixed parameters, initial values and unconnected input ports."""
    nodes = dict(graph.nodes)
    for cell, array in overrides.items():
        node = nodes[cell.node]
        value = array.tolist() if array.ndim else array.item()
        if cell.kind == INPUT:
            port = replace(node.input_ports[cell.id], default_value=value)
            nodes[cell.node] = replace(node, input_ports={**node.input_ports, cell.id: port})
            continue
        old = node.parameters[cell.id]
        new = replace(old, default_initial_value=value) if is_stateful(old) else replace(old, value=value)
        nodes[cell.node] = replace(node, parameters={**node.parameters, cell.id: new})
    return replace(graph, nodes=nodes)
