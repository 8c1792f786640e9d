"""A region for many rows at once: its nodes by their rules, branches that rows take differently, loops inside."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Node, Region, Value
from whorl.ops.control.flow import If, Loop
from whorl.passes.vectorize.batched import Batched, CannotVectorize, as_scalar, give_all_rows, row_count
from whorl.passes.vectorize.inner_loops import InnerLoop
from whorl.passes.vectorize.rules import batch_op
from whorl.passes.vectorize.speculation import choose, harmless


def batch_region(region: Region, arguments: Sequence[Batched], build: Builder) -> list[Batched]:
    """The results of a region for all rows of its arguments. Errors: CannotVectorize."""
    values: dict[Value, Batched] = dict(zip(region.arguments, arguments, strict=True))
    for node in region.nodes:
        batch_node(node, values, build)
    return [values[value] for value in region.results]


def batch_node(node: Node, values: dict[Value, Batched], build: Builder) -> None:
    """Add what a node computes for all rows; `values` are what its inputs are there, and then what its outputs are.

    Errors: CannotVectorize.
    """
    operands = [None if value is None else values[value] for value in node.inputs]
    if not node.op.pure:
        raise CannotVectorize(f"{node.title} is random, and would draw for all rows at once")
    if not any(x is not None and x.is_mapped for x in operands):
        inputs = [None if x is None else x.value for x in operands]
        names = [value.name for value in node.outputs]
        outputs = build.add_many(node.op, inputs, names, node.regions, node.name)
        values.update((old, Batched(new, is_mapped=False)) for old, new in zip(node.outputs, outputs, strict=True))
        return
    try:
        results = _outputs(node, operands, build)
    except CannotVectorize as reason:
        if str(reason).startswith(node.title):
            raise
        raise CannotVectorize(f"{node.title}: {reason}") from None
    operand_values = {x.value for x in operands if x is not None}
    for old, new in zip(node.outputs, results, strict=False):
        if new.value not in operand_values:
            new.value.name = old.name
        values[old] = new


def _outputs(node: Node, operands: Sequence[Batched | None], build: Builder) -> Sequence[Batched]:
    match node.op:
        case If():
            return _batch_if(node, operands, build)
        case Loop():
            return InnerLoop(node, operands, build, batch_region).outputs()
        case _:
            return batch_op(node.op, operands, build)


def _batch_if(node: Node, operands: Sequence[Batched | None], build: Builder) -> list[Batched]:
    """Rows that share a condition share the branch; else both are computed, and each row selects."""
    condition, *captured = (x for x in operands if x is not None)
    if not condition.is_mapped:
        return _batch_branches(node, condition, captured, build)
    what = f"{node.title} is taken by some rows"
    regions = [harmless(region, what, build.inference) for region in node.regions]
    then, other = (batch_region(region, captured, build) for region in regions)
    condition = as_scalar(condition, build)
    pairs = enumerate(zip(then, other, strict=True))
    return [choose(condition, a, b, f"output {k}", build) for k, (a, b) in pairs]


def _batch_branches(node: Node, condition: Batched, captured: Sequence[Batched], build: Builder) -> list[Batched]:
    """An If whose branches give all rows."""
    branches: list[Region] = []
    for region in node.regions:
        branch = Region(region.name)
        arguments = [
            Batched(branch.add_argument(x.value.name, x.value.type, x.value.known), x.is_mapped) for x in captured
        ]
        inner = Builder(branch, build.inference)
        results = batch_region(region, arguments, inner)
        rows = row_count(arguments, inner)
        branch.results = [give_all_rows(x, rows, inner) for x in results]
        branches.append(branch)
    inputs = [condition.value, *(x.value for x in captured)]
    names = [value.name for value in node.outputs]
    build.inference.visited.clear()
    return [Batched(value) for value in build.add_many(If(), inputs, names, branches, node.name)]
