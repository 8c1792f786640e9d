"""Two ways that an evaluation may go, as an If whose results are the cells that either way changes."""

from __future__ import annotations

from collections.abc import Callable

from whorl.errors import UnsupportedError
from whorl.ir.dtypes import FLOAT64
from whorl.ir.graph import Value
from whorl.ir.types import TensorType
from whorl.mdf.compile.scope import Scope, Traced, is_same
from whorl.mdf.compile.tracer import Tracer
from whorl.mdf.variables import INPUT, Cell
from whorl.ops.control.flow import If
from whorl.ops.elementwise.casting import Cast

Trace = Callable[[Tracer], None]


def branch(tracer: Tracer, condition: Traced, then: Trace, otherwise: Trace) -> None:
    """Trace both ways; what they leave in the tracer's state is what the condition chooses."""
    ways = [tracer.inside(tracer.scope.inner(name)) for name in ("then", "otherwise")]
    for way, trace in zip(ways, (then, otherwise), strict=True):
        trace(way)
    changed = [
        cell
        for cell in dict.fromkeys([*ways[0].state.written, *ways[1].state.written])
        if not is_same(ways[0].state[cell], ways[1].state[cell])
    ]
    for cell in {*ways[0].state.written, *ways[1].state.written} - {*changed}:
        tracer.state[cell] = ways[0].state[cell]
    if not changed:
        return
    pairs = [_equal_types(cell, ways) for cell in changed]
    scopes = [way.scope for way in ways]
    captured = _share_captured(scopes)
    for n, scope in enumerate(scopes):
        scope.region.results = [pair[n] for pair in pairs]
    inputs = [tracer.scope.value(condition), *captured]
    names = [str(cell) for cell in changed]
    outputs = tracer.scope.build.add_many(If(), inputs, names, [scope.region for scope in scopes])
    for cell, value in zip(changed, outputs, strict=True):
        tracer.state[cell] = tracer.scope.traced(value)


def skip(tracer: Tracer) -> None:
    """The way that changes nothing."""


def _equal_types(cell: Cell, ways: list[Tracer]) -> list[Value]:
    """What a cell holds at the end of both ways, with one element type and one shape.

    What a port has passed on is gone, so nobody asks for it where its node did not run.
    """
    ends = [way.state[cell] for way in ways]
    if cell.kind == INPUT and not ways[0].inputs_persist:
        ends = [ends[1] if ends[0] is None else ends[0], ends[0] if ends[1] is None else ends[1]]
    if any(value is None for value in ends):
        raise UnsupportedError(f"{cell} has a value in some evaluations only", fix="give it an initial value")
    whole = all(_is_whole(value) for value in ends)
    values = [way.scope.value(value, whole) for way, value in zip(ways, ends, strict=True)]
    types = [value.type for value in values]
    assert isinstance(types[0], TensorType) and isinstance(types[1], TensorType)
    if types[0].shape != types[1].shape:
        raise UnsupportedError(f"{cell} is {types[0]} in some evaluations and {types[1]} in others")
    if types[0].dtype == types[1].dtype:
        return values
    return [way.scope.build.add(Cast(to=FLOAT64), value) for way, value in zip(ways, values, strict=True)]


def _is_whole(value: object) -> bool:
    """Whether a value is a counter of the schedule."""
    return type(value) is int if not isinstance(value, Traced) else value.type.dtype.kind == "i"


def _share_captured(scopes: list[Scope]) -> list[Value]:
    """Let both regions take the same captured values, in one order."""
    union = list(dict.fromkeys(value for scope in scopes for value in scope.captured))
    for scope in scopes:
        inside = dict(zip(scope.captured, scope.region.arguments, strict=True))
        for value in union:
            if value not in inside:
                inside[value] = scope.region.add_argument(value.name, value.type, value.known)
        scope.region.set_arguments([inside[value] for value in union])
    return union
