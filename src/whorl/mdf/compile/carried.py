"""What a loop carries: the types that hold a value before and after an iteration, and passes repeated as a Loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from whorl.errors import UnsupportedError
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, FLOAT64, INT64
from whorl.ir.graph import Value
from whorl.ir.types import TensorType, tensor
from whorl.mdf.compile.scope import Scope, Traced, as_number, is_same, lengths
from whorl.mdf.compile.tracer import Tracer
from whorl.mdf.model import Datum
from whorl.mdf.variables import COUNTER, Cell, State
from whorl.ops.control.flow import Loop
from whorl.ops.elementwise.casting import Cast

MOST_PASSES = 1 << 20
"""Passes of one evaluation."""


class ShapeChange(Exception):
    """An iteration would change the shape of a carried value, or is the first to give it one."""


def carried_type(cell: Cell, before: Datum, after: Datum, known: TensorType | None, batched: bool) -> TensorType:
    """The type of a carried value that is known to have been one type already. Errors: ShapeChange."""
    if before is None or after is None:
        raise ShapeChange(f"{cell} has no value at first")
    (old, old_shape), (new, shape) = (type_of(cell, value, batched) for value in (before, after))
    if old_shape != shape and not differ_in_batch(old_shape, shape, batched):
        raise ShapeChange(f"{cell} has the shape {list(old_shape)}, then {list(shape)}")
    dtypes = {old, new, new if known is None else known.dtype}
    return TensorType(FLOAT64 if len(dtypes) > 1 else new, shape)


def type_of(cell: Cell, datum: Datum, batched: bool) -> tuple[np.dtype, tuple[Dim, ...]]:
    """The element type and the shape that a value has in a region."""
    if isinstance(datum, Traced):
        return datum.type.dtype, lengths(datum)
    array = as_number(datum, cell.kind == COUNTER)
    return array.dtype, (*array.shape, 1) if batched else array.shape


def differ_in_batch(old: tuple[Dim, ...], new: tuple[Dim, ...], batched: bool) -> bool:
    """Whether a value is the same for all parameter sets at first only."""
    return batched and len(old) == len(new) and old[:-1] == new[:-1] and old[-1] == 1


def as_type(scope: Scope, datum: Datum, type: TensorType) -> Value:
    """A value cast and, along the batch, repeated to a type; one for equal requests."""
    value = scope.value(datum, whole=type.dtype == INT64)
    if tensor(value) == type:
        return value
    key = value, str(type)
    if key not in scope.made:
        scope.made[key] = _as_type(scope, value, type)
    return scope.made[key]


def _as_type(scope: Scope, value: Value, type: TensorType) -> Value:
    if tensor(value).dtype != type.dtype:
        value = scope.build.add(Cast(to=type.dtype), value)
    if tensor(value).shape != type.shape:
        assert isinstance(type.shape, tuple)
        value = scope.repeated(value, type.shape)
    return value


def repeat(
    tracer: Tracer, goes_on: Callable[[Tracer], Datum], trace: Callable[[Tracer], None], most: int = MOST_PASSES
) -> None:
    """Trace a Loop that runs while a condition holds; what it changes is in the tracer's state afterwards."""
    scope, carried = tracer.scope, dict[Cell, TensorType]()
    first = goes_on(tracer)
    while True:
        body = scope.inner("pass")
        body.argument("pass", TensorType(INT64, ()))
        body.argument("go_on", TensorType(BOOL, ()))
        start = {cell: body.argument(str(cell), type) for cell, type in carried.items()}
        inside = replace(tracer, scope=body, state=State(start, tracer.state))
        trace(inside)
        answer = body.truth(goes_on(inside))
        before = {cell: tracer.state[cell] for cell in inside.state.written}
        changed = [c for c in before if not is_same(start.get(c, before[c]), inside.state[c])]
        try:
            wider = {c: carried_type(c, before[c], inside.state[c], carried.get(c), scope.batched) for c in changed}
        except ShapeChange as change:
            raise UnsupportedError(str(change)) from None
        if carried.keys() >= wider.keys() and all(carried[cell] == type for cell, type in wider.items()):
            break
        carried |= wider
    body.region.results = [answer, *(as_type(body, inside.state[cell], type) for cell, type in carried.items())]
    initial = [as_type(scope, tracer.state[cell], type) for cell, type in carried.items()]
    inputs = [scope.constant(np.array(most)), scope.truth(first), *initial, *body.captured]
    names = [str(cell) for cell in carried]
    outputs = scope.build.add_many(Loop(len(carried)), inputs, names, [body.region], name="passes")
    for cell, value in zip(carried, outputs, strict=True):
        tracer.state[cell] = scope.traced(value)
