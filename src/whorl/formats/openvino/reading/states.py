"""The variables of a net as state of the module: an input, an output, and what computes the first value."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.document import Net
from whorl.formats.openvino.reading.context import ReadContext
from whorl.formats.openvino.reading.net import Reading
from whorl.formats.openvino.reading.variables import Variable, nested_variables
from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.graph import Module, Node, Region, State, Value
from whorl.ir.types import AnyShape, TensorType, same_kind

LARGEST_DEFAULT = 1 << 28
"""Elements of a state up to which its zeros become the input's default."""


def add_states(net: Net, build: Builder, context: ReadContext) -> dict[Value, Variable]:
    """The variables that a net and its bodies use, by the arguments of the region that they become."""
    variables: dict[Value, Variable] = {}
    taken = {value.name for value in build.region.arguments}
    for variable in nested_variables(net, context):
        name = variable.id if variable.id not in taken else f"{variable.id}.state"
        if name in taken:
            raise problem(
                "OV605", f"inputs have the name of the variable {variable.id!r}", context.location(variable.read)
            )
        taken.add(name)
        argument = build.region.add_argument(name, variable.type)
        build.inference.set_type(argument, variable.type)
        context.variables[variable.id] = argument
        variables[argument] = variable
    return variables


def finish_states(
    module: Module, variables: dict[Value, Variable], inputs: dict[int, Value], build: Builder, context: ReadContext
) -> None:
    """Make what the variables are after a run results of the module, and find what they are at first."""
    for argument, variable in variables.items():
        after = context.variables[variable.id]
        if not same_kind(after.type, argument.type):
            message = f"the variable {variable.id!r} is {argument.type}, and {after.type} is assigned to it"
            raise problem("OV606", message, context.location(variable.write))
        name = _free(f"{variable.id}.next", [*module.output_names, *(value.name for value in module.main.arguments)])
        module.output_names.append(name)
        module.main.results.append(after)
        initial = _initial(variable, inputs, build, context)
        module.states.append(State(variable.id, argument.name, name, initial, variable.flag))
        default = _default(argument, initial)
        if default is not None:
            module.defaults[argument.name] = default


def _free(name: str, taken: Collection[str]) -> str:
    count = 1
    candidate = name
    while candidate in taken:
        candidate, count = f"{name}.{count}", count + 1
    return candidate


def _initial(variable: Variable, inputs: dict[int, Value], build: Builder, context: ReadContext) -> Region | None:
    """What computes the first value of a variable: the part of its net that leads to its ReadValue, as a region."""
    if variable.flag or variable.is_flag or not variable.read.inputs:
        return None
    region = Region(f"initial {variable.id}")
    arguments = {id: region.add_argument(value.name, value.type, value.known) for id, value in inputs.items()}
    own = context if not variable.regions else context.around(variable.regions)
    reading = Reading(variable.net, {} if variable.regions else arguments, Builder(region, build.inference), own.bare())
    (origin, *_) = reading.wiring.inputs_of(variable.read)
    try:
        reading.read([reading.wiring.layers[origin[0]]])
    except LoadError as error:
        if error.message.startswith(("OV303", "OV604")):
            message = f"the initial value of the variable {variable.id!r} depends on other variables, or on a body"
            raise problem("OV604", message, own.location(variable.read), "compute it outside") from None
        raise
    value = reading.values[origin]
    if not same_kind(value.type, variable.type):
        message = f"the variable {variable.id!r} is {variable.type}, its initial value {value.type}"
        raise problem("OV606", message, own.location(variable.read))
    region.results = [value]
    return region


def _default(argument: Value, initial: Region | None) -> np.ndarray | None:
    """The first value where it does not depend on the inputs."""
    type = argument.type
    if initial is not None:
        (value,) = initial.results
        constant = value.owner.op if isinstance(value.owner, Node) else None
        return constant.run() if isinstance(constant, Constant) else None
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return None
    shape = [dim if isinstance(dim, int) else 0 for dim in type.shape]
    return np.zeros(shape, type.dtype) if math.prod(shape) <= LARGEST_DEFAULT else None
