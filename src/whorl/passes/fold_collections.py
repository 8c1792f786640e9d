"""Tensors out of sequences and optionals that are made of constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value, as_values
from whorl.ir.types import TensorType
from whorl.passes.context import Context
from whorl.passes.evaluate import UNRESOLVED, known_value
from whorl.passes.fold_constants import FAILURES


def fold_collections(node: Node, build: Builder, context: Context) -> Sequence[Value | None] | None:
    """What a node takes out of collections whose contents are known, as constants."""
    if node.regions or not node.op.pure or not node.outputs or not _opens(node):
        return None
    inputs = [known_value(value) for value in node.inputs]
    if any(value is UNRESOLVED for value in inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            values = as_values(node.op.run(*inputs))
    except FAILURES as error:
        context.report.skip(node.op, f"fails: {error}")
        return None
    if not all(isinstance(value, np.ndarray) for value in values) or not context.may_edit("fold_collections"):
        return None
    return [build.constant(array, value.name) for array, value in zip(values, node.outputs, strict=False)]


def _opens(node: Node) -> bool:
    """Whether a node reads collections and gives tensors."""
    reads = any(value is not None and not isinstance(value.type, TensorType) for value in node.inputs)
    return reads and all(isinstance(value.type, TensorType) for value in node.outputs)
