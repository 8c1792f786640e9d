"""Why a loop or branch stays, and whether nodes may run where they did not run before."""

from __future__ import annotations

from whorl.ir.dtypes import is_integer
from whorl.ir.graph import Node, Region, Value, walk
from whorl.ir.types import TensorType
from whorl.ops.core.base import Elementwise
from whorl.ops.elementwise.arithmetic import Div, Mod
from whorl.ops.random.distributions import Random
from whorl.passes.rules.conditions import same_type
from whorl.passes.rules.pattern import constant_of


class Kept(Exception):
    """A loop or branch that stays; the text is the reason. `iterations`: as many would have to be allowed."""

    def __init__(self, reason: str, iterations: int = 0) -> None:
        super().__init__(reason)
        self.iterations = iterations


def require_harmless(region: Region) -> None:
    """Refuse a region of which a node could fail, or draws random numbers: it would run where nobody asked for it."""
    for node in region.nodes:
        if not node.op.pure:
            raise Kept(f"{node.title} is random, and would draw where it did not")
        if any(value is not None and not isinstance(value.type, TensorType) for value in node.inputs):
            raise Kept(f"{node.title} works on a sequence or optional")
        if _may_fail(node):
            raise Kept(f"{node.title} may fail on values that it does not see now")


def require_own_draws(region: Region) -> None:
    """Refuse a body of which a node draws from a seed: its copies would all draw what the first iteration draws."""
    for node in walk(region):
        if isinstance(node.op, Random) and node.op.seed is not None:
            raise Kept(f"{node.title} draws from a seed, and copies of it would all draw the same")


def _may_fail(node: Node) -> bool:
    """Whether a node may refuse what it is given: integers that are places, sizes or divisors."""
    op, values = node.op, node.inputs
    if isinstance(op, Div | Mod):
        return _is_integer(values[1]) and not _is_nonzero(values[1])
    if isinstance(op, Elementwise):
        return False
    if op.name == "Concat":
        return False
    return any(_is_integer(value) and constant_of(value) is None for value in values[1:] if value is not None)


def _is_integer(value: Value | None) -> bool:
    return value is not None and isinstance(value.type, TensorType) and is_integer(value.type.dtype)


def _is_nonzero(value: Value | None) -> bool:
    constant = constant_of(value) if value is not None else None
    return constant is not None and bool((constant.run() != 0).all())


def require_same(old: Value, new: Value, what: str) -> None:
    """Refuse to select between values of which the types are not surely the same."""
    if not same_type(old.type, new.type):
        raise Kept(f"{what} is {old.type} or {new.type}")
