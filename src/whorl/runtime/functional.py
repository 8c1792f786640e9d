"""Loops and branches over plain arrays: the body is a module, or a Python function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.errors import RunError, TypeRuleError
from whorl.ir.build import Builder
from whorl.ir.constants import as_value
from whorl.ir.dtypes import BOOL, INT64, STRING, is_integer
from whorl.ir.graph import Module, Region, Value, as_values
from whorl.ir.infer import Inference, names_in_type, unshaped
from whorl.ir.types import TensorType, Type, same_kind, type_of
from whorl.ir.walk import clone_node, clone_region
from whorl.ops.control.flow import Collected, Loop, Scanned, check_one
from whorl.ops.control.iteration import Iteration
from whorl.ops.elementwise.casting import Cast
from whorl.runtime.feeds import check_tensor, check_value
from whorl.runtime.limits import Budget, Limits
from whorl.runtime.session import Session
from whorl.runtime.values import is_array, is_sequence

Body = Callable[..., Any] | Module
"""Of arrays to arrays; a module may have defaults for inputs that are no part of the loop."""


def run_loop(M: Any, cond: Any, v_initial: Sequence[Any], body: Body, limits: Limits) -> list[Any]:
    """ONNX Loop: final states, then what the body collected, stacked on a new first axis. Errors: RunError."""
    trip, condition = trip_count(M), condition_of(cond)
    if callable(body):
        call = _Call("loop", body, takes_flags=True, collect=_stack_each)
        return call.run(Loop(len(v_initial)), [trip, condition, *map(_copy, v_initial)], limits)
    region, constants = _body(body, 2 + len(v_initial), 1 + len(v_initial))
    _widen_number(region)
    _check_flags(region)
    op = Loop(len(v_initial), (), _stack_each(len(region.results) - 1 - len(v_initial)))
    return _run(
        "loop", op, [trip, condition, *_check_inputs(v_initial, region.arguments[2:]), *constants], region, limits
    )


class ScanLayout(Struct, frozen=True):
    """How a Scan cuts its inputs and joins its outputs: axes and directions, None for the defaults."""

    input_axes: Sequence[int] | None = None
    input_directions: Sequence[int] | None = None
    output_axes: Sequence[int] | None = None
    output_directions: Sequence[int] | None = None


def run_scan(inputs: Sequence[Any], num_scan_inputs: int, layout: ScanLayout, body: Body, limits: Limits) -> list[Any]:
    """ONNX Scan over initial states and scanned arrays: final states, then the scan outputs. Errors: RunError."""
    states = len(inputs) - num_scan_inputs
    if num_scan_inputs < 1 or states < 0:
        raise RunError(f"num_scan_inputs is {num_scan_inputs}, with {len(inputs)} arrays given")
    axes = _entries(layout.input_axes, num_scan_inputs, "scan_input_axes")
    backwards = _directions(layout.input_directions, num_scan_inputs, "scan_input_directions")
    op = Loop(states, tuple(map(Scanned, axes, backwards)), keep_shapes=True)

    def collect(count: int) -> tuple[Collected, ...]:
        axes = _entries(layout.output_axes, count, "scan_output_axes")
        backwards = _directions(layout.output_directions, count, "scan_output_directions")
        return tuple(map(Collected, axes, backwards))

    if callable(body):
        call = _Call("scan", body, takes_flags=False, collect=collect)
        return call.run(op, [None, None, *map(_copy, inputs)], limits)
    region, constants = _body(body, len(inputs), states)
    arrays = _check_inputs(inputs, region.arguments)
    number, go_on = Value("iteration", _NUMBER, region, 0), Value("keep_going", _FLAG, region, 1)
    region.arguments[:0] = [number, go_on]
    region.results.insert(0, go_on)
    op = replace(op, collected=collect(len(region.results) - 1 - states))
    return _run("scan", op, [None, None, *arrays, *constants], region, limits)


def run_branch(cond: Any, then_branch: Body, else_branch: Body, limits: Limits) -> list[Any]:
    """ONNX If: the outputs of the branch that the condition chooses; branches have no inputs. Errors: RunError."""
    condition = condition_of(cond)
    if condition is None or condition.size != 1:
        raise RunError("the condition is not one truth value")
    branch = then_branch if condition.reshape(()) else else_branch
    if callable(branch):
        return [_copy(value) for value in as_values(branch())]
    return Session(branch, limits, once=True).execute(None, {})


_NUMBER, _FLAG = TensorType(INT64, ()), TensorType(BOOL, ())
_NUMPY: tuple[type[object], ...] = (np.ndarray, np.generic)
_CONVERTIBLE: tuple[type[object], ...] = (int, list, *_NUMPY)


def _entries(values: Sequence[int] | None, count: int, what: str) -> Sequence[int]:
    values = (0,) * count if values is None else values
    if len(values) != count:
        raise RunError(f"{what} has {len(values)} entries, expected {count}")
    return values


def _directions(values: Sequence[int] | None, count: int, what: str) -> list[bool]:
    entries = _entries(values, count, what)
    if any(entry not in (0, 1) for entry in entries):
        raise RunError(f"{what} is {list(entries)}, expected 0 (forward) or 1 (reverse)")
    return [bool(entry) for entry in entries]


def _stack_each(count: int) -> tuple[Collected, ...]:
    return (Collected(),) * count


def _is_omitted(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value)


def trip_count(value: Any) -> np.ndarray | None:
    """The trip count as int64; integers of any width are taken. Errors: RunError."""
    if _is_omitted(value):
        return None
    if isinstance(value, _NUMPY):
        array = np.asarray(value)
        value = array.tolist() if is_integer(array.dtype) else array
    return check_tensor(value, TensorType(INT64), "the trip count")


def condition_of(value: Any) -> np.ndarray | None:
    """The condition as bool; the numbers 0 and 1 are taken. Errors: RunError."""
    if _is_omitted(value):
        return None
    if isinstance(value, _CONVERTIBLE):
        array = np.asarray(value)
        if is_integer(array.dtype) and np.isin(array, (0, 1)).all():
            value = array.astype(BOOL)
    return check_tensor(value, TensorType(BOOL), "the condition")


def _copy(value: object) -> object:
    """A copy, since the caller or the body may change theirs; lists item by item, text as objects."""
    if is_sequence(value):
        return [_copy(item) for item in value]
    if value is None:
        return None
    array = np.array(value)
    return array.astype(STRING) if array.dtype.kind in "UT" else array


# ---- a graph as body ---------------------------------------------------------------------------------------------


def _body(module: Module, inputs: int, outputs: int) -> tuple[Region, list[Any]]:
    """A copy of the graph that a body is, and the values of those of its inputs that have one: constants here."""
    region = clone_region(module.main)
    region.name = "body"
    own = [value for value in region.arguments if value.name not in module.defaults]
    fixed = [value for value in region.arguments if value.name in module.defaults]
    region.set_arguments([*own, *fixed])
    if len(own) != inputs or len(region.results) < outputs:
        raise RunError(
            f"the body takes {len(own)} inputs and gives {len(region.results)} outputs, "
            f"expected {inputs} inputs and at least {outputs} outputs"
        )
    return region, [as_value(module.defaults[value.name]) for value in fixed]


def with_captured(module: Module, captured: Mapping[str, Any]) -> Module:
    """The module with values for those of its inputs that captured values are called like. Errors: RunError."""
    types = {value.name: value.type for value in module.main.arguments if value.name in captured}
    values = {name: check_value(captured[name], type, f"captured {name!r}") for name, type in types.items()}
    return replace(module, defaults={**module.defaults, **values}) if values else module


def _widen_number(region: Region) -> None:
    """Let a body that declares its iteration number as another integer get it as int64, and convert it."""
    declared = region.arguments[0].type if region.arguments else None
    if not isinstance(declared, TensorType) or not is_integer(declared.dtype) or declared.dtype == INT64:
        return
    inner = clone_region(region)
    number = Value(inner.arguments[0].name, TensorType(INT64, declared.shape), region, 0)
    region.arguments[0], region.nodes, region.results = number, [], []
    cast = Builder(region, Inference(set())).add(Cast(to=declared.dtype), number)
    values = dict(zip(inner.arguments, [cast, *region.arguments[1:]], strict=True))
    region.nodes += [clone_node(node, values) for node in inner.nodes]
    region.results = [values[value] for value in inner.results]


def _check_flags(region: Region) -> None:
    """Refuse an iteration number that is not int64, and a condition that is not bool."""
    for value, dtype in zip(region.arguments, (INT64, BOOL), strict=False):
        try:
            check_one(value, dtype, f"input {value.name!r} of the body")
        except TypeRuleError as error:
            raise RunError(error.message, fix=error.fix) from None


def _check_inputs(values: Sequence[Any], arguments: Sequence[Value]) -> list[Any]:
    return [
        check_value(value, unshaped(argument.type), f"input {argument.name!r} of the body")
        for value, argument in zip(values, arguments, strict=False)
    ]


def _run(name: str, op: Loop, inputs: list[Any], body: Region, limits: Limits) -> list[Any]:
    """A program of one Loop, run once."""
    used = {name for value in body.arguments for name in names_in_type(value.type)}
    region, inference = Region("main"), Inference(used)
    types = [_type(value, argument.type) for value, argument in zip(inputs, body.arguments, strict=True)]
    operands = [
        None if value is None and k < 2 else region.add_argument(f"input_{k}", types[k])
        for k, value in enumerate(inputs)
    ]
    names = [value.name for value in body.results[1:]]
    try:
        region.results = Builder(region, inference).add_many(op, operands, names, [body], name)
    except TypeRuleError as error:
        raise RunError(error.message, error.where, error.fix) from None
    module = Module(region, [f"output_{k}" for k in range(len(names))])
    feeds = {f"input_{k}": value for k, value in enumerate(inputs) if operands[k] is not None}
    return Session(module, limits, once=True).execute(None, feeds)


def _type(value: object, declared: Type) -> Type:
    """The type of an operand: an array's own, since a list and None say nothing of their elements."""
    return type_of(value) if is_array(value) else unshaped(declared)


# ---- a function as body ------------------------------------------------------------------------------------------


class _Call(Struct, frozen=True):
    """A loop over a Python function: `collect` says, for a number of collected values, how each is collected."""

    name: str
    body: Callable[..., Any]
    takes_flags: bool
    collect: Callable[[int], tuple[Collected, ...]]

    def run(self, op: Loop, inputs: list[Any], limits: Limits) -> list[Any]:
        """Final states and collected values."""
        try:
            return self._run(op, inputs, limits)
        except RunError as error:
            raise error.at(f"Loop {self.name!r}") from None

    def _run(self, op: Loop, inputs: list[Any], limits: Limits) -> list[Any]:
        """How many values are collected is known after the first call."""
        iteration, budget = Iteration(op, inputs, (0, 0)), Budget(limits, lambda: False)
        while (arguments := iteration.next()) is not None:
            try:
                budget.check_iteration(iteration.index)
                results = self._results(arguments)
                if iteration.index == 0:
                    iteration.op = replace(op, collected=self.collect(len(results) - 1 - op.carried))
                    iteration.elements = [[] for _ in iteration.op.collected]
                _check(iteration.op, arguments, results)
                iteration.take(results)
            except RunError as error:
                raise self._locate(error, iteration.index) from None
            except Exception as error:
                error.add_note(f"in iteration {iteration.index} of whorl.{self.name}")
                raise
        return [*iteration.state, *(iteration.collected() if iteration.index else [])]

    def _results(self, arguments: list[Any]) -> list[Any]:
        results = [_copy(x) for x in as_values(self.body(*map(_copy, arguments[0 if self.takes_flags else 2 :])))]
        return results if self.takes_flags else [np.array(True), *results]

    def _locate(self, error: RunError, index: int) -> RunError:
        title = f"Loop {self.name!r} (iteration {index})"
        where = f"{error.where} in body of {title}" if error.where else title
        return type(error)(error.message, where, error.fix)


def _check(op: Loop, arguments: list[Any], results: list[Any]) -> None:
    """A Python body must give as many values as before, and keep the element type of each state."""
    expected = 1 + op.carried + len(op.collected)
    if len(results) != expected:
        raise RunError(f"the body gave {len(results)} values, expected {expected}", fix="return a tuple of them")
    for k in range(op.carried):
        before, after = type_of(arguments[2 + k]), type_of(results[1 + k])
        if not same_kind(before, after):
            raise RunError(f"state {k} is {before} before the body and {after} after it", fix="keep its element type")
