"""What can be unrolled: nodes may run speculatively, draws stay different, and selected values have one type."""

from __future__ import annotations

from whorl.ir.dtypes import is_integer
from whorl.ir.graph import Node, Region, Value, walk
from whorl.ir.types import TensorType
from whorl.ops.core.base import Elementwise
from whorl.ops.elementwise.arithmetic import Div, Mod
from whorl.ops.random.distributions import Random
from whorl.passes.rules.conditions import same_type
from whorl.passes.rules.pattern import constant_of


class CannotUnroll(Exception):
    """A loop or branch cannot be unrolled; the text is the reason. `iterations`: the limit that would allow it."""

    def __init__(self, reason: str, iterations: int = 0) -> None:
        super().__init__(reason)
        self.iterations = iterations


def require_speculatable(region: Region) -> None:
    """Refuse a region with a node that may fail or draws random numbers: it would run where the condition is false."""
    for node in region.nodes:
        if not node.op.pure:
            raise CannotUnroll(f"{node.title} is random, and would draw where it did not")
        if any(value is not None and not isinstance(value.type, TensorType) for value in node.inputs):
            raise CannotUnroll(f"{node.title} works on a sequence or optional")
        if _may_fail(node):
            raise CannotUnroll(f"{node.title} may fail on values that it does not see now")


def require_unseeded(region: Region) -> None:
    """Refuse a body in which a node draws from a seed: its copies would all draw what the first iteration draws."""
    for node in walk(region):
        if isinstance(node.op, Random) and node.op.seed is not None:
            raise CannotUnroll(f"{node.title} draws from a seed, and copies of it would all draw the same")


def require_same_type(old: Value, new: Value, what: str) -> None:
    """Refuse to select between values whose types are not proved equal."""
    if not same_type(old.type, new.type):
        raise CannotUnroll(f"{what} is {old.type} or {new.type}")


def _may_fail(node: Node) -> bool:
    """Whether a node may refuse its inputs: run-time integers that are indices, sizes or divisors."""
    op, values = node.op, node.inputs
    if isinstance(op, Div | Mod):
        return _is_integer(values[1]) and not _is_nonzero(values[1])
    if isinstance(op, Elementwise) or op.name == "Concat":
        return False
    return any(_is_integer(value) and constant_of(value) is None for value in values[1:] if value is not None)


def _is_integer(value: Value | None) -> bool:
    return value is not None and isinstance(value.type, TensorType) and is_integer(value.type.dtype)


def _is_nonzero(value: Value | None) -> bool:
    constant = constant_of(value)
    return constant is not None and bool((constant.run() != 0).all())
