"""Selections between truth values as logic: onnxruntime has no Where of them."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL
from whorl.ir.graph import Module, Node, Value
from whorl.ir.rewrite import rewrite
from whorl.ops.elementwise.comparison import Where
from whorl.ops.elementwise.logic import And, Not, Or
from whorl.passes.context import Context
from whorl.passes.rules.pattern import tensor_type


def select_by_logic(module: Module, context: Context) -> None:
    """Replace each Where of truth values: one side where the condition holds, or the other where it does not."""

    def visit(node: Node, build: Builder) -> Sequence[Value] | None:
        if not isinstance(node.op, Where) or tensor_type(node.outputs[0]).dtype != BOOL:
            return None
        if not context.may_edit("select_by_logic"):
            return None
        condition, then, other = (value for value in node.inputs if value is not None)
        chosen = build.add(And(), condition, then, name=then.name)
        rest = build.add(And(), build.add(Not(), condition, name=condition.name), other, name=other.name)
        return [build.add(Or(), chosen, rest, name=node.outputs[0].name)]

    rewrite(module.main, context.inference, visit)
