"""What may be computed for rows that would not run it, and choices between what they have and what they get."""

from __future__ import annotations

from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Region, walk
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.control.flow import Loop
from whorl.ops.elementwise.comparison import Where
from whorl.passes.totality import Totality
from whorl.passes.unroll.clamping import speculatable
from whorl.passes.unroll.legality import CannotUnroll, loop_may_fail, require_speculatable
from whorl.passes.vectorize.batched import Batched, CannotVectorize, align, lengths_of


def harmless(region: Region, what: str, inference: Inference) -> Region:
    """A copy of a region for rows that would not run it. Errors: CannotVectorize where it may fail, draw or not end."""
    try:
        copy = speculatable(region, inference)
    except CannotUnroll as reason:
        raise CannotVectorize(f"{what}: {reason}") from None
    for node in walk(region):
        if isinstance(node.op, Loop) and node.inputs[0] is None and not node.op.scanned:
            raise CannotVectorize(f"{what}: {node.title} may not end on values that it does not see now")
    return copy


def require_total(node: Node, what: str) -> None:
    """Refuse a node that may fail, or inside of which one may."""
    for inner in (node, *(each for region in node.regions for each in walk(region))):
        values = [value for value in (*inner.inputs, *inner.outputs) if value is not None]
        if loop_may_fail(inner):
            raise CannotVectorize(f"{what}, and {inner.title} may fail then")
        if inner.regions or Totality().is_total(inner):
            continue
        if not all(isinstance(value.type, TensorType) for value in values):
            raise CannotVectorize(f"{what}, and {inner.title} may fail then")
        alone = Region()
        alone.nodes = [inner]
        try:
            require_speculatable(alone)
        except CannotUnroll as reason:
            raise CannotVectorize(f"{what}: {reason}") from None


def choose(condition: Batched, a: Batched, b: Batched, what: str, build: Builder) -> Batched:
    """One of two values for each row, which have one shape. Errors: CannotVectorize where that is not proved."""
    if a == b:
        return a
    own, other = (lengths_of(x.value)[x.is_mapped :] for x in (a, b))
    if len(own) != len(other) or not all(map(dims.equal, own, other)):
        raise CannotVectorize(f"{what} has the shape {list(own)} or {list(other)}")
    parts = (align(x, len(own), build) for x in (condition, a, b))
    return Batched(build.add(Where(), *parts, name=b.value.name))
