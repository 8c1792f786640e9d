"""One step as a loop over many: what it carries goes from one iteration to the next, slices come from longer inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.errors import StepError
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Module, Region, State, Value
from whorl.ir.infer import Inference
from whorl.ir.types import AnyShape, TensorType, Type, contradict
from whorl.ir.walk import clone_node
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.ops.core.base import normal_axis
from whorl.ops.movement.indexing import Gather
from whorl.passes.inline import inline
from whorl.passes.vectorize.modules import names_of_dims


class Repetition(Struct, frozen=True):
    """How a step is repeated.

    `carry`: the output that each carried input is in the next iteration; `scan` and `collect`: the axis of the
    iterations in inputs and outputs; `steps`: the name of their number.
    """

    carry: Mapping[str, str]
    scan: Mapping[str, int]
    collect: Mapping[str, int]
    steps: str = "steps"


def repeat_step(module: Module, how: Repetition) -> Module:
    """The module that repeats a step. Its outputs are those that are carried, as the last iteration leaves them, and
    the collected ones, in the order of the step's.

    Without scanned inputs it has an input more, the number of iterations. States of the module have to be carried; one
    whose first value is computed is no input. Errors: StepError.
    """
    region = Region(module.main.name)
    inference = Inference(names_of_dims(module) | {how.steps})
    inference.depth = 1
    build = Builder(region, inference)
    operands = _add_operands(module, how, build)
    trip = None if how.scan else region.add_argument(how.steps, TensorType(INT64, ()))
    body, op = _body(module, how)
    arguments = {value.name: value for value in module.main.arguments}
    captured = [name for name in arguments if name not in how.carry and name not in how.scan]
    inputs = [trip, None, *(operands[name] for name in (*how.carry, *how.scan, *captured))]
    names = [*how.carry.values(), *how.collect]
    values = build.add_many(op, inputs, names, [body])
    finals = dict(zip(how.carry.values(), values, strict=False))
    collections = dict(zip(how.collect, values[op.carried :], strict=True))
    outputs = _outputs(module, finals, collections)
    region.results = list(outputs.values())
    return replace(
        module,
        main=region,
        output_names=list(outputs),
        defaults={name: value for name, value in module.defaults.items() if name not in how.scan},
        declared=_declared(module, how),
        states=[],
    )


def _add_operands(module: Module, how: Repetition, build: Builder) -> dict[str, Value]:
    """The inputs of the loop's model, by the names of the step's; and what computes the first values of states."""
    states = {state.input: state for state in module.states if state.initial is not None}
    computed = states.keys() - module.defaults.keys()
    operands: dict[str, Value] = {}
    for value in module.main.arguments:
        if value.name not in computed:
            type = with_axis(value.type, how.scan.get(value.name), dims.name(how.steps), f"input {value.name!r}")
            operands[value.name] = build.region.add_argument(value.name, type, value.known)
    for name in (value.name for value in module.main.arguments if value.name in computed):
        operands[name] = _first_value(states[name], operands, how, build)
    return operands


def _first_value(state: State, operands: Mapping[str, Value], how: Repetition, build: Builder) -> Value:
    """The first value of a state, computed from the inputs as the first iteration sees them."""
    assert state.initial is not None
    used = state.initial.used_values()
    arguments: list[Value] = []
    for value in state.initial.arguments:
        if value not in used:
            arguments.append(value)
        elif value.name in how.scan:
            first = build.constant(np.array(0, np.int64), "first")
            arguments.append(build.add(Gather(how.scan[value.name]), operands[value.name], first, name=value.name))
        else:
            arguments.append(operands[value.name])
    (value,) = inline(state.initial, arguments, build)
    return value


def _body(module: Module, how: Repetition) -> tuple[Region, Loop]:
    """The step as a body, and the loop around it."""
    body, arguments = Region("body"), {value.name: value for value in module.main.arguments}
    body.add_argument("iteration", TensorType(INT64, ()))
    go_on = body.add_argument("go_on", TensorType(BOOL, ()))
    values: dict[Value, Value] = {}
    captured = [name for name in arguments if name not in how.carry and name not in how.scan]
    for name in (*how.carry, *how.scan, *captured):
        value = arguments[name]
        values[value] = body.add_argument(name, value.type, value.known)
    body.nodes = [clone_node(node, values) for node in module.main.nodes]
    results = {name: values[v] for name, v in zip(module.output_names, module.main.results, strict=True)}
    body.results = [go_on, *(results[name] for name in (*how.carry.values(), *how.collect))]
    types = module.output_types()
    pairs = [(arguments[a].type, types[b]) for a, b in how.carry.items()]
    collected = (Collected(axis, declared=_element(module, name)) for name, axis in how.collect.items())
    keep = all(_keeps_shape(*pair) for pair in pairs)
    return body, Loop(len(pairs), tuple(map(Scanned, how.scan.values())), tuple(collected), keep_shapes=keep)


def _keeps_shape(before: Type, after: Type) -> bool:
    """Whether a step can only be repeated where it gives a carried value the shape that it had."""
    if not isinstance(before, TensorType) or not isinstance(after, TensorType):
        return False
    if isinstance(before.shape, AnyShape) or isinstance(after.shape, AnyShape) or len(before.shape) != len(after.shape):
        return False
    pairs = zip(before.shape, after.shape, strict=True)
    return all(isinstance(old, int) or dims.equal(old, new) for old, new in pairs)


def require_same_kind(module: Module, input: str, output: str) -> None:
    """Refuse to carry an output that the input never takes. Errors: StepError."""
    arguments = {value.name: value for value in module.main.arguments}
    result = module.main.results[module.output_names.index(output)]
    before, after = arguments[input].type, result.type
    if contradict(_as_fed(before), _as_fed(after)):
        raise StepError(
            f"input {input!r} is {before}, and output {output!r}, which it would be next, is {after}",
            fix="carry an output of the input's type",
        )


def _as_fed(type: Type) -> Type:
    """The type with every length that is no number forgotten: an input takes any there."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return type
    return type.with_shape(tuple(dim if isinstance(dim, int) else dims.UNKNOWN for dim in type.shape))


def with_axis(type: Type, axis: int | None, length: Dim, what: str) -> Type:
    """The type with the axis of the iterations, where there is one. Errors: StepError."""
    if axis is None:
        return type
    if not isinstance(type, TensorType):
        raise StepError(f"{what} is {type}, and only tensors have an axis of iterations")
    if isinstance(type.shape, AnyShape):
        return type
    rank = len(type.shape) + 1
    if not -rank <= axis < rank:
        raise StepError(f"{what} cannot have iterations along axis {axis}", fix=f"choose from {-rank} to {rank - 1}")
    shape = list(type.shape)
    shape.insert(normal_axis(axis, rank), length)
    return type.with_shape(tuple(shape))


def _outputs(module: Module, finals: dict[str, Value], collections: dict[str, Value]) -> dict[str, Value]:
    """The outputs by name; one that is carried and collected gives both, the latter under a name of its own."""
    outputs: dict[str, Value] = {}
    for name in module.output_names:
        if name in finals:
            outputs[name] = finals[name]
        elif name in collections:
            outputs[name] = collections[name]
    for name in (name for name in collections if name in finals):
        outputs[free_name(f"{name}.steps", outputs)] = collections[name]
    return outputs


def free_name(name: str, taken: Mapping[str, Any] | set[str]) -> str:
    """The name, with a number where it is taken."""
    count, candidate = 1, name
    while candidate in taken:
        candidate, count = f"{name}.{count}", count + 1
    return candidate


def _element(module: Module, name: str) -> TensorType | None:
    declared = module.declared.get(name)
    return declared if isinstance(declared, TensorType) else None


def _declared(module: Module, how: Repetition) -> dict[str, Type]:
    """What the file says of outputs: of collected ones with the axis, of carried ones where it holds from the first."""
    types = {value.name: value.type for value in module.main.arguments}
    length = dims.name(how.steps) if how.scan else dims.UNKNOWN
    declared = {b: module.declared[b] for a, b in how.carry.items() if module.declared.get(b) == types[a]}
    for name, axis in how.collect.items():
        if name in module.declared and name not in how.carry.values():
            declared[name] = with_axis(module.declared[name], axis, length, f"output {name!r}")
    return declared
