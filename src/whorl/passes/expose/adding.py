"""What edits add to regions: nodes that are typed once all is there, and values captured from further out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir.build import UNTYPED
from whorl.ir.constants import Constant
from whorl.ir.graph import Module, Node, Op, Region, Value
from whorl.ir.infer import Inference, names_of
from whorl.ops.control.flow import Loop
from whorl.ops.elementwise.arithmetic import Identity
from whorl.ops.movement.shapes import Reshape
from whorl.passes.expose.scopes import Scope

HINT = "exposed"
"""The name of values that are added."""


def add(region: Region, op: Op, *inputs: Value | None, regions: Sequence[Region] = (), outputs: int = 1) -> Value:
    """Append a node that is typed later, and return its first output."""
    node = Node(op, inputs, regions)
    node.outputs = [Value(HINT, UNTYPED, node, k) for k in range(outputs)]
    region.nodes.append(node)
    return node.outputs[0]


def constant(region: Region, value: np.ndarray) -> Value:
    """A constant; it comes first, since nodes that are there already may read it."""
    result = add(region, Constant(value))
    region.nodes.insert(0, region.nodes.pop())
    return result


def flat(region: Region, value: Value) -> Value:
    """The elements in one dimension."""
    return add(region, Reshape(), value, constant(region, np.array([-1], np.int64)))


def add_output(module: Module, value: Value) -> str:
    """Make a value of the main region an output, and return its name; it may be an input or another output already."""
    number = len(module.output_names)
    while (name := f"{HINT}_{number}") in module.output_names:
        number += 1
    module.main.results.append(add(module.main, Identity(), value))
    module.output_names.append(name)
    return name


def complete_outputs(node: Node) -> None:
    """Give a node the outputs that it may leave out at the end, so that others can follow."""
    first = len(node.outputs)
    match node.op:
        case Loop(carried=carried, last=last, collected=collected):
            count = carried + last + len(collected)
        case _:
            count = len(node.regions[0].results)
    node.outputs += [Value(HINT, UNTYPED, node, k) for k in range(first, count)]


def retype(module: Module) -> None:
    """Infer all types of an edited module anew."""
    inference = Inference(names_of(module.main.arguments))
    inference.depth = 1
    inference.region(module.main)


class Captures:
    """The arguments through which regions get values from further out."""

    def __init__(self) -> None:
        self._arguments: dict[tuple[Region, Value], Value] = {}

    def bring(self, scope: Scope, value: Value, home: Scope) -> Value:
        """A value of `home`, which is this scope or one around it, as a value of the scope."""
        if scope is home:
            return value
        assert scope.around is not None and scope.node is not None
        return self.capture(scope.region, scope.node, self.bring(scope.around, value, home))

    def capture(self, region: Region, node: Node, value: Value) -> Value:
        """The argument of a region of a node that a value of the region around is."""
        if (region, value) not in self._arguments:
            node.inputs.append(value)
            for each in node.regions:
                self._arguments[each, value] = each.add_argument(value.name, value.type)
        return self._arguments[region, value]
