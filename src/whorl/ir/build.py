"""Building regions node by node, every value typed as soon as it exists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.ir.constants import Constant
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType

UNTYPED = TensorType(np.dtype(np.float32))


class Builder:
    """Adds nodes to one region. All builders of a module share one `Inference`, so dim names stay unique."""

    def __init__(self, region: Region, inference: Inference) -> None:
        self.region, self.inference = region, inference

    def add(self, op: Op, *inputs: Value | None, name: str = "") -> Value:
        """Append a node and return its first output."""
        return self.add_many(op, inputs, [name or op.name], name=name)[0]

    def add_many(
        self,
        op: Op,
        inputs: Sequence[Value | None],
        outputs: Sequence[str],
        regions: Sequence[Region] = (),
        name: str = "",
    ) -> list[Value]:
        """Append a node with named outputs and return them all, typed by inference."""
        node = Node(op, inputs, regions, name)
        node.outputs = [Value(text, UNTYPED, node, index) for index, text in enumerate(outputs)]
        self.inference.node(node)
        self.region.nodes.append(node)
        return list(node.outputs)

    def constant(self, value: Any, name: str = "const") -> Value:
        """Append a constant: anything with dtype and shape that is an array or has `numpy()`."""
        return self.add(Constant(value), name=name)

    def int64(self, *elements: int, name: str = "const") -> Value:
        """Append a rank-1 int64 constant."""
        return self.constant(np.array(elements, np.int64), name)
