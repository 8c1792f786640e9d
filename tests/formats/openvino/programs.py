"""Random IR programs of Loop, TensorIterator and If, as text with weights and inputs, for differential tests.

All numbers are small whole ones, so that results are exact in any order and in the 32-bit integers that OpenVINO's CPU
plugin computes in. What that plugin is known to get wrong is left out: states whose Result is a Parameter or that begin
as another one, conditions that are constant and false, values of the last iteration and concatenated scalars where no
iteration may run, what is concatenated where the first condition is false, elements that are empty, iterators over
nothing, and slices that nothing needs, with which it drops the number of iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

PRECISIONS = {"f32": "FP32", "i32": "I32", "i64": "I64", "boolean": "BOOL"}
NUMPY = {"f32": np.float32, "i32": np.int32, "i64": np.int64, "boolean": np.bool_}
SIZES = (0, 1, 2, 3)
TRIPS = (0, 1, 2, 4)


@dataclass(frozen=True)
class Wire:
    """An output of a layer: where it comes from, its element type, and its shape in every run."""

    layer: int
    port: int
    dtype: str
    shape: tuple[int, ...]


@dataclass
class Program:
    """An IR file, and the inputs it is run with, by position."""

    xml: bytes
    weights: bytes
    runs: list[list[np.ndarray]]


@dataclass
class Graph:
    """The layers and edges of one net; all nets of a file share the weights."""

    rng: Random
    weights: bytearray
    depth: int
    in_iterator: bool = False
    layers: list[str] = field(default_factory=list)
    edges: list[str] = field(default_factory=list)
    pool: list[Wire] = field(default_factory=list)
    concatenates: bool = False
    stops: bool = False

    def layer(
        self,
        type: str,
        inputs: Sequence[Wire] = (),
        outputs: Sequence[tuple[str, tuple[int, ...]]] = (),
        opset: int = 1,
        inside: str = "",
        **data: Any,
    ) -> list[Wire]:
        """Add a layer connected to its inputs."""
        id, n = len(self.layers), len(inputs)
        text = f'<layer id="{id}" name="{type}_{id}" type="{type}" version="opset{opset}">'
        if data:
            text += "<data " + " ".join(f'{key}="{value}"' for key, value in data.items()) + "/>"
        before, after = inside.split("|") if inside else ("", "")
        text += before
        if inputs:
            text += "<input>" + "".join(f'<port id="{k}"/>' for k in range(n)) + "</input>"
        if outputs:
            ports = (f'<port id="{n + k}" precision="{PRECISIONS[t]}"/>' for k, (t, _) in enumerate(outputs))
            text += "<output>" + "".join(ports) + "</output>"
        self.layers.append(text + after + "</layer>")
        for k, wire in enumerate(inputs):
            ends = f'from-layer="{wire.layer}" from-port="{wire.port}" to-layer="{id}" to-port="{k}"'
            self.edges.append(f"<edge {ends}/>")
        return [Wire(id, n + k, dtype, shape) for k, (dtype, shape) in enumerate(outputs)]

    def constant(self, value: Any, dtype: str) -> Wire:
        array = np.asarray(value, NUMPY[dtype])
        offset, stored = len(self.weights), array.tobytes()
        self.weights += stored
        shape = ",".join(map(str, array.shape))
        return self.layer(
            "Const", (), [(dtype, array.shape)], element_type=dtype, shape=shape, offset=offset, size=len(stored)
        )[0]

    def parameter(self, dtype: str, shape: tuple[int, ...], is_open: bool = False) -> Wire:
        text = ",".join("?" if is_open else str(n) for n in shape)
        return self.layer("Parameter", (), [(dtype, shape)], shape=text, element_type=dtype)[0]

    def result(self, wire: Wire) -> int:
        self.layer("Result", [wire])
        return len(self.layers) - 1

    def text(self) -> str:
        return f"<layers>{''.join(self.layers)}</layers><edges>{''.join(self.edges)}</edges>"

    def child(self, in_iterator: bool) -> Graph:
        return Graph(self.rng, self.weights, self.depth - 1, in_iterator)

    # ---- values --------------------------------------------------------------------------------------------------

    def one_of(self, *choices: Any) -> Any:
        return self.rng.choice(choices)

    def flag(self) -> bool:
        return self.rng.random() < 0.5

    def numbers_of(self, shape: tuple[int, ...]) -> np.ndarray:
        """Small whole numbers."""
        return np.random.default_rng(self.rng.getrandbits(32)).integers(-4, 5, shape)

    def binary(self, x: Wire, y: Wire) -> Wire:
        """Two tensors of one type, or one and a scalar."""
        kind = self.one_of("Add", "Subtract", "Maximum", "Minimum")
        return self.layer(kind, [x, y], [(x.dtype, x.shape)], auto_broadcast="numpy")[0]

    def computed(self, x: Wire) -> Wire:
        """Something of the type of a tensor that depends on it."""
        others = [w for w in self.pool if (w.dtype, w.shape) == (x.dtype, x.shape)]
        if others and self.flag():
            return self.binary(x, self.one_of(*others))
        return self.binary(x, self.constant(self.rng.randint(-2, 3), x.dtype))

    def like(self, dtype: str, shape: tuple[int, ...]) -> Wire:
        """A tensor of a type, from the pool if there is one."""
        actual = [w for w in self.pool if (w.dtype, w.shape) == (dtype, shape)]
        return self.one_of(*actual) if actual else self.constant(np.ones(shape), dtype)

    def total(self, x: Wire) -> Wire:
        """The sum of a tensor, as a scalar."""
        if not x.shape:
            return x
        axes = self.constant(np.arange(len(x.shape)), "i64")
        return self.layer("ReduceSum", [x, axes], [(x.dtype, ())], keep_dims="false")[0]

    def converted(self, x: Wire, dtype: str) -> Wire:
        return self.layer("Convert", [x], [(dtype, x.shape)], destination_type=dtype)[0]

    def grow(self) -> None:
        """Add a value or several to the pool."""
        kinds = ["computed"] * 3 + (["If", "Loop", "Loop", "TensorIterator"] if self.depth else [])
        if self.in_iterator:
            kinds = [kind for kind in kinds if kind != "TensorIterator"]
        match self.one_of(*kinds):
            case "computed":
                self.pool.append(self.computed(self.one_of(*self.numbers())))
            case "If":
                self.pool += branch(self)
            case "Loop":
                self.pool += loop(self)
            case _:
                self.pool += iterator(self)[:1]

    def numbers(self) -> list[Wire]:
        return [wire for wire in self.pool if wire.dtype in ("f32", "i32")]


@dataclass
class Body:
    """What connects a body with its layer."""

    graph: Graph
    inputs: list[Wire]
    ports: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    edges: list[str] = field(default_factory=list)
    types: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)

    def take(self, wire: Wire, shape: tuple[int, ...] | None = None, how: str = "", is_open: bool = False) -> Wire:
        """A Parameter fed by an input of the layer."""
        inner = self.graph.parameter(wire.dtype, wire.shape if shape is None else shape, is_open)
        self.ports.append(f'<input external_port_id="{len(self.inputs)}" internal_layer_id="{inner.layer}"{how}/>')
        self.inputs.append(wire)
        return inner

    def give(self, result: int, dtype: str, shape: tuple[int, ...], how: str = "") -> None:
        """An output of the layer. Its number among the ports is told once all inputs are there."""
        number = len(self.outputs)
        self.outputs.append(f'<output external_port_id="{{{number}}}" internal_layer_id="{result}"{how}/>')
        self.types.append((dtype, shape))

    def map(self, extra: str = "") -> str:
        first = len(self.inputs)
        outputs = "".join(self.outputs).format(*range(first, first + len(self.outputs)))
        return "".join(self.ports) + outputs + extra


def sliced(graph: Graph, body: Body, count: int, wire: Wire | None = None) -> Wire:
    """A tensor that falls into `count` parts or more, given to the body part by part."""
    rank = graph.one_of(1, 2, 3)
    axis, part, back = graph.rng.randint(0, rank - 1), graph.one_of(1, 1, 2), graph.flag()
    shape = [graph.one_of(1, 2, 3) for _ in range(rank)]
    shape[axis] = part * count
    dtype = graph.one_of("f32", "i32")
    whole = graph.constant(graph.numbers_of(tuple(shape)), dtype)
    shape[axis] = part
    start, end, stride = (-1, 0, -part) if back else (0, -1, part)
    how = f' axis="{axis}" start="{start}" end="{end}" stride="{stride}" part_size="{part}"'
    return body.take(whole, tuple(shape), how)


def states(graph: Graph, body: Body) -> list[Wire]:
    """Parameters with initial values, each of which no other input has."""
    wires = [graph.computed(graph.one_of(*graph.numbers())) for _ in range(graph.rng.randint(1, 2))]
    return [body.take(wire, is_open=graph.flag()) for wire in wires]


def collect(graph: Graph, body: Body, trips: int, may_be_last: bool) -> None:
    """Outputs besides the carried values: concatenated ones, and values of the last iteration."""
    inner = body.graph
    for _ in range(graph.rng.randint(0, 2)):
        wire = inner.computed(graph.one_of(*inner.numbers()))
        result = inner.result(wire)
        axes = list(range(len(wire.shape))) if all(wire.shape) else []
        if may_be_last and graph.flag():
            body.give(result, wire.dtype, wire.shape)
        elif axes or (may_be_last and not wire.shape):
            ones = [axis for axis in axes if wire.shape[axis] == 1] or axes
            axis, back = (graph.one_of(*axes, *ones) if axes else 0), graph.one_of(False, False, True)
            part, shape = (wire.shape[axis] if wire.shape else 1), list(wire.shape or (1,))
            shape[axis] *= trips
            start, end, stride = (-1, 0, -part) if back else (0, -1, part)
            how = f' axis="{axis}" start="{start}" end="{end}" stride="{stride}" part_size="{part}"'
            body.give(result, wire.dtype, tuple(shape), how)
            graph.concatenates = True


def carry(body: Body, carried: Sequence[Wire], slices: Sequence[Wire] = ()) -> None:
    """Results that the states take over, given by the layer too; the first state depends on the slices."""
    inner = body.graph
    for k, state in enumerate(carried):
        after = inner.computed(state)
        for wire in slices if not k else ():
            after = inner.binary(after, inner.converted(inner.total(wire), state.dtype))
        result = inner.result(after)
        body.edges.append(f'<edge from-layer="{result}" to-layer="{state.layer}"/>')
        body.give(result, state.dtype, state.shape)


def fill(graph: Graph, body: Body, carried: Sequence[Wire]) -> None:
    """Let a body see its states, values from around, and what it computes of them."""
    inner = body.graph
    inner.pool += carried
    if graph.flag():
        inner.pool.append(body.take(graph.one_of(*graph.numbers())))
    for _ in range(graph.rng.randint(0, 2)):
        inner.grow()


def loop(graph: Graph, run_trips: Wire | None = None, run_condition: Wire | None = None, trips: int = -1) -> list[Wire]:
    """A Loop; those inside have a constant trip count. At the top trips come from an input of the program."""
    inner = graph.child(in_iterator=False)
    least = trips if run_trips is not None else graph.one_of(*TRIPS, 1, 2, 3)
    rank, dtype = graph.one_of((), (1,)), graph.one_of("i32", "i64")
    trip = run_trips or graph.constant(np.full(rank, least), dtype)
    condition = run_condition or graph.constant(np.full(graph.one_of((), (1,)), True), "boolean")
    body = Body(inner, [trip, condition])
    carried = states(graph, body)
    number = number_of(graph, body)
    stops = graph.flag()
    limit = graph.rng.randint(1, 3) if stops else least
    graph.stops = stops and limit <= least
    if graph.flag():
        inner.pool.append(sliced(graph, body, max(least, 1) + graph.one_of(0, 1)))
    fill(graph, body, carried)
    if stops:
        answer = inner.layer(
            "Less",
            [number, inner.constant(np.full(number.shape, limit - 1), number.dtype)],
            [("boolean", number.shape)],
            auto_broadcast="numpy",
        )[0]
    else:
        answer = inner.constant(np.full(graph.one_of((), (1,)), True), "boolean")
    last = f'<output external_port_id="-1" internal_layer_id="{inner.result(answer)}" purpose="execution_condition"/>'
    carry(body, carried)
    collect(graph, body, min(least, limit), may_be_last=run_trips is None and least > 0)
    inside = f"<port_map>{body.map(last)}</port_map><back_edges>{''.join(body.edges)}</back_edges>|"
    return graph.layer("Loop", body.inputs, body.types, 5, inside + f"<body>{inner.text()}</body>")


def number_of(graph: Graph, body: Body) -> Wire:
    """The iteration number, of either type and rank; the body may compute with it as a float."""
    inner, shape, dtype = body.graph, graph.one_of((), (1,)), graph.one_of("i32", "i64")
    number = inner.parameter(dtype, shape)
    body.ports.append(f'<input external_port_id="-1" internal_layer_id="{number.layer}" purpose="current_iteration"/>')
    inner.pool.append(inner.converted(number, graph.one_of("f32", "i32")))
    return number


def iterator(graph: Graph) -> list[Wire]:
    """A TensorIterator over one tensor or two."""
    inner = graph.child(in_iterator=True)
    body, count = Body(inner, []), graph.one_of(1, 2, 4)
    carried = states(graph, body)
    slices = [sliced(graph, body, count) for _ in range(graph.rng.randint(1, 2))]
    inner.pool += slices
    fill(graph, body, carried)
    carry(body, carried, slices)
    collect(graph, body, count, may_be_last=True)
    inside = f"<port_map>{body.map()}</port_map><back_edges>{''.join(body.edges)}</back_edges>|"
    return graph.layer("TensorIterator", body.inputs, body.types, 1, inside + f"<body>{inner.text()}</body>")


def branch(graph: Graph, condition: Wire | None = None) -> list[Wire]:
    """An If on an input, or on whether the first element of something is positive."""
    if condition is None:
        condition = is_positive(graph)
    like = graph.one_of(*graph.numbers())
    inputs, texts = [condition], []
    for key in ("then", "else"):
        inner = graph.child(graph.in_iterator)
        body = Body(inner, inputs)
        inner.pool.append(body.take(like))
        if graph.flag():
            inner.pool.append(body.take(graph.one_of(*graph.numbers())))
        for _ in range(graph.rng.randint(0, 1)):
            inner.grow()
        body.give(inner.result(inner.computed(inner.pool[0])), like.dtype, like.shape)
        texts.append((key, body, inner))
    maps = "".join(f"<{key}_port_map>{body.map()}</{key}_port_map>" for key, body, _ in texts)
    bodies = "".join(f"<{key}_body>{inner.text()}</{key}_body>" for key, _, inner in texts)
    return graph.layer("If", inputs, [(like.dtype, like.shape)], 8, f"{maps}|{bodies}")


def is_positive(graph: Graph) -> Wire:
    """Whether the sum of a tensor is positive, as a scalar."""
    total = graph.total(graph.one_of(*graph.numbers()))
    zero = graph.constant(0, total.dtype)
    return graph.layer("Greater", [total, zero], [("boolean", ())], auto_broadcast="numpy")[0]


@st.composite
def programs(draw: Any, sizes: Sequence[int] = SIZES, depth: int = 2) -> Program:
    """A program with one Loop, TensorIterator or If at the top, and up to two deeper; with runs for its trip counts."""
    weights = bytearray()
    graph = Graph(draw(st.randoms(use_true_random=True)), weights, depth)
    shapes = [tuple(graph.one_of(*sizes) for _ in range(graph.one_of(0, 1, 2))) for _ in range(2)]
    dtypes = [graph.one_of("f32", "i32") for _ in shapes]
    is_open = graph.flag()
    parameters = [graph.parameter(t, shape, is_open) for t, shape in zip(dtypes, shapes, strict=True)]
    graph.pool += parameters
    feeds = [graph.numbers_of(shape).astype(NUMPY[t]) for t, shape in zip(dtypes, shapes, strict=True)]
    kind, runs = graph.one_of("Loop", "Loop", "TensorIterator", "If"), [feeds]
    if kind == "Loop":
        most = graph.one_of(2, 4)
        type, rank = graph.one_of("i32", "i64"), graph.one_of((), (1,))
        trip, go = graph.parameter(type, rank), graph.parameter("boolean", graph.one_of((), (1,)))
        wires = loop(graph, trip, go, most)
        pairs = [(n, True) for n in (0, 1, 2, most)] + [(-1, True)] * graph.stops
        pairs += [(most, False)] * (not graph.concatenates)
        runs = [[*feeds, np.full(rank, n, NUMPY[type]), np.full(go.shape, g)] for n, g in pairs]
    elif kind == "If":
        go = graph.parameter("boolean", graph.one_of((), (1,)))
        wires = branch(graph, go)
        runs = [[*feeds, np.full(go.shape, g)] for g in (True, False)]
    else:
        wires = iterator(graph)
    for wire in wires:
        graph.result(wire)
    for wire in parameters:
        graph.result(graph.computed(wire))
    xml = f'<?xml version="1.0"?><net name="p" version="11">{graph.text()}</net>'
    return Program(xml.encode(), bytes(weights), runs)
