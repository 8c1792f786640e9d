"""Loops that end after so many iterations at the latest, also where they would go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Module, Node, Value
from whorl.ir.rewrite import rewrite
from whorl.ops.control.flow import Loop
from whorl.ops.elementwise.arithmetic import Min
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.shapes import Reshape
from whorl.passes.context import Context
from whorl.passes.locations import names_of


def bound_loops(module: Module, context: Context, bounds: Mapping[str, int]) -> None:
    """Give the loops of these names, of their nodes or of an output, trip counts of so many iterations or fewer."""

    def visit(node: Node, build: Builder) -> Sequence[Value] | None:
        chosen = [bounds[name] for name in names_of(node) if name in bounds]
        if not isinstance(node.op, Loop) or not chosen or not context.may_edit("bound_loops"):
            return None
        trip = build.constant(np.array(min(chosen), INT64), "most")
        if node.inputs[0] is not None:
            own = build.add(
                Cast(INT64), build.add(Reshape(), node.inputs[0], build.int64(), name="trips"), name="trips"
            )
            trip = build.add(Min(), own, trip, name="trips")
        build.inference.visited.clear()
        names = [value.name for value in node.outputs]
        return build.add_many(node.op, [trip, *node.inputs[1:]], names, node.regions, node.name)

    rewrite(module.main, context.inference, visit)
