"""Nodes that give both numbers and strings become some for either: classifiers whose labels are text.

Strings have no native code; what computes the numbers beside them then has.
"""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.build import Builder
from whorl.ir.dtypes import STRING
from whorl.ir.graph import Module, Node, Op, Value
from whorl.ir.rewrite import rewrite
from whorl.ir.types import TensorType
from whorl.passes.context import Context


def separate_strings(module: Module, context: Context) -> None:
    """Separate them in every region."""
    if not mixes_strings(module):
        return

    def visit(node: Node, build: Builder) -> Sequence[Value] | None:
        if not _gives_strings(node) or not context.may_edit("separate_strings"):
            return None
        count = len(build.region.nodes)
        values = node.op.separate_strings(node.inputs, build)
        if values is None:
            return None
        for new in build.region.nodes[count:]:
            new.name = new.name or node.name
        for old, value in zip(node.outputs, values, strict=True):
            value.name = old.name
        return values

    rewrite(module.main, context.inference, visit)


def mixes_strings(module: Module) -> bool:
    """Whether there are such nodes."""
    return any(map(_gives_strings, module.nodes()))


def _gives_strings(node: Node) -> bool:
    """Whether the op of a node may have this, and a result is a tensor of strings."""
    if type(node.op).separate_strings is Op.separate_strings:
        return False
    return any(isinstance(value.type, TensorType) and value.type.dtype == STRING for value in node.outputs)
