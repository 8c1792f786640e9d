"""`locate`: the first iteration in which a condition holds, the node there and what it read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.api.extracting import record_values
from whorl.api.models import Source, load_module
from whorl.api.tracing.recording import Run, copy_module, run_once
from whorl.ir.dtypes import BOOL
from whorl.ir.graph import Module, Node, Op, Value
from whorl.ir.types import TensorType
from whorl.ops.control.flow import Loop
from whorl.ops.elementwise.comparison import IsInf, IsNaN
from whorl.ops.movement.axes import Concat
from whorl.ops.reduce.reductions import ReduceMax
from whorl.passes.expose.adding import add, flat, retype
from whorl.passes.expose.conditions import add_condition, find_values
from whorl.passes.expose.exposure import expose
from whorl.passes.expose.reading import read_records
from whorl.passes.expose.scopes import NamedValue, Scope, is_recordable, scopes_of, values_in
from whorl.runtime.limits import Limits

SPECIAL: Mapping[str, type[Op]] = {"nan": IsNaN, "inf": IsInf}
"""Conditions on every float of every body."""


class Located(Struct, frozen=True):
    """Where a condition holds first.

    `loops`: the paths of the loops around, outermost first, with the iteration of each. `node` makes the value at the
    path `value`, or passes it to the body; `operands` are what it read, by name, and the value itself.
    """

    loops: list[tuple[str, int]]
    node: str
    value: str
    operands: dict[str, Any]


class _Hit(Struct, frozen=True):
    """A value in an iteration in which the condition holds; `order` is when in the run that was."""

    path: str
    iterations: list[int]
    order: tuple[float, ...]


def locate(
    source: Source,
    inputs: Mapping[str, Any],
    condition: str,
    *,
    limits: Limits | None = None,
    backend: str | None = None,
) -> Located | None:
    """The first iteration in which a condition holds, as the model runs; None where it never does.

    `condition`: "nan" or "inf", of any float of any loop or branch, or of the main graph; or one such as
    `abs(h) > 1e6`, of the body that it reads of. The model runs to its end. Errors: LoadError, RunError.
    """
    return locate_in(load_module(source), inputs, condition, partial(run_once, limits=limits, mode=backend))


def locate_in(module: Module, inputs: Mapping[str, Any], condition: str, run: Run) -> Located | None:
    """`locate` in a module, which is left as it is."""
    copy = copy_module(module)
    scopes = scopes_of(copy)
    if condition in SPECIAL:
        hit = _first_special(copy, scopes, inputs, SPECIAL[condition], run)
    else:
        hit = _first_match(copy, scopes, inputs, condition, run)
    return None if hit is None else _describe(module, hit, inputs, run)


def _first_match(
    copy: Module, scopes: Sequence[Scope], inputs: Mapping[str, Any], condition: str, run: Run
) -> _Hit | None:
    path = next(iter(find_values(scopes, condition).values())).path
    flag = add_condition(scopes, condition)
    flag.value.type = TensorType(BOOL, ())
    (exposed,) = expose(copy, [flag], when=flag)
    retype(copy)
    records = read_records(exposed, dict(zip(copy.output_names, run(copy, inputs), strict=True)))
    return _Hit(path, records.iterations[0].tolist(), ()) if records.count else None


def _first_special(
    copy: Module, scopes: Sequence[Scope], inputs: Mapping[str, Any], test: type[Op], run: Run
) -> _Hit | None:
    orders = {node: k for scope in scopes for k, node in enumerate(scope.region.nodes)}
    watched = {scope: [each for each in values_in(scope) if _is_float(each.value)] for scope in scopes}
    watched = {scope: values for scope, values in watched.items() if values}
    flags = [_flags(scope, values, test) for scope, values in watched.items()]
    exposed = expose(copy, flags)
    retype(copy)
    outputs = dict(zip(copy.output_names, run(copy, inputs), strict=True))
    hits: list[_Hit] = []
    for (scope, values), each in zip(watched.items(), exposed, strict=True):
        records = read_records(each, outputs)
        rows = np.asarray(records.values).reshape(records.count, len(values))
        if not rows.any():
            continue
        row = int(rows.any(1).argmax())
        named, iterations = values[int(rows[row].argmax())], records.iterations[row].tolist()
        hits.append(_Hit(named.path, iterations, _order(scope, named.value, iterations, orders)))
    return min(hits, key=lambda hit: hit.order, default=None)


def _is_float(value: Value) -> bool:
    return isinstance(value.type, TensorType) and str(value.type.dtype) in ("float16", "float32", "float64", "bfloat16")


def _flags(scope: Scope, values: Sequence[NamedValue], test: type[Op]) -> NamedValue:
    """For each value whether an element of it passes the test, as one tensor."""
    region = scope.region
    each = [flat(region, add(region, ReduceMax(keepdims=0), add(region, test(), named.value))) for named in values]
    flags = add(region, Concat(0), *each)
    flags.type = TensorType(BOOL, (len(values),))
    return NamedValue(flags, scope, scope.path)


def _order(scope: Scope, value: Value, iterations: list[int], orders: Mapping[Node, int]) -> tuple[float, ...]:
    """When a value is made: by position and iteration from the outside in; what is inside a node comes before it."""
    order: list[float] = []
    numbers = iter(iterations)
    for each in scope.chain:
        if each.node is not None:
            order.append(orders[each.node])
            order += [next(numbers)] if isinstance(each.node.op, Loop) else []
    return (*order, orders[value.owner] if isinstance(value.owner, Node) else -1.0, inf)


def _describe(module: Module, hit: _Hit, inputs: Mapping[str, Any], run: Run) -> Located:
    copy = copy_module(module)
    named = next(each for scope in scopes_of(copy) for each in values_in(scope) if each.path == hit.path)
    scope, owner = named.scope, named.value.owner
    node = owner if isinstance(owner, Node) else scope.node
    operands = [value for value in owner.inputs if value is not None] if isinstance(owner, Node) else []
    values = list(dict.fromkeys(value for value in (*operands, named.value) if is_recordable(value)))
    at = [(loop.path, number) for loop, number in zip(scope.loops, hit.iterations, strict=False)]
    recorded = record_values(copy, scope, values, dict(at), inputs, run) or []
    shown = dict(zip((value.name for value in values), recorded, strict=False))
    return Located(at, "the model's input" if node is None else node.title, hit.path, shown)
