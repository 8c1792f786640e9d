"""Common subexpressions: equal constants become one, and so do nodes that apply equal pure ops to the same values.

Equal means the same bits: `==` takes 0.0 for -0.0, and NaN for another one. Regions are merged one by one, since a
value of another region would be one more capture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from whorl.ir.build import Builder
from whorl.ir.constants import Constant, as_array, same_elements, sample_of
from whorl.ir.dtypes import STRING
from whorl.ir.elements.mapped import SMALL
from whorl.ir.graph import Module, Node, Op, Region, Value
from whorl.ir.guards import is_array
from whorl.ir.rewrite import rewrite
from whorl.passes.context import Context


def cse(module: Module, context: Context) -> None:
    """Merge within each region; what two regions both hold stays in both."""
    tables: dict[Region, dict[Any, list[_Candidate]]] = {}

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        key = _key(node)
        if key is None:
            return None
        candidates = tables.setdefault(build.region, {}).setdefault(key, [])
        candidate = _Candidate(node)
        for earlier in candidates:
            if earlier.is_equal(candidate) and context.may_edit("cse"):
                return earlier.node.outputs
        candidates.append(candidate)
        return None

    rewrite(module.main, context.inference, visit)


def _key(node: Node) -> Any:
    """What equal nodes have in common; None for a node that is never merged."""
    op = node.op
    if isinstance(op, Constant):
        value = op.value
        shape = tuple(value.shape)
        is_small = math.prod(shape) <= SMALL and value.dtype != STRING
        return value.dtype, shape, as_array(value).tobytes() if is_small else None
    if not op.pure or node.regions:
        return None
    return (type(op), *node.inputs)


def has_same_attributes(a: Op, b: Op) -> bool:
    """Whether two ops of one class have the same fields, bit by bit."""
    return all(_is_same(getattr(a, name), getattr(b, name)) for name in a.__struct_fields__)


def _is_same(a: Any, b: Any) -> bool:
    """The text of a number tells 0.0 from -0.0, which `==` does not; that of a tensor is rounded and shortened."""
    if is_array(a) and is_array(b):
        return same_elements(a, b)
    return type(a) is type(b) and repr(a) == repr(b)


class _Candidate:
    """A node that later ones may be equal to."""

    __slots__ = ("_sample", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self._sample: Any = None

    def is_equal(self, other: _Candidate) -> bool:
        """Whether both give the same."""
        a, b = self.node.op, other.node.op
        if isinstance(a, Constant) and isinstance(b, Constant):
            return self.sample() == other.sample() and same_elements(a.value, b.value)
        return len(self.node.outputs) == len(other.node.outputs) and has_same_attributes(a, b)

    def sample(self) -> Any:
        """A few elements of a constant, read once."""
        if self._sample is None and isinstance(self.node.op, Constant):
            self._sample = sample_of(self.node.op.value)
        return self._sample
