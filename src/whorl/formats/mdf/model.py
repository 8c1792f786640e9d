"""An MDF model as `whorl.load` gives it: simulated over time, or made a module of the hub."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from whorl.errors import RunError, WhorlError
from whorl.formats.mdf.onnx.modules import onnx_module
from whorl.ir.cached_property import cached_property
from whorl.ir.graph import Module
from whorl.mdf.compile.module import module_of
from whorl.mdf.compile.requests import Compiler, Request
from whorl.mdf.compile.scope import as_number
from whorl.mdf.compile.tracer import is_stateful
from whorl.mdf.engine.engine import Engine, Inputs
from whorl.mdf.engine.interpret import interpreted
from whorl.mdf.expressions.syntax import read_number
from whorl.mdf.functions.operators import Precision
from whorl.mdf.integration.names import Integrator
from whorl.mdf.model import Datum, Graph, Model
from whorl.mdf.plotting import plot_graph, write_figure
from whorl.mdf.simulation import SavedState, Simulation
from whorl.mdf.variables import FUNCTION, INPUT, OUTPUT, PARAMETER, Cell
from whorl.runtime.limits import Limits


class MdfModel:
    """A model of the ModECI model description format. Its first graph runs.

    `inputs` is the version of modeci_mdf whose input ports it has: since 0.4.14 a value is gone once it was read,
    before that it stays. `precision` "float32" makes functions of ONNX compute as those of modeci_mdf do. `integrator`
    is how parameters with a time derivative go over a time step. `document` is what the file says.
    """

    def __init__(
        self,
        document: Model,
        *,
        inputs: Inputs = "0.4.15",
        precision: Precision = "float64",
        integrator: Integrator = "euler",
        limits: Limits | None = None,
        backend: str | None = None,
    ) -> None:
        self.document = document
        self.inputs: Inputs = inputs
        self.precision: Precision = precision
        self.integrator: Integrator = integrator
        self._compiler = Compiler(self.graph, limits, backend)

    def __repr__(self) -> str:
        return f"<MdfModel {self.document.id!r}: {len(self.graph.nodes)} nodes>"

    def __getstate__(self) -> dict[str, Datum]:
        compiler = self._compiler
        return {
            "document": self.document,
            "inputs": self.inputs,
            "precision": self.precision,
            "integrator": self.integrator,
            "limits": compiler.limits,
            "backend": compiler.backend,
        }

    def __setstate__(self, state: dict[str, Datum]) -> None:
        MdfModel.__init__(self, **state)

    @property
    def graph(self) -> Graph:
        """The graph that runs."""
        return next(iter(self.document.graphs.values()))

    def simulate(
        self,
        steps: int = 0,
        dt: float | None = None,
        *,
        record: Sequence[str] | None = None,
        initial: Mapping[str, Datum] | None = None,
        batch: int | Mapping[str, Datum] | None = None,
        state: SavedState | None = None,
        inputs: Mapping[str, Datum] | None = None,
        seed: int = 0,
        replay: Mapping[str, Datum] | None = None,
    ) -> Simulation:
        """Evaluate the graph once without a time step, then `steps` times with the time step `dt` (none where None).

        `record`: names such as "FN.V", all output ports where None. `initial`: values by name, of stateful parameters
        at the start, of fixed parameters and unconnected input ports all the time. `batch`: a number of equal parameter
        sets, or arrays by name whose first axis goes over the sets. `state`: go on from an earlier result, without an
        evaluation before the steps. `inputs`: rows for unconnected input ports, one in each evaluation from the very
        first on; after the last one a port is as the file has it. `seed`: equal seeds give equal random numbers, each
        by its node, part, evaluation and parameter set. `replay`: numbers that stand for draws, by the name of node and
        part, a row an evaluation. Errors: LoadError, RunError.
        """
        check_forms(record=record, initial=initial, state=state, inputs=inputs, replay=replay)
        if not isinstance(seed, int | np.integer) or not -(2**63) <= seed < 2**63:
            raise RunError(f"seed is {seed!r}, expected a whole number of 64 bits")
        request = self._request(steps, dt, record, batch, state, initial or {})
        drawn = {name: as_number(values) for name, values in (replay or {}).items()}
        request = replace(request, seed=seed, replay=drawn, series=self._rows(inputs or {}))
        self._check_replay(request)
        if request.state.engine is not None:
            return interpreted(self.graph, request, self.inputs, self._compiler.limits)
        try:
            prepared = self._compiler.prepared(request)
        except WhorlError as error:
            if not request.state.done:
                return interpreted(self.graph, request, self.inputs, self._compiler.limits)
            raise RunError(f"a compiled run cannot go on interpreted: {error}", fix="simulate from the start") from None
        return prepared()

    def is_compiled(self) -> bool:
        """Whether the model runs as one native loop; `explain` says why it does not."""
        return self._reason() is None

    def explain(self) -> str:
        """How the model runs: as one native loop, or by the interpreter for which reason."""
        reason = self._reason()
        return "compiled" if reason is None else f"interpreted: {reason}"

    def _reason(self) -> str | None:
        try:
            self._compiler.prepared(self._request(1, 1.0, None, None, None, {}))
        except WhorlError as error:
            return str(error)
        return None

    def problems(self) -> list[tuple[str, str, str, str, str]]:
        """What is odd about the model: code, severity, place, message and what to do. Errors: LoadError."""
        where = f"graph {self.graph.id!r}"
        warnings = Engine(self.graph, self.inputs).warnings
        faults = [("left-to-chance", "warning", where, text, "say it by an order of the nodes") for text in warnings]
        reason = self._reason()
        if reason is not None:
            faults.append(("interpreted", "note", where, f"it is not compiled: {reason}", "see docs/mdf.md"))
        return faults

    def module(self, *, record: Sequence[str] | None = None, has_dt: bool | None = None) -> Module:
        """The model over time as a module of the hub: a `Loop` that carries the state.

        A graph that was written from an ONNX model is that model again, unless something of this is asked for.
        Inputs: `steps`; `dt` where a parameter has a time derivative, or as `has_dt` says; with the file's values as
        defaults the initial values of stateful parameters and the unconnected input ports. Outputs: what is recorded,
        with `steps` + 1 rows.
        Errors: UnsupportedError for a model that cannot be compiled.
        """
        own = onnx_module(self.graph) if record is None and has_dt is None else None
        if own is not None:
            return own
        names = {name: self.cell(name) for name in self.recorded(record)}
        has_dt = self.has_derivatives if has_dt is None else has_dt
        return module_of(self.graph, names, has_dt, self.inputs == "0.4.13", self.precision, self.integrator)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Datum:
        """A matplotlib Figure of the graph; it is also written to `path` (.png, .svg, .pdf).

        Errors: UnsupportedError without matplotlib; SaveError.
        """
        figure = plot_graph(self.graph)
        if path is not None:
            write_figure(figure, path)
        return figure

    @property
    def has_derivatives(self) -> bool:
        """Whether a time step means something to the model."""
        parameters = [p for node in self.graph.nodes.values() for p in node.parameters.values()]
        return any(parameter.time_derivative is not None for parameter in parameters)

    # ---- what is asked for ---------------------------------------------------------------------------------------

    def _request(
        self,
        steps: int,
        dt: float | None,
        record: Sequence[str] | None,
        batch: int | Mapping[str, Datum] | None,
        state: SavedState | None,
        initial: Mapping[str, Datum],
    ) -> Request:
        if not isinstance(steps, int | np.integer) or steps < 0:
            raise RunError(f"steps is {steps!r}, expected a whole number that is not negative")
        if dt is not None and not (isinstance(dt, int | float | np.number) and math.isfinite(dt)):
            raise RunError(f"dt is {dt!r}, expected a finite number, or None for evaluations without a time step")
        state = state or SavedState()
        overrides = {cell: self._value(cell, value, f"initial[{name!r}]") for name, value, cell in self._cells(initial)}
        overrides = {**state.overrides, **overrides}
        sets, size = self._sets(batch)
        return Request(
            steps=int(steps),
            dt=None if dt is None else float(dt),
            record={name: self.cell(name) for name in self.recorded(record)},
            overrides={cell: array for cell, array in overrides.items() if cell not in sets},
            sets={**state.sets, **sets},
            batch=state.batch if size is None else size,
            state=state,
            inputs_persist=self.inputs == "0.4.13",
            precision=self.precision,
            integrator=self.integrator,
        )

    def _rows(self, inputs: Mapping[str, Datum]) -> dict[Cell, np.ndarray]:
        rows_of = {}
        for name, values, cell in self._cells(inputs):
            rows = as_number(values).astype(np.float64)
            if cell.kind != INPUT or not rows.ndim or not len(rows):
                raise RunError(
                    f"inputs[{name!r}] needs rows for an input port", fix="an array with a row an evaluation"
                )
            rows_of[cell] = self._spread_rows(cell, name, rows)
        return rows_of

    def _spread_rows(self, cell: Cell, name: str, rows: np.ndarray) -> np.ndarray:
        """Rows that have fewer axes than their port, spread over its shape as values of `initial` are."""
        shape = self._shape(cell) or ()
        if rows.ndim - 1 >= len(shape):
            return rows
        return self._value(cell, rows, f"inputs[{name!r}]", sets=True)

    def _check_replay(self, request: Request) -> None:
        needed = request.state.done + request.evaluations
        for name, rows in request.replay.items():
            if len(np.atleast_1d(rows)) < needed:
                raise RunError(f"replay[{name!r}] has {np.size(rows)} rows, expected {needed}", fix="one an evaluation")

    def recorded(self, record: Sequence[str] | None) -> list[str]:
        """The names to record: those given, or all output ports."""
        if record is not None:
            return [record] if isinstance(record, str) else list(record)
        return [f"{node.id}.{port}" for node in self.graph.nodes.values() for port in node.output_ports]

    def cell(self, name: str) -> Cell:
        """What a name means: "node.id", or with its kind "node.parameters.id" where a node uses an id twice."""
        if name in self._named:
            return self._named[name][0]
        known = [str(cell) for cell in self._all_cells()]
        close = difflib.get_close_matches(name, known, 3) or known[:8]
        raise RunError(f"the model has no {name!r}", fix=f"names are {', '.join(close)}")

    @cached_property
    def _named(self) -> dict[str, list[Cell]]:
        """What each name may mean, in the order in which that counts."""
        cells: dict[str, list[Cell]] = {}
        for cell in self._all_cells():
            for name in cell.names:
                cells.setdefault(name, []).append(cell)
        return cells

    def _all_cells(self) -> list[Cell]:
        nodes = self.graph.nodes.values()
        parts = {OUTPUT: "output_ports", PARAMETER: "parameters", FUNCTION: "functions", INPUT: "input_ports"}
        return [Cell(node.id, kind, id) for kind, part in parts.items() for node in nodes for id in getattr(node, part)]

    def _cells(self, values: Mapping[str, Datum]) -> list[tuple[str, Datum, Cell]]:
        """Values with the parameters and input ports that they stand for."""
        connected = {(edge.receiver, edge.receiver_port) for edge in self.graph.edges.values()}
        matches = []
        for name, value in values.items():
            cells = [cell for cell in self._named.get(name, ()) if cell.kind in (PARAMETER, INPUT)]
            if not cells:
                self.cell(name)
                raise RunError(f"{name!r} is computed", fix="give values of parameters and input ports")
            if cells[0].kind == INPUT and (cells[0].node, cells[0].id) in connected:
                raise RunError(f"input port {name!r} has an edge", fix="give a value to what the edge comes from")
            self._check_free(cells[0], name)
            matches.append((name, value, cells[0]))
        return matches

    def _check_free(self, cell: Cell, name: str) -> None:
        if cell.kind == INPUT:
            return
        parameter = self.graph.nodes[cell.node].parameters[cell.id]
        if not is_stateful(parameter) and (parameter.function or is_expression(parameter.value)):
            raise RunError(f"parameter {name!r} is computed", fix="give values of parameters that are numbers")

    def _value(self, cell: Cell, value: Datum, what: str, sets: bool = False) -> np.ndarray:
        """A value as an array of the shape that the file has in its place; of `sets` along the first axis."""
        array = as_number(value).astype(np.float64)
        before, own = (array.shape[:1], array.shape[1:]) if sets else ((), array.shape)
        shape = self._shape(cell)
        if shape is None or own == shape:
            return array
        spread = array.reshape(*before, *(1,) * (len(shape) - len(own)), *own)
        try:
            return np.broadcast_to(spread, (*before, *shape)).copy()
        except ValueError:
            raise RunError(f"{what} has the shape {list(own)}, expected {list(shape)}") from None

    def _shape(self, cell: Cell) -> tuple[int, ...] | None:
        """The shape of the value in the file; None where that is an expression, or a port says no shape."""
        node = self.graph.nodes[cell.node]
        if cell.kind == INPUT:
            port = node.input_ports[cell.id]
            return np.asarray(port.default_value).shape if port.default_value is not None else port.shape
        parameter = node.parameters[cell.id]
        value = parameter.default_initial_value if is_stateful(parameter) else parameter.value
        if isinstance(value, str) and value in node.parameters:
            value = node.parameters[value].value
        return None if value is None or is_expression(value) else np.asarray(value).shape

    def _sets(self, batch: int | Mapping[str, Datum] | None) -> tuple[dict[Cell, np.ndarray], int | None]:
        """The arrays of a batch and the number of its parameter sets."""
        if batch is None:
            return {}, None
        if not isinstance(batch, Mapping):
            if not isinstance(batch, int | np.integer) or batch < 1:
                raise RunError(f"batch is {batch!r}, expected a number of parameter sets, or arrays by name")
            return {}, int(batch)
        arrays = [(name, np.asarray(value), cell) for name, value, cell in self._cells(batch)]
        sizes = {name: len(array) if array.ndim else 0 for name, array, _ in arrays}
        if len(set(sizes.values())) != 1 or 0 in sizes.values():
            raise RunError(f"the arrays of the batch have the lengths {sizes}, expected one length of 1 or more")
        sets = {cell: self._value(cell, array, f"batch[{name!r}]", sets=True) for name, array, cell in arrays}
        return sets, next(iter(sizes.values()))


FORMS: dict[str, tuple[type, str]] = {
    "record": (Sequence, 'a list of names such as "FN.V"'),
    "initial": (Mapping, "a dictionary of values by name"),
    "inputs": (Mapping, "a dictionary of rows by name"),
    "replay": (Mapping, "a dictionary of drawn numbers by name"),
    "state": (SavedState, "the state of an earlier result"),
}
"""The arguments of `simulate` that are no numbers: their types, and how to say them."""


def check_forms(**values: Datum) -> None:
    """Refuse arguments of `simulate` that are of another kind than they must be."""
    for name, value in values.items():
        kind, text = FORMS[name]
        names = value if kind is Sequence and isinstance(value, Sequence) else ()
        if value is not None and not (isinstance(value, kind) and all(isinstance(each, str) for each in names)):
            raise RunError(f"{name} is {value!r}, expected {text}")


def is_expression(value: Datum) -> bool:
    """Whether a value of a file is a text that is no number."""
    return isinstance(value, str) and read_number(value) is None
