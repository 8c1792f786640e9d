"""`loop` and `scan` over plain arrays: the body is a model in any format, or a Python function."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whorl.api.models import Source, load
from whorl.errors import RunError
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Module, Region, Value
from whorl.ir.infer import Inference, names_in_type, unshaped
from whorl.ir.op import as_values
from whorl.ir.types import TensorType, same_kind, type_of
from whorl.ir.walk import clone_region
from whorl.ops.control import Collected, Loop, Scanned
from whorl.ops.iteration import Iteration
from whorl.runtime.limits import Budget, Limits
from whorl.runtime.feeds import checked
from whorl.runtime.session import Session

Body = Callable[..., Any] | Source


def loop(
    M: Any,
    cond: Any,
    *v_initial: Any,
    body: Body,
    max_iterations: int | None = None,
    timeout: float | None = None,
) -> list[Any]:
    """ONNX Loop on arrays: final states, then what the body collected, stacked on a new first axis.

    `M`, `cond`: trip count and condition, each one element, or None or "" where omitted. `body` takes (iteration int64,
    condition bool, *states) and gives (condition, *states, *elements); a graph, or a Python function over arrays.
    Errors: RunError, LimitError. Source: ONNX Loop-25.
    """
    limits = Limits(max_iterations, timeout)
    trip, condition = _optional(M, INT64), _optional(cond, BOOL)
    if callable(body):
        states = [_array(value) for value in v_initial]
        return _call(Loop(len(states)), [trip, condition, *states], body, 2, limits)
    region = _body(body, 2 + len(v_initial), 1 + len(v_initial))
    states = [_fitting(v, region.arguments[2 + k]) for k, v in enumerate(v_initial)]
    op = Loop(len(states), (), (Collected(),) * (len(region.results) - 1 - len(states)))
    return _run(op, [trip, condition, *states], region, limits)


def scan(
    *state_and_scan_inputs: Any,
    body: Body,
    num_scan_inputs: int,
    scan_input_axes: Sequence[int] | None = None,
    scan_input_directions: Sequence[int] | None = None,
    scan_output_axes: Sequence[int] | None = None,
    scan_output_directions: Sequence[int] | None = None,
    max_iterations: int | None = None,
    timeout: float | None = None,
) -> list[Any]:
    """ONNX Scan on arrays: final states, then the scan outputs.

    The last `num_scan_inputs` arrays are sliced along `scan_input_axes` (default 0), direction 1 is backwards. `body`
    takes (*states, *slices) and gives (*states, *elements). Errors: RunError, LimitError. Source: ONNX Scan-25.
    """
    states = len(state_and_scan_inputs) - num_scan_inputs
    if num_scan_inputs < 1 or states < 0:
        raise RunError(f"num_scan_inputs is {num_scan_inputs}, with {len(state_and_scan_inputs)} arrays given")
    axes = _entries(scan_input_axes, num_scan_inputs, "scan_input_axes")
    backwards = _entries(scan_input_directions, num_scan_inputs, "scan_input_directions")
    scanned = tuple(Scanned(axis, bool(back)) for axis, back in zip(axes, backwards, strict=True))
    op, limits = Loop(states, scanned, keep_shapes=True), Limits(max_iterations, timeout)

    def joined(count: int) -> tuple[Collected, ...]:
        axes = _entries(scan_output_axes, count, "scan_output_axes")
        backwards = _entries(scan_output_directions, count, "scan_output_directions")
        return tuple(Collected(axis, bool(back)) for axis, back in zip(axes, backwards, strict=True))

    if callable(body):
        arrays = [_array(value) for value in state_and_scan_inputs]
        return _call(op, [None, None, *arrays], body, 0, limits, joined)
    region = _body(body, len(state_and_scan_inputs), states)
    arrays = [_fitting(v, region.arguments[k]) for k, v in enumerate(state_and_scan_inputs)]
    number, go_on = (
        Value("iteration", TensorType(INT64, ()), region, 0),
        Value("go_on", TensorType(BOOL, ()), region, 1),
    )
    region.arguments[:0] = [number, go_on]
    region.results.insert(0, go_on)
    op = dataclasses.replace(op, collected=joined(len(region.results) - 1 - states))
    return _run(op, [None, None, *arrays], region, limits)


def _entries(values: Sequence[int] | None, count: int, what: str) -> Sequence[int]:
    values = (0,) * count if values is None else values
    if len(values) != count:
        raise RunError(f"{what} has {len(values)} entries, expected {count}")
    return values


def _optional(value: Any, dtype: np.dtype) -> np.ndarray | None:
    if value is None or (isinstance(value, str) and not value):
        return None
    return checked(value, TensorType(dtype), "the trip count" if dtype == INT64 else "the condition")


def _array(value: Any) -> Any:
    return value if value is None or isinstance(value, list) else np.asarray(value)


def _fitting(value: Any, argument: Value) -> Any:
    return checked(value, unshaped(argument.type), f"{argument.name!r} of the body")


def _body(body: Any, inputs: int, outputs: int) -> Region:
    """A copy of the graph that a body is, with the numbers of inputs and outputs checked."""
    region = clone_region(load(body).main)
    if len(region.arguments) != inputs or len(region.results) < outputs:
        raise RunError(
            f"the body takes {len(region.arguments)} inputs and gives {len(region.results)} outputs, "
            f"expected {inputs} and at least {outputs}"
        )
    return region


def _run(op: Loop, inputs: list[Any], body: Region, limits: Limits) -> list[Any]:
    """A program of one Loop, run once."""
    region, inference = Region("main"), Inference(set().union(*(names_in_type(v.type) for v in body.arguments)))
    operands = [
        None if value is None else region.add_argument(f"input_{k}", type_of(value)) for k, value in enumerate(inputs)
    ]
    names = [value.name for value in body.results[1:]]
    region.results = Builder(region, inference).add_many(op, operands, names, [body], "loop")
    module = Module(region, [f"output_{k}" for k in range(len(names))])
    feeds = {f"input_{k}": value for k, value in enumerate(inputs) if value is not None}
    return Session(module, limits).execute(None, feeds)


def _call(
    op: Loop,
    inputs: list[Any],
    body: Callable[..., Any],
    first: int,
    limits: Limits,
    joined: Callable[[int], tuple[Collected, ...]] = lambda count: (Collected(),) * count,
) -> list[Any]:
    """The loop over a Python function; what it collects is known after its first call, so no call collects nothing."""
    iteration, budget = Iteration(op, inputs, (0, 0)), Budget(limits, lambda: False)
    while (arguments := iteration.next()) is not None:
        budget.check_iteration(iteration.index)
        answer = body(*arguments[2 - first :])
        results = [np.asarray(v) if not isinstance(v, list) and v is not None else v for v in as_values(answer)]
        if not first:
            results.insert(0, np.array(True))
        if iteration.index == 0:
            op = dataclasses.replace(op, collected=joined(len(results) - 1 - op.carried))
            iteration.op, iteration.elements = op, [[] for _ in op.collected]
        _check(op, arguments, results, iteration.index)
        iteration.take(results)
    collected = iteration.collected() if iteration.index else []
    return [*(np.array(v) if isinstance(v, np.ndarray) else v for v in iteration.state), *collected]


def _check(op: Loop, arguments: list[Any], results: list[Any], index: int) -> None:
    """A Python body must give as many values as before, and keep the element type of each state."""
    if len(results) != 1 + op.carried + len(op.collected):
        raise RunError(
            f"the body gave {len(results)} values in iteration {index}, expected {1 + op.carried + len(op.collected)}"
        )
    for k in range(op.carried):
        before, after = type_of(arguments[2 + k]), type_of(results[1 + k])
        if not same_kind(before, after):
            raise RunError(
                f"state {k} is {before} before iteration {index} and {after} after it", fix="keep its element type"
            )
